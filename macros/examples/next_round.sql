{#-
  A post-hook that plays the run after this one: it inserts the rounds that the table has not read, in a commit of their
  own. So one `dbt build` shows what two runs leave.

  updates_before: whether the rows before an update (-U) come, too.
-#}
{% macro next_round(table, seed, updates_before=false) -%}
insert into {{ table }} (product_id, stock, round_no{{ ', op' if updates_before }})
select product_id, stock, round_no{{ ', op' if updates_before }}
from {{ ref(seed) }}
where
    round_no > (select coalesce(max(round_no), 0) from {{ table }})
    {{ "and op <> '-U'" if not updates_before }}
{%- endmacro %}
