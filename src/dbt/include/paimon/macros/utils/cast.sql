{#-
  Fails where safe_cast would return NULL. Without ANSI mode, Spark casts 300 to a tinyint as 44, and 'abc' to an int as
  NULL. Casts to strings, binary and nested types are not checked.
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
