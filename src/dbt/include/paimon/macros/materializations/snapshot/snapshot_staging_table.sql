{#-
  The rows for the MERGE of an existing snapshot, from one join of the query with the current versions. It differs from
  dbt's macro where that loses versions or lets them overlap:

  - NULLs in a key are equal;
  - a version begins at updated_at, or at the time of the run if updated_at is not after the previous version (a row that
    comes back unchanged, or a change without a new updated_at). Then dbt_scd_id also hashes the time of the run, because
    the hash of key and updated_at may belong to another version;
  - the timestamp strategy also compares dbt_updated_at, because a version's dbt_valid_from may be later;
  - with --empty and --sample, rows that are not read do not count as deleted;
  - the run fails if the last version of a key ends in the future: then dbt_valid_to_current, or the session time zone,
    has changed, and the key would get a second current version.
-#}
{% macro paimon__snapshot_staging_table(strategy, source_sql, target_relation) -%}
{%- set names = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
{%- set table_columns = strategy.table.columns if strategy.table else adapter.get_columns_in_relation(target_relation) -%}
{%- set query_columns = strategy.query_columns or get_column_schema_from_query(source_sql) -%}
{%- set types = paimon__column_types(table_columns) -%}
{%- set from_type, to_type = types[names.dbt_valid_from | lower], types[names.dbt_valid_to | lower] -%}
{%- set now = 'cast(' ~ snapshot_get_time() ~ ' as ' ~ from_type ~ ')' -%}
{%- set is_current = paimon__is_current_version(names.dbt_valid_to, to_type) -%}
{%- set key_names = paimon__snapshot_key_names(strategy.unique_key) -%}
{%- set with_records = strategy.hard_deletes == 'new_record' -%}
{%- set ends_unseen = strategy.hard_deletes in ('invalidate', 'new_record') and not strategy.reads_part -%}
{%- set old, new = 'snapshotted_data.', 'source_data.' -%}
{%- set refusal = paimon__refuse_open_end(names.dbt_valid_to, from_type) -%}
{%- set ended_at = 'if(ended.__dbt_is_open, ' ~ refusal ~ ', ended.__dbt_last)' -%}
{%- set last = 'coalesce(' ~ old ~ names.dbt_valid_from ~ ', ' ~ ended_at ~ ')' -%}
{%- set is_first = '(' ~ old ~ names.dbt_scd_id ~ ' is null and ended.__dbt_count is null)' -%}
{%- set updated_at = new ~ '__dbt_updated_at' -%}
{%- set is_later = '(' ~ updated_at ~ ' > ' ~ last ~ ' or (' ~ last ~ ' is null and ' ~ updated_at ~ ' is not null))' -%}
{%- set begins = 'if(' ~ is_first ~ ' or ' ~ is_later ~ ', ' ~ updated_at ~ ', greatest(' ~ now ~ ', ' ~ last ~ '))' -%}
{#- The hash uses the text of an instant. When clocks are set back, two instants an hour apart have the same text. -#}
{%- set has_own_text = updated_at ~ ' = cast(cast(' ~ updated_at ~ ' as string) as ' ~ from_type ~ ')' -%}
with source_data as (
  select *, {{ unique_key_fields(strategy.unique_key) }},
    {{ strategy.updated_at }} as __dbt_updated_at,
    {{ strategy.scd_id }} as __dbt_scd_id
  from (
{{ source_sql }}
  )
),
snapshotted_data as (
  select *, {{ unique_key_fields(strategy.unique_key) }}
  from {{ target_relation }}
  where {{ is_current }}
),
ended as (
  select {{ key_names | join(', ') }}, count(*) as __dbt_count,
    max(greatest({{ names.dbt_valid_from }}, cast({{ names.dbt_valid_to }} as {{ from_type }}))) as __dbt_last,
    max(cast({{ names.dbt_valid_to }} as {{ from_type }})) > greatest({{ now }}, max({{ names.dbt_valid_from }}))
      as __dbt_is_open
  from (select *, {{ unique_key_fields(strategy.unique_key) }} from {{ target_relation }})
  where not ({{ is_current }})
  group by {{ key_names | join(', ') }}
)
select
  if(__dbt_change = 'record', 'insert', __dbt_change) as dbt_change_type,
  {%- for column in query_columns %}
    {%- if with_records and column.name | lower in types %}
      {#- Spark would convert the query's strings to the table's type, which the check of types is to refuse. -#}
      {%- set recorded = 'cast(' ~ old ~ column.quoted ~ ' as string)' if column.dtype == 'string' else old ~ column.quoted %}
  if(__dbt_change = 'record', {{ recorded }}, {{ new }}{{ column.quoted }}) as {{ column.quoted }},
    {%- else %}
  {{ new }}{{ column.quoted }},
    {%- endif %}
  {%- endfor %}
  if(__dbt_change in ('insert', 'update'), {{ updated_at }}, {{ now }}) as {{ names.dbt_updated_at }},
  if(__dbt_change in ('insert', 'update'), {{ begins }}, greatest({{ now }}, {{ last }})) as {{ names.dbt_valid_from }},
  case __dbt_change
    when 'update' then cast({{ begins }} as {{ to_type }})
    when 'delete' then cast(greatest({{ now }}, {{ last }}) as {{ to_type }})
    else {{ paimon__current_valid_to(to_type) }}
  end as {{ names.dbt_valid_to }},
  case
    when __dbt_change in ('update', 'delete') then {{ old }}{{ names.dbt_scd_id }}
    when __dbt_change = 'record' then {{ snapshot_hash_arguments([old ~ names.dbt_scd_id, snapshot_get_time()]) }}
    when {{ is_first }} or ({{ is_later }} and {{ has_own_text }}) then {{ new }}__dbt_scd_id
    else {{ snapshot_hash_arguments([new ~ '__dbt_scd_id', snapshot_get_time()]) }}
  end as {{ names.dbt_scd_id }}
  {%- if with_records %},
  if(__dbt_change = 'record', 'True', 'False') as {{ names.dbt_is_deleted }}
  {%- endif %}
from source_data
{{ 'full outer' if ends_unseen else 'left' }} join snapshotted_data
  on {% for key in key_names %}{{ old }}{{ key }} <=> {{ new }}{{ key }}{{ ' and ' if not loop.last }}{% endfor %}
left join ended
  on {{ old }}{{ names.dbt_scd_id }} is null
  {%- for key in key_names %} and ended.{{ key }} <=> {{ new }}{{ key }}{% endfor %}
lateral view explode(
  case
    when {{ old }}{{ names.dbt_scd_id }} is null then array('insert')
    when {{ new }}__dbt_scd_id is null then
      {%- if with_records %}
      if({{ old }}{{ names.dbt_is_deleted }} <=> 'True', array(), array('delete', 'record'))
      {%- else %} array('delete')
      {%- endif %}
    when {{ strategy.row_changed }}
      {%- if config.get('strategy') == 'timestamp' %}
      or {{ old }}{{ names.dbt_updated_at }} < {{ updated_at }}
      or ({{ old }}{{ names.dbt_updated_at }} is null and {{ updated_at }} is not null)
      {%- endif %}
      {%- if with_records %} or {{ old }}{{ names.dbt_is_deleted }} <=> 'True'{% endif %}
    then array('update', 'insert')
    else array()
  end
) changes as __dbt_change
{%- endmacro %}

{#- The types of columns by their names in lower case. -#}
{% macro paimon__column_types(columns) %}
  {%- set types = {} -%}
  {%- for column in columns -%}{%- do types.update({column.name | lower: column.data_type}) -%}{%- endfor -%}
  {%- do return(types) -%}
{% endmacro %}

{#- The names that dbt's `unique_key_fields` gives to the columns of a key. -#}
{% macro paimon__snapshot_key_names(unique_key) %}
  {%- set names = [] -%}
  {%- if unique_key | is_list -%}
    {%- for key in unique_key -%}{%- do names.append('dbt_unique_key_' ~ loop.index) -%}{%- endfor -%}
  {%- endif -%}
  {%- do return(names or ['dbt_unique_key']) -%}
{% endmacro %}

{#- Whether a version is current, as SQL. -#}
{% macro paimon__is_current_version(valid_to, data_type) -%}
{{ valid_to }} is null
{%- if config.get('dbt_valid_to_current') %} or {{ valid_to }} = {{ paimon__current_valid_to(data_type) }}{% endif %}
{%- endmacro %}

{#- An expression of this type that raises an error, for a key that would get a second current version. -#}
{% macro paimon__refuse_open_end(valid_to, data_type) -%}
{%- set message -%}
snapshot {{ model.name }}: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update {{ this.schema }}.{{ this.identifier }} set {{ valid_to }} = <new> where {{ valid_to }} = <old>
{%- endset -%}
cast(raise_error('{{ escape_single_quotes(message | trim) }}') as {{ data_type }})
{%- endmacro %}

{#- dbt_valid_to of a current version, in the type of the table's column. -#}
{% macro paimon__current_valid_to(data_type) -%}
cast({{ config.get('dbt_valid_to_current') or 'null' }} as {{ data_type }})
{%- endmacro %}
