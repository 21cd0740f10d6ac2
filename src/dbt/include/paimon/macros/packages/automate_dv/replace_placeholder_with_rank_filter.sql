{#-
  For automate_dv: Spark 3.5 has no `::`. The package has it as `bigquery__replace_placeholder_with_rank_filter`. Found by
  the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__replace_placeholder_with_rank_filter() -%}
  {{- return(automate_dv.bigquery__replace_placeholder_with_rank_filter(*varargs, **kwargs)) -}}
{%- endmacro %}
