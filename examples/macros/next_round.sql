{#-
  A post-hook that acts as the next run: it inserts the rounds that the table has not read yet, in a separate commit. So
  one `dbt build` shows the result of two runs.

  updates_before: whether to include the rows before an update (-U).
-#}
{% macro next_round(table, seed, updates_before=false) -%}
insert into {{ table }} (product_id, stock, round_no{{ ', op' if updates_before }})
select product_id, stock, round_no{{ ', op' if updates_before }}
from {{ ref(seed) }}
where
    round_no > (select coalesce(max(round_no), 0) from {{ table }})
    {{ "and op <> '-U'" if not updates_before }}
{%- endmacro %}
