{#-
  For automate_dv: what the log says of the sources of a table. The package has it as `databricks__log_relation_sources`.
  Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__log_relation_sources() -%}
  {{- return(automate_dv.databricks__log_relation_sources(*varargs, **kwargs)) -}}
{%- endmacro %}
