{#-
  For automate_dv: the SQL of a satellite without QUALIFY, which Databricks has and Spark has not. The package has it as
  `postgres__sat`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__sat() -%}
  {{- return(automate_dv.postgres__sat(*varargs, **kwargs)) -}}
{%- endmacro %}
