{% macro paimon__alter_column_comment(relation, column_dict) %}
  {%- for column_name in column_dict -%}
    {%- do paimon__comment_on_column(relation, column_name, column_dict[column_name]['description']) -%}
  {%- endfor -%}
{% endmacro %}

{% macro paimon__comment_on_column(relation, column_name, comment) %}
  {%- call statement('comment_on_column') -%}
    alter table {{ relation.render() }} alter column {{ adapter.quote(column_name) }} comment {{ adapter.string_literal(comment) }}
  {%- endcall -%}
{% endmacro %}
