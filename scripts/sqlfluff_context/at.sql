{#- The adapter's at() for sqlfluff's jinja templater. -#}
{% macro at(relation) %}{{ relation }}{% if kwargs %}{% endif %}{% endmacro %}
