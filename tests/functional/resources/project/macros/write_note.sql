{% macro write_note(text) %}
{% do run_query("insert into " ~ target.schema ~ ".runs values (" ~ dbt.string_literal(dbt.escape_single_quotes(text)) ~ ")") %}
{% endmacro %}
