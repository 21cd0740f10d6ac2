{% materialization seed, adapter='paimon' %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set spec = adapter.specs.of(model) -%}
  {%- set agate_table = adapter.rows.load_seed(model) -%}
  {%- set existing_relation = paimon__load_existing(target_relation) -%}
  {%- if existing_relation is not none and existing_relation.is_view -%}
    {{ exceptions.raise_compiler_error("Cannot seed to '" ~ existing_relation ~ "', it is a view") }}
  {%- endif -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}
  {%- if paimon__reuse(target_relation, existing_relation, spec, rows=agate_table) -%}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set view = make_temp_relation(target_relation).identifier -%}
  {%- do adapter.rows.stage_seed(view, agate_table, model) -%}
  {%- set source = adapter.rows.staged(view) -%}
  {%- set spec = adapter.specs.spelled(spec, source.columns) -%}
  {%- set source = adapter.rows.ordered(source, spec, model) -%}
  {%- do paimon__build_table(target_relation, existing_relation, spec, source) -%}
  {%- do paimon__drop_staged(source) -%}
  {%- do paimon__tag_run(target_relation, spec) -%}
  {%- do adapter.unchanged.note(model) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(target_relation, spec) -%}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
