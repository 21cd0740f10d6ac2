{#- Print the health of tables, and return it as a list of dictionaries. -#}
{% macro table_health(select=none) %}
  {%- if execute -%}
    {%- do return(adapter.health.report(graph.nodes.values() | list, select)) -%}
  {%- endif -%}
{% endmacro %}
