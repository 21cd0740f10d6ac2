{% macro manifests_of(relation) -%}
  {{- system_table(relation, 'manifests') -}}
{%- endmacro %}
