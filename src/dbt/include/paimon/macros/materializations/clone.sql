{#- `dbt clone`: copies or branches a table of the state, and creates a view over a view (see the Python module plan.clone). -#}
{% materialization clone, adapter='paimon' %}
  {%- set relations = adapter.runs.clone(context) -%}
  {%- if relations is none -%}
    {{ return(materialization_view_paimon()) }}
  {%- endif -%}
  {{ return({'relations': relations}) }}
{% endmaterialization %}

{% macro paimon__can_clone_table() %}
  {{ return(true) }}
{% endmacro %}
