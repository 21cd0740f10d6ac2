{#- Make a table what it was at a table snapshot (number) or tag (name); later table snapshots are gone after it. -#}
{% macro rollback_to(relation, version) -%}
  {%- do return(paimon__call_procedure('rollback_to', relation, {'version': version})) -%}
{%- endmacro %}
