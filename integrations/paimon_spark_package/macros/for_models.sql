{#- Compact a table, for use in a hook. -#}
{% macro paimon_compact(relation) -%}
  call sys.compact(table => '{{ relation.schema }}.{{ relation.identifier }}')
{%- endmacro %}

{#- An earlier state of a table, for use in FROM. Takes exactly one of snapshot, tag and timestamp. -#}
{% macro paimon_at(relation, snapshot=none, tag=none, timestamp=none) -%}
  {%- if [snapshot, tag, timestamp] | select('none') | list | length != 2 -%}
    {%- do exceptions.raise_compiler_error('paimon_at: pass exactly one of snapshot, tag and timestamp.') -%}
  {%- endif -%}
  {{ relation }}
  {%- if timestamp %} timestamp as of '{{ timestamp }}'
  {%- else %} version as of {{ snapshot if snapshot is not none else "'" ~ tag ~ "'" }}{% endif -%}
{%- endmacro %}
