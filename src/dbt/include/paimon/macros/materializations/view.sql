{% materialization view, adapter='paimon' %}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- do adapter.specs.check_node(model) -%}
  {%- set branch = adapter.clones.behind(existing_relation) if existing_relation is not none -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- do paimon__run_sql_header() -%}
  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
    {%- set sql = paimon__spelled_query(sql) -%}
  {%- endif -%}
  {%- do adapter.views.ensure_schema(target_relation) -%}
  {%- set definition = adapter.views.definition(target_relation, sql, model) -%}
  {%- call statement('main') -%}
    {{ adapter.views.create_sql(target_relation, definition) }}
  {%- endcall -%}
  {%- do adapter.views.remember(definition) -%}
  {%- do adapter.rows.warn_of_quoted_names(model, sql) -%}
  {%- if branch -%}
    {%- do adapter.clones.end(branch) -%}
  {%- endif -%}
  {#- Drops the table that the model was before, once the view exists. -#}
  {%- if existing_relation is not none and existing_relation.is_table -%}
    {%- do adapter.drop_relation(existing_relation) -%}
  {%- endif -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
