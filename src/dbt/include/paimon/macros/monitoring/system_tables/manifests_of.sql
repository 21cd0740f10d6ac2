{#- The manifests of the newest table snapshot. -#}
{% macro manifests_of(relation) -%}
  {{- adapter.health.system_table(relation, 'manifests') -}}
{%- endmacro %}
