{#- Maintain tables by their policies. -#}
{% macro maintain(select=none, dry_run=false, force=false) %}
  {%- if execute -%}
    {%- do return(adapter.maintenance.run(graph.nodes.values() | list, select, dry_run, force)) -%}
  {%- endif -%}
{% endmacro %}
