{#-
  For automate_dv: the SQL of a non-historized link. The package has it as `databricks__nh_link`. Found by the search order
  of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__nh_link() -%}
  {{- return(automate_dv.databricks__nh_link(*varargs, **kwargs)) -}}
{%- endmacro %}
