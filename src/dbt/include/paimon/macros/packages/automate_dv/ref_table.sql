{#-
  For automate_dv: the SQL of a reference table. The package has it as `databricks__ref_table`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__ref_table() -%}
  {{- return(automate_dv.databricks__ref_table(*varargs, **kwargs)) -}}
{%- endmacro %}
