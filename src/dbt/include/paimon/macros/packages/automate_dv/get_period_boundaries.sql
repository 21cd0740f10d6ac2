{#-
  For automate_dv's `vault_insert_by_period`: the package's query for Databricks casts with `::`, which Spark 3.5 has not.
  Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__get_period_boundaries(target_relation, timestamp_field, start_date, stop_date, period) -%}
  {%- set stop = "cast(nullif('" ~ stop_date | lower ~ "', 'none') as timestamp)" -%}
  {%- set query -%}
    select
      least(start_timestamp, stop_timestamp) as start_timestamp,
      stop_timestamp,
      {{ datediff('least(start_timestamp, stop_timestamp)', 'stop_timestamp', period) }} + 1 as num_periods
    from (
      select
        coalesce(max({{ timestamp_field }}), cast('{{ start_date }}' as timestamp)) as start_timestamp,
        coalesce({{ automate_dv.timestamp_add(period, none, stop) }}, {{ current_timestamp() }}) as stop_timestamp
      from {{ target_relation }}
    ) as loaded
  {%- endset -%}
  {%- set found = automate_dv.get_query_results_as_dict(query) -%}
  {{- return({
    'start_timestamp': found['START_TIMESTAMP'][0] | string,
    'stop_timestamp': found['STOP_TIMESTAMP'][0] | string,
    'num_periods': found['NUM_PERIODS'][0] | int,
  }) -}}
{%- endmacro %}
