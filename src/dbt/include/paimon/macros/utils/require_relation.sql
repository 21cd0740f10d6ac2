{#- Refuse a name where a relation is needed, because dbt's lineage comes from ref() and source(). -#}
{% macro paimon__require_relation(called, relation) -%}
  {%- if execute and relation is string -%}
    {%- do exceptions.raise_compiler_error(
      called ~ "('" ~ relation ~ "'): give ref('" ~ relation ~ "') or a source(), not a name."
    ) -%}
  {%- endif -%}
{%- endmacro %}
