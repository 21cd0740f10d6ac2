{#-
  A system table of Paimon, to select from: `select * from {{ system_table(ref('orders'), 'files') }}`.

  relation: ref(), source() or this; name: without the $. Refuses names that are unknown to this Paimon version.
-#}
{% macro system_table(relation, name) -%}
  {{- adapter.health.system_table(relation, name) -}}
{%- endmacro %}
