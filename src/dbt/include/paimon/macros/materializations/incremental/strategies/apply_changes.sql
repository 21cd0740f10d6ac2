{#-
  apply_changes: applies rows with a row kind (config rowkind_field: insert, update or delete) to the rows of their
  keys, in the order of sequence_field, in one INSERT: Paimon treats a row of kind `-D` as a delete, and the change
  with the highest sequence of a key wins, whenever it arrives.

  A delete leaves no trace once Paimon has compacted it, and an older change that arrives after that would bring the row
  back. So the keys and sequences of all deletes are kept in `<table>__dbt_deletes`, or `<table>__<stream>__dbt_deletes`
  for a stream: a full refresh starts without any, and its own come with the new table. They are written before the
  table, so that a run that is killed in between has only recorded deletes that its next run repeats.
-#}
{% macro get_incremental_apply_changes_sql(arg_dict) %}
  {%- set target, spec, source = arg_dict.target_relation, arg_dict.spec, arg_dict.temp_relation -%}
  {%- set deletes = adapter.deletes.relation(model, target) -%}
  {%- set kept = arg_dict.kept_deletes -%}
  {%- do paimon__make_deletes_ready(deletes, spec, kept) -%}
  {%- set names = paimon__quoted_names(arg_dict.dest_columns) -%}
  {%- set keys = paimon__quoted_key(spec.primary_key) -%}
  {%- set order = paimon__quoted_key(spec.sequence_columns) -%}
  {%- set sql -%}
{{ paimon__keep_deletes_sql(deletes, spec, kept, source) }};

insert into {{ target.render() }} ({{ names | join(', ') }})
select {{ names | join(', ') }}
from {{ source }} as __dbt_changes
left anti join {{ deletes.render() }} as __dbt_deletes
  on {% for key in keys %}__dbt_deletes.{{ key }} = __dbt_changes.{{ key }} and {% endfor -%}
  __dbt_changes.{{ paimon__rowkind(spec) }} <> '-D'
  and struct({% for name in order %}__dbt_deletes.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
   >= struct({% for name in order %}__dbt_changes.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{#- The first rows of a table, or all of a rebuilt one: the result of the changes. Drops deletes of older runs. -#}
{% macro paimon__build_from_changes(target, existing, spec, source) %}
  {%- set columns = adapter.tables.wanted_columns(source.columns, model, spec) -%}
  {%- set new = existing is none or not existing.is_table -%}
  {%- set spec = adapter.tables.check_columns(model, spec, columns, new=new) -%}
  {%- set deletes = adapter.deletes.relation(model, target) -%}
  {%- set there = load_cached_relation(deletes) -%}
  {%- set kept = adapter.deletes.kept(deletes, spec, columns) -%}
  {%- set changes = adapter.rows.checked(source, columns, model, spec) -%}
  {%- if kept.fits -%}
    {%- do paimon__make_deletes_ready(deletes, spec, kept) -%}
    {%- do paimon__keep_deletes(deletes, spec, kept, changes) -%}
  {%- endif -%}
  {%- do paimon__build_table(target, existing, spec, source) -%}
  {%- if kept.fits and there is not none -%}
    {%- do paimon__keep_deletes(deletes, spec, kept, changes, overwrite=true) -%}
  {%- elif there is not none -%}
    {#- Deletes by another key or sequence do not apply to the current table. -#}
    {%- do adapter.drop_relation(there) -%}
    {%- do paimon__make_deletes_ready(deletes, spec, kept) -%}
    {%- do paimon__keep_deletes(deletes, spec, kept, changes) -%}
  {%- endif -%}
{% endmacro %}

{#- The change rows, checked and read once: the deletes and the table must see the same ones. -#}
{% macro paimon__stage_changes(target, source, spec) %}
  {%- set sql = adapter.rows.change_rows_sql(source, spec, model) -%}
  {%- if sql is none -%}
    {%- do return(source) -%}
  {%- endif -%}
  {%- do return(adapter.rows.cached(make_temp_relation(target).identifier, sql)) -%}
{% endmacro %}

{% macro paimon__rowkind(spec) %}
  {%- do return(adapter.quote(spec.options['rowkind.field'])) -%}
{% endmacro %}

{#- Create the table of deletes, or change its column types to those of the table. -#}
{% macro paimon__make_deletes_ready(deletes, spec, kept) %}
  {%- if load_cached_relation(deletes) is none -%}
    {%- do paimon__create_deletes(deletes, spec, kept) -%}
  {%- else -%}
    {%- do adapter.deletes.migrate(deletes, kept) -%}
    {%- for column in kept.retype -%}
      {%- do paimon__alter_column_type(deletes, column.name, column.data_type) -%}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__create_deletes(deletes, spec, kept) %}
  {%- call statement('create_deletes') -%}
create table if not exists {{ deletes.render() }} (
  {%- for column in kept.columns %}
  {{ adapter.quote(column.name) }} {{ column.data_type }} not null{{ ',' if not loop.last }}
  {%- endfor %}
)
using paimon
comment 'The deletes that dbt has applied to {{ this.identifier | replace("'", "") }}: changes older than these come too late.'
tblproperties (
  'primary-key' = {{ adapter.string_literal(spec.primary_key | join(',')) }},
  'sequence.field' = {{ adapter.string_literal(spec.sequence_columns | join(',')) }},
  {{ adapter.deletes.version_option_sql() }}
)
  {%- endcall -%}
  {%- do adapter.cache_added(deletes) -%}
{% endmacro %}

{% macro paimon__keep_deletes(deletes, spec, kept, source, overwrite=false) %}
  {%- call statement('keep_deletes') -%}
    {{ paimon__keep_deletes_sql(deletes, spec, kept, source, overwrite) }}
  {%- endcall -%}
{% endmacro %}

{% macro paimon__keep_deletes_sql(deletes, spec, kept, source, overwrite=false) -%}
{%- set names = paimon__quoted_names(kept.columns) | join(', ') -%}
insert {{ 'overwrite' if overwrite else 'into' }} {{ deletes.render() }} ({{ names }})
select {{ names }}
from {{ source }}
where {{ paimon__rowkind(spec) }} = '-D'
{%- endmacro %}
