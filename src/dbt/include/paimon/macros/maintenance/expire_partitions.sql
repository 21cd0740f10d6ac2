{#- Drop old partitions. -#}
{% macro expire_partitions(relation, expiration_time, timestamp_formatter=none, timestamp_pattern=none) -%}
  {%- do return(paimon__call_procedure('expire_partitions', relation, {
    'expiration_time': expiration_time,
    'timestamp_formatter': timestamp_formatter,
    'timestamp_pattern': timestamp_pattern
  })) -%}
{%- endmacro %}
