{#-
  For automate_dv: the period of `vault_insert_by_period`, in Spark's functions of dates. The package has it as
  `databricks__get_period_of_load`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__get_period_of_load() -%}
  {{- return(automate_dv.databricks__get_period_of_load(*varargs, **kwargs)) -}}
{%- endmacro %}
