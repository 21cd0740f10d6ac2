{#- Drop columns, after the rows are written, so that a failed write does not lose values. -#}
{% macro paimon__drop_columns(target, names) %}
  {%- if names -%}
    {%- call statement('drop_columns') -%}
      alter table {{ target.render() }} drop columns (
        {{- paimon__quoted(names) | join(', ') -}}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}
