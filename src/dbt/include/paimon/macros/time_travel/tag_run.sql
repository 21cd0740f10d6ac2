{#- Tags what a model has just written, if its config has a run tag. -#}
{% macro paimon__tag_run(target, spec) %}
  {%- for sql in adapter.history.run_tag_statements(target, spec) -%}
    {%- call statement('tag_run') -%}{{ sql }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}
