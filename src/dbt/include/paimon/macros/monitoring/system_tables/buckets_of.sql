{#- The buckets of each partition: rows, bytes, files (Paimon 1.0 and later). -#}
{% macro buckets_of(relation) -%}
  {{- adapter.health.system_table(relation, 'buckets') -}}
{%- endmacro %}
