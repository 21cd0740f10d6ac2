{#-
  `dbt clone`: a table of the state is copied to a table with the same keys, options, comments and rows; a view becomes
  a view over it.

  Paimon tables cannot share files, so a clone is one INSERT of the table's rows. In a target with `clone_by: branch` it is
  a branch of the table, and a view over the branch, where the model is incremental and the table can have one (see
  adapter.clones). A project that prefers views of everything defines `can_clone_table` to return false, as for every
  adapter.
-#}
{% materialization clone, adapter='paimon' %}
  {%- if not defer_relation -%}
    {{ log('No relation found in the state for ' ~ model.unique_id, info=true) }}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing_relation = adapter.builds.existing(target_relation) -%}
  {%- if existing_relation and not flags.FULL_REFRESH -%}
    {%- do adapter.clones.check(existing_relation) -%}
    {{ log('Relation ' ~ existing_relation ~ ' already exists', info=true) }}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set original = load_cached_relation(defer_relation) -%}
  {%- if original is none -%}
    {%- do exceptions.raise_compiler_error(
      model.resource_type ~ " '" ~ model.name ~ "': there is no " ~ defer_relation ~ ' to clone, which the state names. '
      ~ 'Build it there, or leave the node out: --exclude ' ~ model.name ~ '.'
    ) -%}
  {%- endif -%}
  {%- if not original.is_table or not can_clone_table() -%}
    {{ return(materialization_view_paimon()) }}
  {%- endif -%}
  {%- if original == target_relation -%}
    {{ log('Target relation and defer relation are the same, skipping clone for relation: ' ~ target_relation) }}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}

  {%- set why_copied = adapter.clones.why_copied(model, original) -%}
  {%- if why_copied is none -%}
    {%- set view = paimon__clone_by_branch(target_relation, existing_relation, original) -%}
    {%- if view is not none -%}
      {{ return({'relations': [view]}) }}
    {%- endif -%}
    {%- set why_copied = 'its catalog does not give back the query of a view' -%}
  {%- endif -%}
  {%- if why_copied -%}
    {{ log(target_relation ~ ' is a copy, not a branch, of ' ~ original ~ ': ' ~ why_copied, info=true) }}
  {%- endif -%}
  {%- do paimon__clone_table(target_relation, existing_relation, original) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{#-
  A branch of the original at its newest table snapshot, and a view over it; returns the view, or none if a later run
  could not tell it from other views: then nothing is left of it.
-#}
{% macro paimon__clone_by_branch(target, existing, original) %}
  {%- set view = target.incorporate(type='view') -%}
  {%- set branch = adapter.clones.begin(view, original, replaces=flags.FULL_REFRESH) -%}
  {%- do adapter.views.ensure_schema(view) -%}
  {%- do paimon__view_of_branch(target, branch) -%}
  {%- if adapter.clones.behind(view) is none -%}
    {%- do adapter.drop_relation(view) -%}
    {%- do adapter.clones.end(branch) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- if existing is not none and existing.is_table -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- set kept = paimon__positions_relation(target) -%}
  {%- set old = load_cached_relation(kept) -%}
  {%- if old is not none -%}
    {%- do adapter.drop_relation(old) -%}
  {%- endif -%}
  {%- do adapter.changes.hand_over(original, branch, kept) -%}
  {%- do return(view) -%}
{% endmacro %}

{#- Also after each increment: Spark keeps the columns that a view had when it was created. -#}
{% macro paimon__view_of_branch(target, branch) %}
  {%- set view = target.incorporate(type='view') -%}
  {%- set definition = adapter.views.definition(view, adapter.clones.query(branch), {}) -%}
  {%- set name = 'view_of_branch' if model.config.materialized == 'incremental' and flags.WHICH != 'clone' else 'main' -%}
  {%- call statement(name) -%}
    {{ adapter.views.create_sql(view, definition) }}
  {%- endcall -%}
  {%- do adapter.views.remember(definition) -%}
{% endmacro %}

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
