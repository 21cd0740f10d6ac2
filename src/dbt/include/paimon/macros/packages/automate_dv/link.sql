{#-
  For automate_dv: the SQL of a link without QUALIFY, which Databricks has and Spark has not. The package has it as
  `postgres__link`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__link() -%}
  {{- return(automate_dv.postgres__link(*varargs, **kwargs)) -}}
{%- endmacro %}
