{#-
  apply_changes: rows that say what happened (config rowkind_field: insert, update or delete) are applied to the rows of
  their keys, in the order of sequence_field, in one INSERT: Paimon makes a delete of a row whose kind is `-D`, and
  keeps of a key the change with the greatest sequence, whenever it comes.

  A delete leaves nothing once Paimon has compacted it away, and an older change that comes after that would bring the
  row back. So the keys and sequences of all deletes are kept beside the table, in `<table>__dbt_deletes`, of a stream in
  `<table>__<stream>__dbt_deletes`: a full refresh begins with none, and its own come with the table. They are
  written before the table, so that a run that dies in between has only forgotten what its next run brings again.
-#}
{% macro get_incremental_apply_changes_sql(arg_dict) %}
  {%- set target, spec, source = arg_dict.target_relation, arg_dict.spec, arg_dict.temp_relation -%}
  {%- set deletes = adapter.deletes_relation(model, target) -%}
  {%- if load_cached_relation(deletes) is none -%}
    {%- do paimon__create_deletes(deletes, spec, source) -%}
  {%- elif not paimon__deletes_fit(deletes, spec, source) -%}
    {%- do exceptions.raise_compiler_error(
      "model '" ~ model.name ~ "': " ~ deletes ~ ", which keeps the deletes of the table, has not the columns of its "
      ~ "primary_key and sequence_field. Run the model once with --full-refresh over all changes."
    ) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_names(arg_dict.dest_columns) -%}
  {%- set keys = paimon__quoted_key(spec.primary_key) -%}
  {%- set order = paimon__quoted_key(adapter.sequence_columns(spec)) -%}
  {%- set sql -%}
{{ paimon__keep_deletes_sql(deletes, spec, source) }};

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

{#- A table's first rows, or all of them anew: what the changes leave. Of older runs, nothing counts any more. -#}
{% macro paimon__build_from_changes(target, existing, spec, source) %}
  {%- set spec = adapter.check_columns(model, spec, adapter.wanted_columns(source.columns, model, spec)) -%}
  {%- set deletes = adapter.deletes_relation(model, target) -%}
  {%- set kept = load_cached_relation(deletes) -%}
  {%- set fits = kept is not none and paimon__deletes_fit(deletes, spec, source) -%}
  {%- if kept is none -%}
    {%- do paimon__create_deletes(deletes, spec, source) -%}
  {%- endif -%}
  {%- if kept is none or fits -%}
    {%- do paimon__keep_deletes(deletes, spec, source) -%}
  {%- endif -%}
  {%- do paimon__build_table(target, existing, spec, source) -%}
  {%- if fits -%}
    {%- do paimon__keep_deletes(deletes, spec, source, overwrite=true) -%}
  {%- elif kept is not none -%}
    {#- Those of another key or order say nothing of the table that now stands. -#}
    {%- do adapter.drop_relation(kept) -%}
    {%- do paimon__create_deletes(deletes, spec, source) -%}
    {%- do paimon__keep_deletes(deletes, spec, source) -%}
  {%- endif -%}
{% endmacro %}

{#- The change rows, checked and read once: the deletes and the table have to see the same ones. -#}
{% macro paimon__stage_changes(target, source, spec) %}
  {%- set sql = adapter.change_rows_sql(source, spec, model) -%}
  {%- if sql is none -%}
    {%- do return(source) -%}
  {%- endif -%}
  {%- set view = make_temp_relation(target).identifier -%}
  {%- call statement('stage_changes') -%}
    cache table {{ adapter.quote(view) }} as
    {{ sql }}
  {%- endcall -%}
  {%- do return(adapter.staged_query(view)) -%}
{% endmacro %}

{% macro paimon__rowkind(spec) %}
  {%- do return(adapter.quote(spec.options['rowkind.field'])) -%}
{% endmacro %}

{#- The columns of a table of deletes: the key, and the order. -#}
{% macro paimon__deletes_columns(spec, source) %}
  {%- set columns = [] -%}
  {%- for name in (spec.primary_key | list) + (adapter.sequence_columns(spec) | list) -%}
    {%- for column in source.columns if column.name | lower == name | lower and column not in columns -%}
      {%- do columns.append(column) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}

{% macro paimon__deletes_fit(deletes, spec, source) %}
  {%- set current = adapter.existing_table(deletes) -%}
  {%- set there = current.columns | map(attribute='name') | map('lower') | list -%}
  {%- set wanted = paimon__deletes_columns(spec, source) | map(attribute='name') | map('lower') | list -%}
  {%- set key = spec.primary_key | map('lower') | list -%}
  {%- do return(current.primary_key | map('lower') | list == key and there == wanted) -%}
{% endmacro %}

{% macro paimon__create_deletes(deletes, spec, source) %}
  {%- call statement('create_deletes') -%}
create table if not exists {{ deletes.render() }} (
  {%- for column in paimon__deletes_columns(spec, source) %}
  {{ column.quoted }} {{ column.dtype }} not null{{ ',' if not loop.last }}
  {%- endfor %}
)
using paimon
comment 'The deletes that dbt has applied to {{ this.identifier | replace("'", "") }}: changes older than these come too late.'
tblproperties (
  'primary-key' = {{ adapter.string_literal(spec.primary_key | join(',')) }},
  'sequence.field' = {{ adapter.string_literal(adapter.sequence_columns(spec) | join(',')) }}
)
  {%- endcall -%}
  {%- do adapter.cache_added(deletes) -%}
{% endmacro %}

{% macro paimon__keep_deletes(deletes, spec, source, overwrite=false) %}
  {%- call statement('keep_deletes') -%}
    {{ paimon__keep_deletes_sql(deletes, spec, source, overwrite) }}
  {%- endcall -%}
{% endmacro %}

{% macro paimon__keep_deletes_sql(deletes, spec, source, overwrite=false) -%}
{%- set names = paimon__quoted_names(paimon__deletes_columns(spec, source)) | join(', ') -%}
insert {{ 'overwrite' if overwrite else 'into' }} {{ deletes.render() }} ({{ names }})
select {{ names }}
from {{ source }}
where {{ paimon__rowkind(spec) }} = '-D'
{%- endmacro %}
