{#-
  Runs after a model's rows are committed: stores its positions in the tables whose changes it reads (see the Python
  module changes.positions), and drops the tags that it no longer needs.
-#}
{% macro paimon__keep_positions(target) %}
  {%- set kept = paimon__positions_relation(target) -%}
  {%- do adapter.changes.migrate_positions(model, kept) -%}
  {%- set sql = adapter.changes.keep_positions_sql(model, kept) -%}
  {%- if sql -%}
    {%- if load_cached_relation(kept) is none -%}
      {%- call statement('create_positions') -%}{{ adapter.changes.positions_table_sql(kept) }}{%- endcall -%}
      {%- do adapter.cache_added(kept) -%}
    {%- endif -%}
    {%- call statement('keep_positions') -%}{{ sql }}{%- endcall -%}
  {%- endif -%}
  {%- for tag in adapter.changes.tags_to_drop(model) -%}
    {%- call statement('drop_tag') -%}{{ delete_tag(tag.source, tag.name) }}{%- endcall -%}
  {%- endfor -%}
  {%- do adapter.changes.forget(model) -%}
{% endmacro %}

{% macro paimon__positions_relation(target) %}
  {%- do return(target.incorporate(path={'identifier': target.identifier ~ '__dbt_changes'}, type='table')) -%}
{% endmacro %}
