{#- The tag of the model's config, on what it has just written. -#}
{% macro paimon__tag_run(target, spec) %}
  {%- for sql in adapter.run_tag_statements(target, spec) -%}
    {%- call statement('tag_run') -%}{{ sql }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}
