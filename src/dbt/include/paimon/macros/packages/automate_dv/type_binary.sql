{#-
  For automate_dv: the type of hashes: a string, or binary with the var `enable_native_hashes`. The package has it as
  `databricks__type_binary`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__type_binary() -%}
  {{- return(automate_dv.databricks__type_binary(*varargs, **kwargs)) -}}
{%- endmacro %}
