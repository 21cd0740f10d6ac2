{#- Create a branch. To start at a table snapshot, it needs a tag on that. -#}
{% macro create_branch(relation, branch, tag=none, snapshot=none) -%}
  {%- if tag is not none and snapshot is not none -%}
    {%- do exceptions.raise_compiler_error('create_branch on ' ~ relation ~ ': give tag or snapshot, not both.') -%}
  {%- endif -%}
  {%- if snapshot is none -%}
    {%- do return(paimon__call_procedure('create_branch', relation, {'branch': branch, 'tag': tag})) -%}
  {%- endif -%}
  {%- set tagged = create_tag(relation, 'branch_' ~ branch, snapshot) -%}
  {%- set branched = paimon__call_procedure('create_branch', relation, {'branch': branch, 'tag': 'branch_' ~ branch}) -%}
  {%- do return(tagged ~ ';\n' ~ branched) -%}
{%- endmacro %}
