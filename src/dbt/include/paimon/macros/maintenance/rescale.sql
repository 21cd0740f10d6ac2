{#-
  Change the number of buckets of a table, or of some of its partitions: rewrites their rows, in one commit.

  relation: a relation or a name; bucket_num: the new number (default: that of the table's option `bucket`, for
  partitions that were written with another one); partitions: a list of {column: value}, to rewrite only these. The
  others keep their number, and accept no new rows, until they are rewritten too.

  Runs its statements itself, also in a hook; nothing else may write the partitions meanwhile. Set `bucket` in the
  model's config to the same number, or its next run is refused.

  dbt run-operation rescale --args '{relation: int_flight_status, bucket_num: 8}'
-#}
{% macro rescale(relation, bucket_num=none, partitions=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- if paimon__is_clone('rescale', target_relation) -%}{%- do return('') -%}{%- endif -%}
  {%- do adapter.maintenance.rescale(target_relation, bucket_num, partitions) -%}
  {%- do return('') -%}
{%- endmacro %}
