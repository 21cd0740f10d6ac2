{#-
  apply_changes: applies rows with a row kind (config rowkind_field: insert, update or delete) to the rows with the same
  key, in one INSERT. Paimon treats a row of kind `-D` as a delete. For each key the change with the highest
  sequence_field wins, regardless of arrival order.

  Compaction removes deletes, so an older change that arrives later would bring the row back. So the keys and sequences
  of all deletes are kept in `<table>__dbt_deletes`, or in `<table>__<stream>__dbt_deletes` for a stream, because a full
  refresh starts a new stream. The deletes are written before the main table: if a run is killed in between, the next
  run repeats them.
-#}
{% macro get_incremental_apply_changes_sql(arg_dict) %}
  {%- set target, spec, source = arg_dict.target_relation, arg_dict.spec, arg_dict.temp_relation -%}
  {%- set kept = arg_dict.kept_deletes -%}
  {%- set names = paimon__quoted_columns(arg_dict.dest_columns) -%}
  {%- set order = paimon__quoted(spec.sequence_columns) -%}
  {%- set sql -%}
{{ paimon__keep_deletes_sql(spec, kept, source) }};

insert into {{ target.render() }} ({{ names | join(', ') }})
select {{ names | join(', ') }}
from {{ source }} as __dbt_changes
left anti join {{ kept.relation.render() }} as __dbt_deletes
  on {{ paimon__same_columns('__dbt_deletes', '__dbt_changes', spec.primary_key) }} and __dbt_changes.{{ paimon__rowkind(spec) }} <> '-D'
  and struct({% for name in order %}__dbt_deletes.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
   >= struct({% for name in order %}__dbt_changes.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{% macro paimon__rowkind(spec) %}
  {%- do return(adapter.quote(spec.options['rowkind.field'])) -%}
{% endmacro %}

{#- Create the table of deletes. -#}
{% macro paimon__create_deletes(spec, kept) %}
  {%- call statement('create_deletes') -%}
create table if not exists {{ kept.relation.render() }} (
  {%- for column in kept.columns %}
  {{ adapter.quote(column.name) }} {{ column.data_type }} not null{{ ',' if not loop.last }}
  {%- endfor %}
)
using paimon
comment {{ adapter.string_literal('The deletes that dbt has applied to ' ~ this.identifier ~ ': changes older than these come too late.') }}
tblproperties (
  'primary-key' = {{ adapter.string_literal(spec.primary_key | join(',')) }},
  'sequence.field' = {{ adapter.string_literal(spec.sequence_columns | join(',')) }},
  {{ kept.version_option }}
)
  {%- endcall -%}
{% endmacro %}

{% macro paimon__keep_deletes_sql(spec, kept, source, overwrite=false) -%}
{%- set names = paimon__quoted_columns(kept.columns) | join(', ') -%}
insert {{ 'overwrite' if overwrite else 'into' }} {{ kept.relation.render() }} ({{ names }})
select {{ names }}
from {{ source }}
where {{ paimon__rowkind(spec) }} = '-D'
{%- endmacro %}
