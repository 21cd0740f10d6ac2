{#- Change the number of buckets of a table. Runs its statements itself, also in a hook. -#}
{% macro rescale(relation, bucket_num=none, partitions=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- do adapter.operations.rescale(model, paimon__named_relation(relation), bucket_num, partitions) -%}
  {%- do return('') -%}
{%- endmacro %}
