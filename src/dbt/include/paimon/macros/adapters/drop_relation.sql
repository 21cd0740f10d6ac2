{#- A view that `dbt clone` made takes its branch along. -#}
{% macro paimon__drop_relation(relation) -%}
  {%- set branch = adapter.clones.behind(relation) -%}
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
