{#-
  `dbt clone`: a table of the state is copied to a table with the same keys, options, comments and rows; a view becomes
  a view over it.

  Paimon tables cannot share files, so a clone is one INSERT of the table's rows. A project that prefers views of
  everything defines `can_clone_table` to return false, as for every adapter.
-#}
{% materialization clone, adapter='paimon' %}
  {%- if not defer_relation -%}
    {{ log('No relation found in the state for ' ~ model.unique_id, info=true) }}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing_relation = paimon__load_existing(target_relation) -%}
  {%- if existing_relation and not flags.FULL_REFRESH -%}
    {{ log('Relation ' ~ existing_relation ~ ' already exists', info=true) }}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set original = load_cached_relation(defer_relation) -%}
  {%- if original is none or not original.is_table or not can_clone_table() -%}
    {{ return(materialization_view_paimon()) }}
  {%- endif -%}
  {%- if original == target_relation -%}
    {{ log('Target relation and defer relation are the same, skipping clone for relation: ' ~ target_relation) }}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}

  {%- do paimon__clone_table(target_relation, existing_relation, original) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{#-
  Copies the deletes of the original first (apply_changes): without them, older changes would bring rows back.
-#}
{% macro paimon__clone_table(target, existing, original) %}
  {%- if existing is not none and existing.is_view -%}
    {%- do adapter.cache_dropped(existing) -%}
  {%- endif -%}
  {%- set replaced = existing if existing is not none and existing.is_table else none -%}
  {%- set old_deletes = {} -%}
  {%- for deletes in adapter.deletes.relations(target) -%}
    {%- do old_deletes.update({deletes.identifier: deletes}) -%}
  {%- endfor -%}
  {%- for deletes in adapter.deletes.relations(original) -%}
    {%- set name = target.identifier ~ deletes.identifier[original.identifier | length:] -%}
    {%- do paimon__clone_rows(target.incorporate(path={'identifier': name}), old_deletes.pop(name, none), deletes) -%}
  {%- endfor -%}
  {%- do paimon__clone_rows(target, replaced, original) -%}
  {%- for deletes in old_deletes.values() -%}
    {%- do adapter.drop_relation(deletes) -%}
  {%- endfor -%}
  {%- do paimon__drop_if_view(existing) -%}
{% endmacro %}

{#- One table, built under a staging name first: the relation that it replaces (or none) stays until then. -#}
{% macro paimon__clone_rows(target, replaced, original) %}
  {%- set like = adapter.tables.existing(original) -%}
  {%- do paimon__build_staged(target, replaced, like.columns, like.as_spec(), original, like.comment) -%}
{% endmacro %}

{% macro paimon__can_clone_table() %}
  {{ return(true) }}
{% endmacro %}
