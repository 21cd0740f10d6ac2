{#-
  dbt's `statement` with Spark settings that hold for this one statement, also when it fails; `alone_on`: a table that no
  other such statement of this run may write meanwhile.
-#}
{% macro paimon__statement_with_conf(name, conf, alone_on=none) %}
  {%- set sql = caller() -%}
  {%- if name == 'main' -%}
    {{ write(sql) }}
  {%- endif -%}
  {%- set result = adapter.execute_with_conf(sql, conf, alone_on) -%}
  {{ store_result(name, response=result[0], agate_table=result[1]) }}
{% endmacro %}

{#- Strategies that replace partitions need Spark's dynamic mode; nothing else may see it. -#}
{% macro paimon__strategy_conf(strategy, spec) %}
  {%- if strategy in ('insert_overwrite', 'microbatch') and spec.partition_by -%}
    {%- do return({'spark.sql.sources.partitionOverwriteMode': 'dynamic'}) -%}
  {%- endif -%}
  {%- do return({}) -%}
{% endmacro %}
