{#- Condition: the first round when the table is built, and none that it has already read in later builds. -#}
{% macro first_round() -%}
{%- if is_incremental() -%}
round_no > (select coalesce(max(round_no), 0) from {{ this }})
{%- else -%}
round_no = 1
{%- endif -%}
{%- endmacro %}
