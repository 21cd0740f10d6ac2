{#- Delete a tag; its table snapshot expires with the others. -#}
{% macro delete_tag(relation, tag) -%}
  {%- do return(paimon__call_procedure('delete_tag', relation, {'tag': tag})) -%}
{%- endmacro %}
