{#- The journal of an environment (see the Python module dbt_paimon.env.journal): one row, which one commit replaces. -#}
{% macro paimon__write_journal(journal, content, options) %}
  {%- call statement('create_journal') -%}
    create table if not exists {{ journal.render() }} (content string) using paimon tblproperties ({{ options }})
  {%- endcall -%}
  {%- call statement('write_journal') -%}
    insert overwrite {{ journal.render() }} select {{ adapter.string_literal(content) }}
  {%- endcall -%}
{% endmacro %}

{#- A view with the rows of production's relation. -#}
{% macro paimon__environment_view(view, original) %}
  {%- call statement('create_view') -%}
    {{ create_view_as(view, 'select * from ' ~ original.render()) }}
  {%- endcall -%}
{% endmacro %}

{#- The query of a promoted node: its complete rows in the environment. -#}
{% macro paimon__promoted_rows(original) -%}
select * from {{ original.render() }}
{%- endmacro %}
