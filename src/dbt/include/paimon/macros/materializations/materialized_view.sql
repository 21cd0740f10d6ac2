{% materialization materialized_view, adapter='paimon' %}
  {%- do adapter.specs.refuse('materialized_view', model) -%}
{% endmaterialization %}
