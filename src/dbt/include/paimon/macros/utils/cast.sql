{#-
  dbt's cast fails where safe_cast is NULL. Without ANSI mode, Spark's turns 300 into 44 as a tinyint, and 'abc' into NULL as
  an int. What becomes text or a nested type is cast as it is.
-#}
{% macro paimon__cast(field, type) -%}
  {%- set unchecked = modules.re.match('(?i)\\s*(string|varchar|char|binary|array|map|struct)', type) -%}
  {%- if unchecked or not adapter.behavior.require_lossless_casts.no_warn -%}
    cast({{ field }} as {{ type }})
  {%- else -%}
    {%- set message = "concat('cast: ', cast(" ~ field ~ " as string), ' is not a valid " ~ type ~ "')" -%}
    coalesce({{ paimon__safe_cast(field, type) }}, if(({{ field }}) is null, null, raise_error({{ message }})))
  {%- endif -%}
{%- endmacro %}
