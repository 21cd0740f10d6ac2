{#- Write the journal of an environment (see dbt_paimon.env.journal): a single row, replaced in one commit. -#}
{% macro paimon__write_journal(journal, content, options) %}
  {%- call statement('create_journal') -%}
    create table if not exists {{ journal.render() }} (content string) using paimon tblproperties ({{ options }})
  {%- endcall -%}
  {%- call statement('write_journal') -%}
    insert overwrite {{ journal.render() }} select {{ adapter.string_literal(content) }}
  {%- endcall -%}
{% endmacro %}

{#- Create a view that selects from production's relation. -#}
{% macro paimon__environment_view(view, original) %}
  {%- call statement('create_view') -%}
    {{ create_view_as(view, 'select * from ' ~ original.render()) }}
  {%- endcall -%}
{% endmacro %}

{#- The query with which a promotion writes a node: all rows of the node's relation in the environment. -#}
{% macro paimon__promoted_rows(original) -%}
select * from {{ original.render() }}
{%- endmacro %}
