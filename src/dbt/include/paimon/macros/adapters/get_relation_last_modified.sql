{#- When tables last changed, for `dbt source freshness` without a loaded_at_field. Reads only metadata. -#}
{% macro paimon__get_relation_last_modified(information_schema, relations) %}
  {%- set sql = adapter.tables.last_modified_sql(relations) -%}
  {%- call statement('last_modified', fetch_result=True, auto_begin=False) -%}
    {{ sql or "select '' as schema, '' as identifier, null as last_modified, null as snapshotted_at where false" }}
  {%- endcall -%}
  {{ return(load_result('last_modified')) }}
{% endmacro %}
