{#- Check the model's config and return {'primary_key': [], 'partition_by': [], 'options': {}, 'strategy': ''}. -#}
{% macro paimon_settings() %}
  {%- set given = config.get('meta', {}).get('paimon', {}) -%}
  {%- for key in given if key not in ['primary_key', 'partition_by', 'options'] -%}
    {%- do paimon_spark.paimon_refuse('meta.paimon has no key ' ~ key ~ '. It takes primary_key, partition_by and options.') -%}
  {%- endfor -%}
  {%- set lists = {} -%}
  {%- for key in ['primary_key', 'partition_by'] -%}
    {%- set value = given.get(key) or [] -%}
    {%- do lists.update({key: [value] if value is string else value}) -%}
  {%- endfor -%}
  {%- set options = {} -%}
  {%- for name, value in (given.get('options') or {}).items() -%}
    {%- do options.update({name: value | lower if value is boolean else value | string}) -%}
  {%- endfor -%}
  {%- if lists.primary_key -%}{%- do options.update({'primary-key': lists.primary_key | join(',')}) -%}{%- endif -%}
  {%- set strategy = config.get('incremental_strategy') or ('upsert' if lists.primary_key else 'append') -%}
  {%- if strategy not in ['append', 'upsert', 'partial_update', 'insert_overwrite'] -%}
    {%- do paimon_spark.paimon_refuse('incremental_strategy must be append, upsert, partial_update or insert_overwrite, not ' ~ strategy ~ '.') -%}
  {%- elif (strategy == 'append') == (lists.primary_key | length > 0) and strategy in ['append', 'upsert'] -%}
    {%- do paimon_spark.paimon_refuse('append is for tables without a primary_key, upsert for tables with one.') -%}
  {%- elif strategy == 'partial_update' and options.get('merge-engine') != 'partial-update' -%}
    {%- do paimon_spark.paimon_refuse("partial_update needs the option 'merge-engine': 'partial-update'.") -%}
  {%- elif strategy == 'insert_overwrite' and not lists.partition_by -%}
    {%- do paimon_spark.paimon_refuse('insert_overwrite needs partition_by.') -%}
  {%- endif -%}
  {%- do return({'primary_key': lists.primary_key, 'partition_by': lists.partition_by, 'options': options, 'strategy': strategy}) -%}
{% endmacro %}

{#- Refuse a session whose settings would make a statement write the wrong rows. -#}
{% macro paimon_check_session(wanted) %}
  {%- set catalog = run_query('select current_catalog()').rows[0][0] -%}
  {%- set caches = 'spark.sql.catalog.' ~ catalog ~ '.cache-enabled' -%}
  {%- if run_query('set `' ~ caches ~ '`').rows[0][1] | string | lower != 'false' -%}
    {%- do paimon_spark.paimon_refuse('Set ' ~ caches ~ ' to false in Spark. With the cache, a session may write to a table that another session has replaced.') -%}
  {%- endif -%}
  {%- set mode = 'spark.sql.sources.partitionOverwriteMode' -%}
  {%- if wanted.strategy == 'insert_overwrite' and run_query('set ' ~ mode).rows[0][1] | lower != 'dynamic' -%}
    {%- do paimon_spark.paimon_refuse('insert_overwrite needs ' ~ mode ~ '=dynamic in Spark. In static mode it would also delete the partitions that the query does not return.') -%}
  {%- endif -%}
{% endmacro %}

{#- Plan the run: {'rebuild': bool, 'overwrite': bool, 'insert': [names], 'add': [columns], 'options': {}}. -#}
{% macro paimon_plan(columns, wanted, exists, increment) %}
  {%- if not exists -%}{%- do return({'rebuild': true}) -%}{%- endif -%}
  {%- set table = paimon_spark.paimon_described(this) -%}
  {%- set now = {} -%}
  {%- for row in run_query('show tblproperties ' ~ this).rows -%}{%- do now.update({row[0]: row[1] | string}) -%}{%- endfor -%}

  {%- set shape = {'primary-key': '', 'merge-engine': 'deduplicate', 'bucket': '-1', 'bucket-key': ''} -%}
  {%- set other = [] -%}
  {%- for name, default in shape.items() if now.get(name, default) != wanted.options.get(name, default) -%}
    {%- do other.append(name) -%}
  {%- endfor -%}
  {%- if table.partitions | map('lower') | list != wanted.partition_by | map('lower') | list -%}{%- do other.append('partition_by') -%}{%- endif -%}
  {%- if other and not should_full_refresh() -%}
    {%- do paimon_spark.paimon_refuse('These settings of an existing table cannot be changed: ' ~ other | join(', ') ~ '. Run once with --full-refresh to build a new table.') -%}
  {%- endif -%}

  {%- set types, asked, add, changed = {}, [], [], [] -%}
  {%- for column in table.columns -%}{%- do types.update({column.name | lower: column.type}) -%}{%- endfor -%}
  {%- for column in columns -%}
    {%- do asked.append(column.name | lower) -%}
    {%- if column.name | lower not in types -%}{%- do add.append(column) -%}
    {%- elif types[column.name | lower] != column.type -%}{%- do changed.append(column.name) -%}{%- endif -%}
  {%- endfor -%}
  {%- set missing = types | reject('in', asked) | list -%}
  {%- set partial = wanted.options.get('merge-engine') == 'partial-update' -%}

  {%- if increment and (changed or (missing and not partial) or (add and config.get('on_schema_change') != 'append_new_columns')) -%}
    {%- do paimon_spark.paimon_refuse('The columns of the query differ from those of the table: new ' ~ add | map(attribute='name') | list ~ ', missing ' ~ missing
      ~ ', changed type ' ~ changed ~ ". Run with --full-refresh. If columns are only added, on_schema_change='append_new_columns' is enough.") -%}
  {%- elif other or (not increment and (changed or missing)) -%}
    {%- do return({'rebuild': true}) -%}
  {%- endif -%}
  {%- set options = {} -%}
  {%- for name, value in wanted.options.items() if name not in shape and now.get(name) != value -%}{%- do options.update({name: value}) -%}{%- endfor -%}
  {#- REPLACE WHERE takes no column list, so the query's columns must be in the table's order. -#}
  {%- set order = types | select('in', asked) | list + add | map(attribute='name') | list -%}
  {%- do return({'rebuild': false, 'insert': order, 'add': add, 'options': options,
    'overwrite': 'all' if not increment else 'partitions' if wanted.strategy == 'insert_overwrite' else ''}) -%}
{% endmacro %}

{% macro paimon_refuse(text) %}
  {%- do exceptions.raise_compiler_error(this ~ ': ' ~ text) -%}
{% endmacro %}
