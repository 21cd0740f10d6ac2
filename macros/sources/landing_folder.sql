{#- The folder that `make venv` and `make landing` fill, as Spark finds it: the environment variable FLIGHTS_DATA (any
    URL that Spark reads; a Spark server needs it, because it runs in another folder), or `target/landing` in the
    project. -#}
{% macro landing_folder() -%}
    {{ env_var('FLIGHTS_DATA', 'target/landing') }}
{%- endmacro %}
