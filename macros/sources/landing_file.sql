{#- A subquery that reads a CSV file, or a folder of JSON files, of the source `landing`, with the columns and types
    that its YAML states. In a CSV file, `NA` means NULL. A folder of folders `day=2013-01-01` also has a column `day`.
    In a unit test the given rows take the file's place. -#}
{% macro landing_file(table_name) %}
    {%- set relation = source('landing', table_name) -%}
    {%- if not execute or relation.is_cte -%}
        {{ relation }}
    {%- else -%}
        {%- set node = graph.sources.values()
            | selectattr('source_name', 'equalto', 'landing')
            | selectattr('name', 'equalto', table_name)
            | first -%}
        {%- set fields = [] -%}
        {%- for column in node.columns.values() if not column.meta.get('folder') -%}
            {%- do fields.append(column.name ~ ' ' ~ column.data_type) -%}
        {%- endfor -%}
        {%- set schema = fields | join(', ') -%}
        {%- set lines = 'text.`' ~ landing_folder() ~ '/' ~ node.meta.file ~ '`' -%}
        {%- if node.meta.file.endswith('.csv') -%}
        (
            select row.*
            from (
                select from_csv(value, '{{ schema }}', map('nullValue', 'NA')) as row
                from {{ lines }} -- if it is missing, type: make landing
                where not startswith(value, '{{ node.columns.values() | map(attribute="name") | first }},')
            )
        )
        {%- else -%}
        (
            select
                row.*,
                day
            from (
                select
                    from_json(value, '{{ schema }}') as row,
                    day
                from {{ lines }} -- if it is missing, type: make landing
            )
        )
        {%- endif -%}
    {%- endif -%}
{% endmacro %}
