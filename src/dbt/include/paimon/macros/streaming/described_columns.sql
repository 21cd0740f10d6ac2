{#- The columns of a source with `external`: a folder or a topic, which is not in a catalog. -#}
{% macro paimon__described_columns(relation) %}
  {%- set found = paimon__sources_of(relation) | selectattr('external') | list -%}
  {%- do return(adapter.streams.described_columns(found[0]) if found else []) -%}
{% endmacro %}
