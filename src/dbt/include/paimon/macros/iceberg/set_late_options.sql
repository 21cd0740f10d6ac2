{#-
  Set the options of a new table that need its final name (see TableSpec.late_options), if it lacks them. A run that dies
  before it has left them to the next one.

  target: relation of type table, complete; spec: see adapter.specs.of.
-#}
{% macro paimon__set_late_options(target, spec) %}
  {%- if spec.late_options -%}
    {%- set there = adapter.tables.existing(target).options -%}
    {%- set missing = adapter.tables.missing_options(spec.late_options, there) -%}
    {%- if missing -%}
      {%- do paimon__set_options(target, missing) -%}
      {%- do adapter.tables.commit_metadata(target) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
