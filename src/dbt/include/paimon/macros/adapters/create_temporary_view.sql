{% macro spark__create_temporary_view(relation, compiled_code) -%}
create or replace temporary view {{ adapter.quote(relation.identifier) }} as
{{ compiled_code }}
{%- endmacro %}
