{#- Macros of dbt that materializations of packages call. Spark cannot parse those of dbt, which end with `cascade`. -#}
{% macro paimon__drop_view(relation) -%}
  {#- A forgotten view is rendered in another catalog, so render it first. -#}
  {%- set name = relation.render() -%}
  {%- do adapter.views.forget(relation) -%}
drop view if exists {{ name }}
{%- endmacro %}

{% macro paimon__drop_table(relation) -%}
drop table if exists {{ relation.render() }}
{%- endmacro %}

{% macro paimon__get_rename_table_sql(relation, new_name) -%}
alter table {{ relation.render() }} rename to {{ relation.incorporate(path={'identifier': new_name}).in_catalog }}
{%- endmacro %}

{#-
  dbt has this macro with the arguments (target, source, columns), and dbt-spark with (source, target), which hides dbt's. Both
  work here. Neither dispatches it, so it is redefined by name.
-#}
{% macro get_insert_into_sql(source_relation, target_relation, dest_columns=none) -%}
  {%- if dest_columns is not none -%}
    {{ paimon__insert_sql(source_relation, dest_columns, target_relation) }}
  {%- else -%}
    {{ paimon__insert_sql(target_relation, adapter.get_columns_in_relation(target_relation), source_relation) }}
  {%- endif -%}
{%- endmacro %}

{#- dbt-spark's macro writes no comment of the table. A view has the comments with which it was created. -#}
{% macro paimon__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- if not relation.is_view -%}
    {%- do default__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- endif -%}
{%- endmacro %}
