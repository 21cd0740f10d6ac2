{#-
  dbt's `statement` for the one that writes a model's rows into a table that is there: as its only writer, and once more
  where another one came before and that is safe (adapter.write_table).

  name: of the statement; target: the table; kind: a strategy, 'rebuild' or 'snapshot'; spec: see adapter.table_spec;
  conf: Spark settings for this statement alone.
-#}
{% macro paimon__write_table(name, target, kind, spec, conf={}) %}
  {%- set sql = caller() -%}
  {%- if name == 'main' -%}
    {{ write(sql) }}
  {%- endif -%}
  {%- set conf = dict(conf, **adapter.commit_conf(model)) -%}
  {%- set result = adapter.write_table(target, sql, kind, spec, conf) -%}
  {{ store_result(name, response=result[0], agate_table=result[1]) }}
{% endmacro %}
