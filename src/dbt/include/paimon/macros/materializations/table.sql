{% materialization table, adapter='paimon', supported_languages=['sql', 'python'] %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set spec = adapter.specs.of(model) -%}
  {%- set existing_relation = paimon__load_existing(target_relation) -%}
  {%- if paimon__reuse(target_relation, existing_relation, spec) -%}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set source = paimon__model_query(target_relation, compiled_code, model['language']) -%}
  {%- set spec = adapter.specs.spelled(spec, source.columns) -%}
  {%- set source = adapter.rows.ordered(source, spec, model) -%}
  {%- do paimon__build_table(target_relation, existing_relation, spec, source) -%}
  {%- do paimon__drop_staged(source) -%}
  {%- do paimon__drop_if_view(existing_relation) -%}
  {%- do paimon__tag_run(target_relation, spec) -%}
  {%- do adapter.unchanged.note(model) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(target_relation, spec) -%}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{#- Drops the view that the model was before, once the table is complete. -#}
{% macro paimon__drop_if_view(existing) %}
  {%- if existing is not none and existing.is_view -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
{% endmacro %}
