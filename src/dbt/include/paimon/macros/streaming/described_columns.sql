{#- The columns of a source with `external`: a folder or a topic, which is not in a catalog. -#}
{% macro paimon__described_columns(relation) %}
  {%- for node in graph.sources.values() -%}
    {%- if node.external and node.database == relation.database and node.schema == relation.schema
          and node.identifier == relation.identifier -%}
      {%- do return(adapter.streams.described_columns(node)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return([]) -%}
{% endmacro %}
