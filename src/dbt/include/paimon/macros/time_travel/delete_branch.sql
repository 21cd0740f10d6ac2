{#- Delete a branch; its data files are left for remove_orphan_files. -#}
{% macro delete_branch(relation, branch) -%}
  {%- do return(paimon__call_procedure('delete_branch', relation, {'branch': branch})) -%}
{%- endmacro %}
