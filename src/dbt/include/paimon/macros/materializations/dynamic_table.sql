{% materialization dynamic_table, adapter='paimon' %}
  {%- do adapter.specs.refuse('dynamic_table', model) -%}
{% endmaterialization %}
