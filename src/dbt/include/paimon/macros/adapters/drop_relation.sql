{% macro paimon__drop_relation(relation) -%}
  {%- call statement('drop_relation', auto_begin=False) -%}
    drop {{ 'view' if relation.is_view else 'table' }} if exists {{ relation.render() }}
  {%- endcall -%}
  {%- if relation.is_view -%}
    {%- do adapter.views.forget(relation) -%}
  {%- endif -%}
{%- endmacro %}
