{#- A layer (`+schema` in dbt_project.yml) is a schema named <schema of the target>_<layer>, so that two people, or
    a test run and a deployment, never write the same tables. A node without a layer lands in the target's schema. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- if custom_schema_name is none -%}
        {{ target.schema | trim }}
    {%- else -%}
        {{ target.schema | trim }}_{{ custom_schema_name | trim | lower }}
    {%- endif -%}
{%- endmacro %}
