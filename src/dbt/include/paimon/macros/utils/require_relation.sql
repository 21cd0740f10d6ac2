{#- Refuse a name instead of a relation: dbt needs ref() or source() for lineage. -#}
{% macro paimon__require_relation(called, relation) -%}
  {%- if execute and relation is string -%}
    {%- do exceptions.raise_compiler_error(
      called ~ "('" ~ relation ~ "'): give ref('" ~ relation ~ "') or a source(), not a name."
    ) -%}
  {%- endif -%}
{%- endmacro %}
