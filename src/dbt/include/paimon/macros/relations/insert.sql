{#- Plain INSERT: appends to an append table, upserts into a primary-key table. -#}
{% macro paimon__insert_sql(target, columns, source) -%}
{%- set names = paimon__quoted_columns(columns) -%}
insert into {{ target.render() }} ({{ names | join(', ') }})
select {{ names | join(', ') }}
from {{ source }}
{%- endmacro %}

{#-
  INSERT OVERWRITE of the whole table, or of the partitions in the source, depending on the statement's Spark settings.
  `nulls`: columns that the source does not have.
-#}
{% macro paimon__overwrite_sql(target, columns, nulls, source) -%}
{%- set names = paimon__quoted_columns(columns) -%}
insert overwrite {{ target.render() }} (
  {{- names | join(', ') }}{% for name in nulls %}, {{ adapter.quote(name) }}{% endfor -%}
)
select {{ names | join(', ') }}{% for name in nulls %}, null as {{ adapter.quote(name) }}{% endfor %}
from {{ source }}
{%- endmacro %}
