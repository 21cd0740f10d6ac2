{#-
  An input of a `streaming` model, after FROM. Elsewhere (`dbt show`), it is the relation with all rows as `+I`; in a unit
  test, the test's rows.
-#}
{% macro stream(relation, options={}, row_kind=none, scan_mode=none, watermark=none) -%}
  {%- do paimon__require_relation('stream', relation) -%}
  {%- set runs = paimon__builds_now() and model.resource_type == 'model' -%}
  {%- if not runs or model.config.materialized != 'streaming' -%}
    {%- if not execute or not row_kind or model.resource_type == 'unit_test' or paimon__source_node(relation).external -%}
      {%- do return(relation) -%}
    {%- endif -%}
    {%- set own = [row_kind | lower, '_snapshot'] -%}
    {%- set there = adapter.get_columns_in_relation(relation) if load_relation(relation) else [] -%}
    {%- set names = [] -%}
    {%- for column in there if column.name | lower not in own -%}{%- do names.append(column.quoted) -%}{%- endfor -%}
    {%- set sql -%}
(
select {{ names | join(', ') or '*' }}, '+I' as {{ adapter.quote(row_kind) }}, cast(0 as bigint) as {{ adapter.quote('_snapshot') }}
from {{ relation }}
)
    {%- endset -%}
    {%- do return(sql) -%}
  {%- endif -%}
  {%- do return(adapter.streams.view(
    model, relation, source=paimon__source_node(relation), options=options, row_kind=row_kind, scan_mode=scan_mode,
    watermark=watermark
  )) -%}
{%- endmacro %}

{#- The relation's source in the manifest; {} for a ref(). -#}
{% macro paimon__source_node(relation) %}
  {%- set found = paimon__sources_of(relation) | selectattr('unique_id', 'in', model.depends_on.nodes) | list -%}
  {%- do return(found[0] if found else {}) -%}
{% endmacro %}

{% macro paimon__sources_of(relation) %}
  {%- do return(graph.sources.values() | selectattr('database', 'equalto', relation.database)
    | selectattr('schema', 'equalto', relation.schema) | selectattr('identifier', 'equalto', relation.identifier) | list) -%}
{% endmacro %}
