{#- Condition: the rows of the batches up to the var `batch`, without those that the table has already. So each build of
    the project is a run of the table, as in production: `--vars '{batch: 1}'`, then `--vars '{batch: 2}'`.

    batch: the column that numbers the batches, in the query and in the table. -#}
{% macro new_rows(batch) -%}
{{ batch }} <= {{ var('batch') }}
    {%- if is_incremental() %}
    and {{ batch }} > (select coalesce(max(known.{{ batch }}), 0) from {{ this }} as known)
    {%- endif %}
{%- endmacro %}
