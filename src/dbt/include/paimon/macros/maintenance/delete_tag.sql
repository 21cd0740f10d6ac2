{#- Delete a tag. -#}
{% macro delete_tag(relation, tag) -%}
  {%- do return(paimon__call_procedure('delete_tag', relation, {'tag': tag})) -%}
{%- endmacro %}
