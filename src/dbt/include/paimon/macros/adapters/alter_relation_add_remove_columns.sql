{% macro paimon__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {%- if add_columns -%}
    {%- call statement('add_columns') -%}
      alter table {{ relation.render() }} add columns (
        {%- for column in add_columns %}
        {{ column.quoted }} {{ 'string' if column.data_type == 'void' else column.data_type }}{{ ',' if not loop.last }}
        {%- endfor %}
      )
    {%- endcall -%}
  {%- endif -%}
  {%- do paimon__drop_columns(relation, (remove_columns or []) | map(attribute='name') | list) -%}
{% endmacro %}

{% macro paimon__create_columns(relation, columns) %}
  {%- do paimon__alter_relation_add_remove_columns(relation, columns, []) -%}
{% endmacro %}
