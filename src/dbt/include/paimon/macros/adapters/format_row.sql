{#-
  A row of a unit test. Checks values like those of seeds: dbt would cast 300 to a tinyint as 44. All rows have their columns
  in the same order, because dbt compares them by position.
-#}
{% macro format_row(row, column_name_to_data_types) %}
  {%- do return(adapter.rows.fixture_row(row, column_name_to_data_types, model)) -%}
{% endmacro %}
