{#-
  For automate_dv: one INSERT OVERWRITE: Spark takes no two statements at once, and Paimon writes one snapshot. The package has it as `databricks__incremental_bridge_replace`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__incremental_bridge_replace() -%}
  {{- return(automate_dv.databricks__incremental_bridge_replace(*varargs, **kwargs)) -}}
{%- endmacro %}
