{#-
  For automate_dv: Spark has no MD5_BINARY. The package has it as `databricks__hash_alg_md5`. Found by the search order of
  `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__hash_alg_md5() -%}
  {{- return(automate_dv.databricks__hash_alg_md5(*varargs, **kwargs)) -}}
{%- endmacro %}
