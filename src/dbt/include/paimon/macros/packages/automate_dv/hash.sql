{#-
  Two macros ask for `hash`: dbt's own with one field, whose answer stays dbt's, and automate_dv's with `columns`, which the
  package has as `databricks__hash`. The second is used if the project's dispatch config lists `dbt` before `automate_dv`
  (docs/packages.md).
-#}
{% macro paimon__hash(field=none) -%}
  {%- if 'columns' in kwargs -%}
    {{- return(automate_dv.databricks__hash(**kwargs)) -}}
  {%- endif -%}
  {{- return(dbt.default__hash(field)) -}}
{%- endmacro %}
