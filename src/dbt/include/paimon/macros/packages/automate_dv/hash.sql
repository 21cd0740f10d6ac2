{#-
  Two macros ask for `hash`: dbt's own with one field, whose answer stays dbt's, and automate_dv's with `columns`, which the
  package has as `databricks__hash`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__hash(field=none) -%}
  {%- if 'columns' in kwargs -%}
    {{- return(automate_dv.databricks__hash(**kwargs)) -}}
  {%- endif -%}
  {{- return(dbt.default__hash(field)) -}}
{%- endmacro %}
