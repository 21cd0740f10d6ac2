{#- Expire old table snapshots. -#}
{% macro expire_snapshots(relation, retain_max=none, retain_min=none, older_than=none, max_deletes=none) -%}
  {%- do return(paimon__call_procedure('expire_snapshots', relation, {
    'retain_max': retain_max,
    'retain_min': retain_min,
    'older_than': older_than,
    'max_deletes': max_deletes
  })) -%}
{%- endmacro %}

{#- Drop old partitions. -#}
{% macro expire_partitions(
  relation, expiration_time, timestamp_formatter=none, timestamp_pattern=none, expire_strategy=none
) -%}
  {%- do return(paimon__call_procedure('expire_partitions', relation, {
    'expiration_time': expiration_time,
    'timestamp_formatter': timestamp_formatter,
    'timestamp_pattern': timestamp_pattern,
    'expire_strategy': expire_strategy
  })) -%}
{%- endmacro %}

{#- Delete orphan files; by default, only count them. -#}
{% macro remove_orphan_files(relation, older_than=none, dry_run=true) -%}
  {%- do return(paimon__call_procedure('remove_orphan_files', relation, {
    'older_than': older_than,
    'dry_run': dry_run
  })) -%}
{%- endmacro %}
