{#-
  Runs after a model's rows are committed: stores its positions in the tables whose changes it reads (see the Python
  module changes.positions).
-#}
{% macro paimon__keep_positions(target) %}
  {%- do adapter.changes.keep(model, paimon__positions_relation(target)) -%}
{% endmacro %}

{% macro paimon__positions_relation(target) %}
  {%- do return(target.incorporate(path={'identifier': target.identifier ~ '__dbt_changes'}, type='table')) -%}
{% endmacro %}
