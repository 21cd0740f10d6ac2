{% macro paimon__rename_relation(from_relation, to_relation) -%}
  {%- if from_relation.is_view -%}
    {%- do exceptions.raise_database_error(
      'Cannot rename ' ~ from_relation ~ ': a view is replaced in place, never renamed.'
    ) -%}
  {%- endif -%}
  {%- call statement('rename_relation') -%}
    alter table {{ from_relation.render() }} rename to {{ to_relation.in_catalog }}
  {%- endcall -%}
{%- endmacro %}
