{#- Delete orphan files; by default, only count them. -#}
{% macro remove_orphan_files(relation, older_than=none, dry_run=true) -%}
  {%- do return(paimon__call_procedure('remove_orphan_files', relation, {
    'older_than': older_than,
    'dry_run': dry_run
  })) -%}
{%- endmacro %}
