{#- Remove the rows of a key from tables and from all their files (see the Python module operations.erasing). -#}
{% macro erase(key, relations=none, dry_run=true, drop_tags=false, drop_branches=false, drop_dead_letters=false) %}
  {%- if execute -%}
    {%- set named = [] -%}
    {%- for name in ([relations] if relations is string else relations or []) -%}
      {%- do named.append(paimon__named_relation(name)) -%}
    {%- endfor -%}
    {%- set nodes = graph.nodes.values() | list + graph.sources.values() | list -%}
    {%- do adapter.operations.erase(
      key, named, nodes, dry_run, drop_tags=drop_tags, drop_branches=drop_branches, drop_dead_letters=drop_dead_letters
    ) -%}
  {%- endif -%}
{% endmacro %}
