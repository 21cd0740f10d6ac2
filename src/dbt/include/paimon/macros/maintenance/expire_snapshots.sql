{#- Expire old table snapshots. -#}
{% macro expire_snapshots(relation, retain_max=none, retain_min=none, older_than=none, max_deletes=none) -%}
  {%- do return(paimon__call_procedure('expire_snapshots', relation, {
    'retain_max': retain_max,
    'retain_min': retain_min,
    'older_than': older_than,
    'max_deletes': max_deletes
  })) -%}
{%- endmacro %}
