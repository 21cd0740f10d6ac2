{#- Roll a table back to a table snapshot, a tag or a timestamp. -#}
{% macro rollback_to(relation=none, version=none, timestamp=none, drop_tags=false) -%}
  {%- if relation is none -%}
    {%- do exceptions.raise_compiler_error("rollback_to: name the table, as in --args '{relation: my_model, version: 3}'.") -%}
  {%- endif -%}
  {%- if (version is none) == (timestamp is none) -%}
    {%- do exceptions.raise_compiler_error('rollback_to on ' ~ relation ~ ': give version or timestamp, one of the two.') -%}
  {%- endif -%}
  {%- if execute -%}
    {%- set version = adapter.operations.rollback_version(
      paimon__named_relation(relation), version, timestamp, drop_tags
    ) -%}
  {%- endif -%}
  {%- do return(paimon__call_procedure('rollback_to', relation, {'version': version})) -%}
{%- endmacro %}
