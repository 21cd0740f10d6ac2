{% macro manifests_of(relation) -%}
  {{- adapter.health.system_table(relation, 'manifests') -}}
{%- endmacro %}
