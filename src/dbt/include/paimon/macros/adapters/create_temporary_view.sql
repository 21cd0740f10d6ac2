{#- dbt-spark's macro renders the whole relation, but a temporary view has no catalog and schema. -#}
{% macro spark__create_temporary_view(relation, compiled_code) -%}
create or replace temporary view {{ adapter.quote(relation.identifier) }} as
{{ compiled_code }}
{%- endmacro %}
