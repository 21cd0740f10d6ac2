{#- Delete a branch. -#}
{% macro delete_branch(relation, branch) -%}
  {%- do return(paimon__call_procedure('delete_branch', relation, {'branch': branch})) -%}
{%- endmacro %}
