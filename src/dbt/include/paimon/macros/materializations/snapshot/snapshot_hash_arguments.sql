{#-
  The hash of a key and its updated_at, which becomes dbt_scd_id. It equals dbt-spark's for values without NULL, `|` and
  `~`. In dbt-spark, ('x|y', 'z') and ('x', 'y|z') collide, and so do NULL and ''.
-#}
{% macro paimon__snapshot_hash_arguments(args) -%}
md5({% for arg in args -%}
  coalesce(replace(replace(cast({{ arg }} as string), '~', '~~'), '|', '~|'), '~0'){{ " || '|' || " if not loop.last }}
{%- endfor %})
{%- endmacro %}
