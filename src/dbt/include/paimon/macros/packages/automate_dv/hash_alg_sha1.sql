{#-
  For automate_dv: Spark has no SHA1_BINARY. The package has it as `databricks__hash_alg_sha1`. Found by the search order of
  `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__hash_alg_sha1() -%}
  {{- return(automate_dv.databricks__hash_alg_sha1(*varargs, **kwargs)) -}}
{%- endmacro %}
