{#- Also drops the branch of a view that `dbt clone` made. -#}
{% macro paimon__drop_relation(relation) -%}
  {%- if relation.is_view and not relation.schema -%}
    {#-
      Materializations of packages drop temporary views with this macro. In catalogs without views, `drop view if
      exists` fails if the view does not exist. So create it first.
    -#}
    {%- call statement('drop_relation_first', auto_begin=False) -%}
      create or replace temporary view {{ adapter.quote(relation.identifier) }} as select 1 as dropped
    {%- endcall -%}
  {%- endif -%}
  {%- set branch = adapter.clones.behind(relation) if relation.schema else none -%}
  {%- call statement('drop_relation', auto_begin=False) -%}
    drop {{ 'view' if relation.is_view else 'table' }} if exists {{ relation.render() }}
  {%- endcall -%}
  {%- if relation.is_view -%}
    {%- do adapter.views.forget(relation) -%}
  {%- endif -%}
  {%- if branch is not none -%}
    {%- do adapter.clones.end(branch) -%}
  {%- endif -%}
{%- endmacro %}
