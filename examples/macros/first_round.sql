{#- Condition: the first round when the table is built; in later builds, no round that it has already read. -#}
{% macro first_round() -%}
{%- if is_incremental() -%}
round_no > (select coalesce(max(round_no), 0) from {{ this }})
{%- else -%}
round_no = 1
{%- endif -%}
{%- endmacro %}
