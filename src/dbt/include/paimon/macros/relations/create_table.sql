{#- Create an empty table. columns: see `Tables.wanted_columns`; spec: see `Specs.of`. -#}
{% macro paimon__create_table_sql(relation, columns, spec, comment='') -%}
create table {{ relation.render() }} ({{ paimon__columns_ddl(columns) }}
)
using paimon
{{- paimon__table_clauses(spec, comment) }}
{%- endmacro %}

{% macro paimon__table_clauses(spec, comment) -%}
{%- if spec.partition_by %}
partitioned by ({{ paimon__quoted(spec.partition_by) | join(', ') }})
{%- endif %}
{%- if comment %}
comment {{ adapter.string_literal(comment) }}
{%- endif %}
{%- set properties = spec.properties %}
{%- if properties %}
tblproperties (
  {%- for name, value in properties.items() %}
  {{ adapter.string_literal(name) }} = {{ adapter.string_literal(value) }}{{ ',' if not loop.last }}
  {%- endfor %}
)
{%- endif %}
{%- endmacro %}
