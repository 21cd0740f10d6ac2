{#-
  automate_dv has variants of its macros for Databricks, Snowflake and others. Most macros here call one that runs on
  Spark. dbt finds the macros of this file by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__cast_date() -%}
  {{- return(automate_dv.databricks__cast_date(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__cast_datetime() -%}
  {{- return(automate_dv.databricks__cast_datetime(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__concat_ws() -%}
  {{- return(automate_dv.databricks__concat_ws(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- Backticks: in Spark, double quotes make a string. -#}
{% macro paimon__get_escape_characters() -%}
  {{- return(automate_dv.databricks__get_escape_characters(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__get_period_of_load() -%}
  {{- return(automate_dv.databricks__get_period_of_load(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- Spark does not have MD5_BINARY, SHA1_BINARY and SHA2_BINARY. -#}
{% macro paimon__hash_alg_md5() -%}
  {{- return(automate_dv.databricks__hash_alg_md5(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__hash_alg_sha1() -%}
  {{- return(automate_dv.databricks__hash_alg_sha1(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__hash_alg_sha256() -%}
  {{- return(automate_dv.databricks__hash_alg_sha256(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- The variant with one INSERT OVERWRITE, because Spark runs one statement per call. Paimon commits it once. -#}
{% macro paimon__incremental_bridge_replace() -%}
  {{- return(automate_dv.databricks__incremental_bridge_replace(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__incremental_pit_replace() -%}
  {{- return(automate_dv.databricks__incremental_pit_replace(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__log_relation_sources() -%}
  {{- return(automate_dv.databricks__log_relation_sources(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__nh_link() -%}
  {{- return(automate_dv.databricks__nh_link(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__pit() -%}
  {{- return(automate_dv.databricks__pit(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__ref_table() -%}
  {{- return(automate_dv.databricks__ref_table(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__standard_column_wrapper() -%}
  {{- return(automate_dv.databricks__standard_column_wrapper(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- The type of hashes: string, or binary with the var `enable_native_hashes`. -#}
{% macro paimon__type_binary() -%}
  {{- return(automate_dv.databricks__type_binary(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__xts() -%}
  {{- return(automate_dv.databricks__xts(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- The variants for Databricks use QUALIFY, which Spark does not have. These do not use it. -#}
{% macro paimon__hub() -%}
  {{- return(automate_dv.sqlserver__hub(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__link() -%}
  {{- return(automate_dv.postgres__link(*varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__sat() -%}
  {{- return(automate_dv.postgres__sat(*varargs, **kwargs)) -}}
{%- endmacro %}

{#- The variant without `::`, which Spark 3.5 does not have. -#}
{% macro paimon__replace_placeholder_with_rank_filter() -%}
  {{- return(automate_dv.bigquery__replace_placeholder_with_rank_filter(*varargs, **kwargs)) -}}
{%- endmacro %}

{#-
  For bridges and two kinds of satellites, the package omits QUALIFY only if `target.type` is postgres. So set that type
  during the call: `target` is a dict of this node only.
-#}
{% macro paimon__as_postgres(query_macro) -%}
  {%- set real_type = target.type -%}
  {%- do target.update({'type': 'postgres'}) -%}
  {%- set query = query_macro(*varargs, **kwargs) -%}
  {%- do target.update({'type': real_type}) -%}
  {{- return(query) -}}
{%- endmacro %}

{% macro paimon__bridge() -%}
  {{- return(paimon__as_postgres(automate_dv.default__bridge, *varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__eff_sat() -%}
  {{- return(paimon__as_postgres(automate_dv.default__eff_sat, *varargs, **kwargs)) -}}
{%- endmacro %}

{% macro paimon__ma_sat() -%}
  {{- return(paimon__as_postgres(automate_dv.default__ma_sat, *varargs, **kwargs)) -}}
{%- endmacro %}

{#- Both dbt's `hash` of one field and automate_dv's `hash` with `columns` dispatch to this macro. -#}
{% macro paimon__hash(field=none) -%}
  {%- if 'columns' in kwargs -%}
    {{- return(automate_dv.databricks__hash(**kwargs)) -}}
  {%- endif -%}
  {{- return(dbt.default__hash(field)) -}}
{%- endmacro %}

{#- For `vault_insert_by_period`: the package's query for Databricks casts with `::`, which Spark 3.5 does not have. -#}
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
