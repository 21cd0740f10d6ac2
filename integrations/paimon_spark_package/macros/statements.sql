{#- Alter options and columns in place. -#}
{% macro paimon_alter(plan) %}
  {%- if plan.options -%}
    {%- do paimon_spark.paimon_execute('alter table ' ~ this ~ ' set tblproperties (' ~ paimon_spark.paimon_pairs(plan.options) ~ ')') -%}
  {%- endif -%}
  {%- if plan.add -%}
    {%- do paimon_spark.paimon_execute('alter table ' ~ this ~ ' add columns (' ~ paimon_spark.paimon_ddl(plan.add) ~ ')') -%}
  {%- endif -%}
{% endmacro %}

{#- REPLACE WHERE TRUE replaces all rows in either partitionOverwriteMode, INSERT OVERWRITE only in static mode. -#}
{% macro paimon_insert_sql(target, plan, source) -%}
  {%- set names = [] -%}
  {%- for name in plan.insert -%}{%- do names.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- if plan.overwrite == 'all' -%}
  insert into {{ target }} replace where true
  {%- else -%}
  insert {{ 'overwrite' if plan.overwrite else 'into' }} {{ target }} ({{ names | join(', ') }})
  {%- endif %}
  select {{ names | join(', ') }} from {{ source }}
{%- endmacro %}

{#- Build a new table, swap it with the old one when it is complete, and drop the old table with its history. -#}
{% macro paimon_rebuild(columns, wanted, exists, source) %}
  {%- set new, old = paimon_spark.paimon_with_suffix(this, '__dbt_new'), paimon_spark.paimon_with_suffix(this, '__dbt_old') -%}
  {%- set partitions = [] -%}
  {%- for name in wanted.partition_by -%}{%- do partitions.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- do paimon_spark.paimon_execute('drop table if exists ' ~ new) -%}
  {%- do paimon_spark.paimon_execute('create table ' ~ new ~ ' (' ~ paimon_spark.paimon_ddl(columns) ~ ') using paimon'
    ~ (' partitioned by (' ~ partitions | join(', ') ~ ')' if partitions else '')
    ~ (' tblproperties (' ~ paimon_spark.paimon_pairs(wanted.options) ~ ')' if wanted.options else '')) -%}
  {%- call statement('main') -%}
    {{ paimon_spark.paimon_insert_sql(new, {'insert': columns | map(attribute='name') | list, 'overwrite': ''}, source) }}
  {%- endcall -%}
  {%- if exists -%}
    {%- do paimon_spark.paimon_execute('drop table if exists ' ~ old) -%}
    {%- do paimon_spark.paimon_execute('alter table ' ~ this ~ ' rename to ' ~ old) -%}
  {%- endif -%}
  {%- do paimon_spark.paimon_execute('alter table ' ~ new ~ ' rename to ' ~ this) -%}
  {%- do paimon_spark.paimon_execute('drop table if exists ' ~ old) -%}
{% endmacro %}

{#- Return whether a table exists. First restore its name if a killed run left it as `__dbt_old`. -#}
{% macro paimon_restore(relation) %}
  {%- set old = paimon_spark.paimon_with_suffix(relation, '__dbt_old') -%}
  {%- set found = paimon_spark.paimon_existing([relation, old]) -%}
  {%- if old.identifier | lower in found and relation.identifier | lower not in found -%}
    {%- do paimon_spark.paimon_execute('alter table ' ~ old ~ ' rename to ' ~ relation) -%}
  {%- elif found | length == 2 -%}
    {%- do paimon_spark.paimon_execute('drop table ' ~ old) -%}
  {%- endif -%}
  {%- do return(found | length > 0) -%}
{% endmacro %}

{#- The lower-case names of those relations (all in one schema) that exist. Queries Spark, not dbt's cache, which misses tables of other runs. -#}
{% macro paimon_existing(relations) %}
  {%- set wanted = relations | map(attribute='identifier') | map('lower') | list -%}
  {%- set found = [] -%}
  {%- for row in run_query('show tables in ' ~ relations[0].without_identifier() ~ " like '" ~ wanted | join('|') ~ "'").rows -%}
    {%- if row[1] | lower in wanted -%}{%- do found.append(row[1] | lower) -%}{%- endif -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{#- Describe a table or view: {'columns': [{'name', 'type'}], 'partitions': [names]}. -#}
{% macro paimon_described(relation) %}
  {%- set columns, partitions, part = [], [], [''] -%}
  {%- for row in run_query('describe ' ~ relation).rows -%}
    {%- if row[0] | default('', true) | string | first == '#' or not row[0] -%}
      {%- do part.append(row[0]) -%}
    {%- elif part[-1] == '# col_name' -%}{%- do partitions.append(row[0] | string) -%}
    {%- elif part[-1] == '' -%}{%- do columns.append({'name': row[0] | string, 'type': row[1]}) -%}{%- endif -%}
  {%- endfor -%}
  {%- do return({'columns': columns, 'partitions': partitions}) -%}
{% endmacro %}

{% macro paimon_with_suffix(relation, suffix) %}
  {%- do return(relation.incorporate(path={'identifier': relation.identifier ~ suffix})) -%}
{% endmacro %}

{% macro paimon_ddl(columns) -%}
  {%- for column in columns %}{{ adapter.quote(column.name) }} {{ column.type }}{{ ', ' if not loop.last }}{% endfor -%}
{%- endmacro %}

{% macro paimon_pairs(options) -%}
  {%- for name, value in options.items() -%}
    '{{ name }}' = '{{ value | replace("\\", "\\\\") | replace("'", "\\'") }}'{{ ', ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}

{#- Run a statement that returns no rows, for which dbt's run_query fails over Thrift. -#}
{% macro paimon_execute(text) %}
  {%- call statement() -%}{{ text }}{%- endcall -%}
{% endmacro %}
