{#- `dbt clone`: a table of the state is copied, or branched off; a view becomes a view over it (see the module plan.clone). -#}
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
