{#- Runs steps of a plan that alter a table, or a branch of it; logs what each one alters. -#}
{% macro paimon__run_steps(target, steps) %}
  {%- for step in steps -%}
    {%- for words in step.alters -%}
      {%- do log(target ~ ' is altered: ' ~ words, info=true) -%}
    {%- endfor -%}
    {%- do context[step.macro](target, **step.arguments) -%}
  {%- endfor -%}
{% endmacro %}
