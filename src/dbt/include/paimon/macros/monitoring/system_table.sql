{#-
  A system table of Paimon, to select from: `select * from {{ system_table(ref('orders'), 'files') }}`.

  relation: of ref(), source() or this; name: without the $. An unknown one is refused, and one that this Paimon lacks.
-#}
{% macro system_table(relation, name) -%}
  {{- adapter.system_table(relation, name) -}}
{%- endmacro %}
