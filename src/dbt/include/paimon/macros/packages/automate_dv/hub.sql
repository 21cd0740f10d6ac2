{#-
  For automate_dv: the SQL of a hub without QUALIFY, which Databricks has and Spark has not. The package has it as
  `sqlserver__hub`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__hub() -%}
  {{- return(automate_dv.sqlserver__hub(*varargs, **kwargs)) -}}
{%- endmacro %}
