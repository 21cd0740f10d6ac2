{#- Set a table to the state of its branch. Refused if the table has commits or tags that the branch does not have. -#}
{% macro fast_forward(relation, branch, discard=false) -%}
  {%- if execute -%}
    {%- do adapter.operations.check_fast_forward(paimon__named_relation(relation), branch, discard) -%}
  {%- endif -%}
  {%- do return(paimon__call_procedure('fast_forward', relation, {'branch': branch})) -%}
{%- endmacro %}
