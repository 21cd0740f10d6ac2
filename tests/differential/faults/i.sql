{#- dbt_scd_id as in dbt-spark: NULL counts as '', and a `|` in a key looks like the separator of its columns. -#}
{% macro paimon__snapshot_hash_arguments(args) -%}
md5({% for arg in args %}coalesce(cast({{ arg }} as string), ''){{ " || '|' || " if not loop.last }}{% endfor %})
{%- endmacro %}
