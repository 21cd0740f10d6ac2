{#-
  For audit_helper.compare_and_classify_query_results: Spark has no set operations on maps, so columns with one are
  compared, and shown, as JSON. Everything else is the package's default. Found by the search order of `dispatch.py`
  (docs/packages.md).
-#}
{% macro paimon___generate_set_results(a_query, b_query, primary_key_columns, columns, event_time_props) %}
  {%- set maps = [] -%}
  {%- if execute -%}
    {%- for query in [a_query, b_query] -%}
      {%- for column in get_column_schema_from_query(query) if 'map<' in column.data_type | lower -%}
        {%- do maps.append(column.name | lower) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
  {%- if maps -%}
    {%- set wanted = columns + ([event_time_props['event_time']] if event_time_props else []) -%}
    {%- set selected = [] -%}
    {%- for column in wanted | unique -%}
      {%- set is_map = column | lower | replace('`', '') in maps -%}
      {%- do selected.append("to_json(" ~ column ~ ") as " ~ column if is_map else column) -%}
    {%- endfor -%}
    {%- set as_json = "select " ~ selected | join(', ') ~ " from (" -%}
    {%- set a_query = as_json ~ a_query ~ ") as with_maps" -%}
    {%- set b_query = as_json ~ b_query ~ ") as with_maps" -%}
  {%- endif -%}
  {{ audit_helper.default___generate_set_results(a_query, b_query, primary_key_columns, columns, event_time_props) }}
{% endmacro %}
