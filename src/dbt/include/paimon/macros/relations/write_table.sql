{#-
  dbt's `statement` for writing a model's rows into an existing table: holds the table's lock, and retries after a
  conflict with another writer if that is safe (adapter.builds.write).

  name: the statement's name; target: the table; kind: a strategy, 'rebuild' or 'snapshot'; spec: see
  adapter.specs.of; conf: Spark settings for this statement only.
-#}
{% macro paimon__write_table(name, target, kind, spec, conf={}, writes_rows=false) %}
  {%- set sql = caller() -%}
  {%- if name == 'main' -%}
    {{ write(sql) }}
  {%- endif -%}
  {%- set conf = dict(conf, **adapter.changes.commit_conf(model)) -%}
  {%- set deletes = true if config.get('merge_delete_condition') else false -%}
  {%- set result = adapter.builds.write(target, sql, kind, spec, conf, deletes, writes_rows) -%}
  {{ store_result(name, response=result.response, agate_table=result.table) }}
{% endmacro %}
