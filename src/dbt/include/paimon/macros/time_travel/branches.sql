{#- Create a branch. It can only start at a tag, so a table snapshot is tagged first. -#}
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

{#- Delete a branch. -#}
{% macro delete_branch(relation, branch) -%}
  {%- do return(paimon__call_procedure('delete_branch', relation, {'branch': branch})) -%}
{%- endmacro %}

{#- Set a table to the state of its branch. Refused without `discard` if this would lose commits or tags. -#}
{% macro fast_forward(relation, branch, discard=false) -%}
  {%- if execute -%}
    {%- do adapter.operations.check_fast_forward(paimon__named_relation(relation), branch, discard) -%}
  {%- endif -%}
  {%- do return(paimon__call_procedure('fast_forward', relation, {'branch': branch})) -%}
{%- endmacro %}
