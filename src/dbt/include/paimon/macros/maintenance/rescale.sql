{#- Runs its statements itself, also in a hook. -#}
{% macro rescale(relation, bucket_num=none, partitions=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- if paimon__is_clone('rescale', target_relation) -%}{%- do return('') -%}{%- endif -%}
  {%- do adapter.maintenance.rescale(target_relation, bucket_num, partitions) -%}
  {%- do return('') -%}
{%- endmacro %}
