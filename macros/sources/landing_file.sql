{#- A subquery that reads one file of the source `landing` with the columns and types its YAML states.

    A CSV is read in place; `NA` is a null. A zip is read by Spark as one binary value and unpacked by a Python of the
    machine that runs the task ($PYSPARK_PYTHON, or python3), because Spark has no codec for zip; nothing is copied.
    In a unit test the given rows take the file's place. -#}
{% macro landing_file(table_name) %}
    {%- set relation = source('landing', table_name) -%}
    {%- if not execute or relation.is_cte -%}
        {{ relation }}
    {%- else -%}
        {%- set found = [] -%}
        {%- for node in graph.sources.values() if node.source_name == 'landing' and node.name == table_name -%}
            {%- do found.append(node) -%}
        {%- endfor -%}
        {%- set node = found[0] -%}
        {%- set columns = node.columns.values() | list -%}
        {%- set schema = [] -%}
        {%- for column in columns -%}
            {%- do schema.append(column.name ~ ' ' ~ column.data_type) -%}
        {%- endfor -%}
        (
            select row.*
            from (
                select from_csv(line, '{{ schema | join(", ") }}', map('nullValue', 'NA')) as row
                from {{ landing_lines(node.meta.file) }}
                where not startswith(line, '{{ columns[0].name }},')
            )
        )
    {%- endif -%}
{% endmacro %}


{#- The lines of a file, header included, as a subquery with the column `line`. -#}
{% macro landing_lines(file) -%}
    {%- set path = landing_folder() ~ '/' ~ file -%}
    {%- if file.endswith('.zip') -%}
        {%- set unzip -%}
            import base64, io, sys, zipfile; z = zipfile.ZipFile(io.BytesIO(base64.b64decode(sys.stdin.read()))); sys.stdout.write(z.read(z.namelist()[0]).decode())
        {%- endset -%}
        (
                    select transform (base64(content)) using '${PYSPARK_PYTHON:-python3} -c "{{ unzip }}"' as (line string)
                    from binaryfile.`{{ path }}`
                )
    {%- else -%}
        (select value as line from text.`{{ path }}`)
    {%- endif -%}
{%- endmacro %}
