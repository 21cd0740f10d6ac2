{#- A model's rows, kept in a temporary view while two statements read them. -#}
{% macro paimon__read_once(target, source) %}
  {%- set view = make_temp_relation(target).identifier -%}
  {%- call statement('read_once') -%}
    cache table {{ adapter.quote(view) }} as
    select * from {{ source }}
  {%- endcall -%}
  {%- do return(adapter.rows.staged(view)) -%}
{% endmacro %}
