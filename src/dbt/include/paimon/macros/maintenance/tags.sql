{#- Tag a table snapshot. -#}
{% macro create_tag(relation, tag, snapshot=none, time_retained=none) -%}
  {%- do return(paimon__call_procedure('create_tag', relation, {
    'tag': tag,
    'snapshot': snapshot,
    'time_retained': time_retained
  })) -%}
{%- endmacro %}

{#- Delete a tag. -#}
{% macro delete_tag(relation, tag) -%}
  {%- do return(paimon__call_procedure('delete_tag', relation, {'tag': tag})) -%}
{%- endmacro %}
