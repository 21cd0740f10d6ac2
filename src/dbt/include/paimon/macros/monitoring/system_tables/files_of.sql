{#- The data files of the newest table snapshot: partition, bucket, level, format, rows, bytes. -#}
{% macro files_of(relation) -%}
  {{- adapter.health.system_table(relation, 'files') -}}
{%- endmacro %}
