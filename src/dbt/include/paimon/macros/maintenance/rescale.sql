{#-
  Give a table, or some of its partitions, another number of buckets: their own rows are written anew, in one commit.

  relation: a relation or a name; bucket_num: the new number (default: the one of the table's option `bucket`, for
  partitions that were written with another one); partitions: a list of {column: value} to rewrite alone. The others
  keep their number, and take no new rows, until they are rewritten too.

  Runs its statements itself, also in a hook; nobody else may write the partitions meanwhile. Set `bucket` in the
  model's config to the same number, or its next run is refused.

  dbt run-operation rescale --args '{relation: int_flight_status, bucket_num: 8}'
-#}
{% macro rescale(relation, bucket_num=none, partitions=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- do adapter.rescale(target_relation, bucket_num, partitions) -%}
  {#- In an operation the `model` of dbt's context is the macro itself. -#}
  {%- if model.resource_type == 'macro' -%}
    {%- do log('rescale on ' ~ target_relation ~ ': done', info=true) -%}
  {%- endif -%}
  {%- do return('') -%}
{%- endmacro %}
