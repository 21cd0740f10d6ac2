{% materialization materialized_view, adapter='paimon' %}
  {%- do adapter.refuse('materialized_view', model) -%}
{% endmaterialization %}
