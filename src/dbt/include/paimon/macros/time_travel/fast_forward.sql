{#-
  Make a table what its branch is. Refused where the table has got commits or tags that the branch has not, which would
  be gone, unless discard is true.
-#}
{% macro fast_forward(relation, branch, discard=false) -%}
  {%- if execute and not discard -%}
    {%- do adapter.refuse_lossy_fast_forward(paimon__named_relation(relation), branch) -%}
  {%- endif -%}
  {%- do return(paimon__call_procedure('fast_forward', relation, {'branch': branch})) -%}
{%- endmacro %}
