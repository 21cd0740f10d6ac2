{% materialization view, adapter='paimon' %}
  {%- do adapter.specs.check_node(model) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- do paimon__run_sql_header() -%}
  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
    {%- set sql = paimon__spelled_query(sql) -%}
  {%- endif -%}
  {%- do adapter.runs.create_view(context, sql) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}
