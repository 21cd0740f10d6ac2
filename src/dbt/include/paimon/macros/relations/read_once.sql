{#- A model's rows, kept in a temporary view while two statements read them. -#}
{% macro paimon__read_once(target, source) %}
  {%- do return(adapter.rows.cached(make_temp_relation(target).identifier, 'select * from ' ~ source)) -%}
{% endmacro %}
