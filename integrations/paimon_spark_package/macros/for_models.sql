{#- For a hook: merge the data files of a table. -#}
{% macro paimon_compact(relation) -%}
  call sys.compact(table => '{{ relation.schema }}.{{ relation.identifier }}')
{%- endmacro %}

{#- A table at an earlier state, for FROM. Give one of the three. -#}
{% macro paimon_at(relation, snapshot=none, tag=none, timestamp=none) -%}
  {%- if [snapshot, tag, timestamp] | select('none') | list | length != 2 -%}
    {%- do exceptions.raise_compiler_error('paimon_at: give one of snapshot, tag and timestamp.') -%}
  {%- endif -%}
  {{ relation }}
  {%- if timestamp %} timestamp as of '{{ timestamp }}'
  {%- else %} version as of {{ snapshot if snapshot is not none else "'" ~ tag ~ "'" }}{% endif -%}
{%- endmacro %}
