{#- Drop columns of a table, by name; runs after the rows are written, so that a failed write loses no values. -#}
{% macro paimon__drop_columns(target, names) %}
  {%- if names -%}
    {%- call statement('drop_columns') -%}
      alter table {{ target.render() }} drop columns (
        {%- for name in names %}{{ adapter.quote(name) }}{{ ', ' if not loop.last }}{% endfor -%}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}
