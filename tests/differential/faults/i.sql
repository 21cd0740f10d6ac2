{#- dbt_scd_id as dbt-spark makes it: NULL is '', and a `|` of a key is one between its columns. -#}
{% macro paimon__snapshot_hash_arguments(args) -%}
md5({% for arg in args %}coalesce(cast({{ arg }} as string), ''){{ " || '|' || " if not loop.last }}{% endfor %})
{%- endmacro %}
