{#-
  dbt's hash of a key and its updated_at, which becomes dbt_scd_id: the same as dbt-spark's for values without NULL, `|` and
  `~`. There ('x|y', 'z') and ('x', 'y|z') have the same hash, as have NULL and ''.
-#}
{% macro paimon__snapshot_hash_arguments(args) -%}
md5({% for arg in args -%}
  coalesce(replace(replace(cast({{ arg }} as string), '~', '~~'), '|', '~|'), '~0'){{ " || '|' || " if not loop.last }}
{%- endfor %})
{%- endmacro %}
