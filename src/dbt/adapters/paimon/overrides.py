"""Overrides of dbt's macros in projects and packages: which of them to call, and which are never called.

Source of the names: the materializations of dbt-core 1.12 and dbt-spark 1.11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

OURS: Final = ("dbt", "dbt_spark", "dbt_paimon")
# The macro from which dbt's strategy gets its SQL.
_WRITERS: Final = {
    "merge": "get_merge_sql",
    "delete+insert": "get_delete_insert_merge_sql",
    "insert_overwrite": "get_insert_overwrite_merge_sql",
}
# (what to use instead, macros that only the materializations of dbt and dbt-spark call).
NOT_CALLED: Final = (
    (
        "Override get_incremental_<strategy>_sql(arg_dict)",
        "get_insert_into_sql get_insert_overwrite_sql dbt_spark_get_incremental_sql",
    ),
    (
        "Use merge_update_columns or merge_exclude_columns, or override get_merge_sql",
        "get_merge_update_columns get_merge_unique_key_match",
    ),
    ("Set incremental_strategy", "get_incremental_default_sql dbt_spark_validate_get_incremental_strategy"),
    (
        "Use on_schema_change",
        "process_schema_changes sync_column_schemas check_for_schema_changes diff_columns diff_column_data_types "
        "alter_relation_add_remove_columns",
    ),
    (
        "Set it in the model's config, such as partition_by, file_format or tblproperties",
        "create_table_as get_create_table_as_sql file_format_clause location_clause partition_cols clustered_cols "
        "comment_clause options_clause tblproperties_clause persist_constraints alter_table_add_constraints "
        "alter_column_set_constraints create_indexes get_create_index_sql dbt_spark_validate_get_file_format",
    ),
    ("Set persist_docs, and describe the columns", "persist_docs alter_column_comment alter_relation_comment"),
    (
        "Use a materialization of the project's own",
        "make_intermediate_relation make_backup_relation get_create_intermediate_sql get_create_backup_sql "
        "get_drop_backup_sql get_rename_intermediate_sql get_rename_sql get_rename_table_sql get_rename_view_sql "
        "get_replace_sql get_replace_table_sql get_replace_view_sql get_drop_sql drop_relation_if_exists drop_view "
        "get_or_create_relation create_or_replace_view handle_existing_table create_or_replace_clone",
    ),
    (
        "A seed is loaded without batches. Use its column_types, or a post_hook",
        "load_csv_rows create_csv_table reset_csv_table get_csv_sql get_batch_size get_binding_char",
    ),
    (
        "Override snapshot_staging_table or snapshot_merge_sql, or use a post_hook",
        "post_snapshot build_snapshot_staging_table spark_build_snapshot_staging_table",
    ),
    (
        "A materialized_view is a table here",
        "materialized_view_setup materialized_view_teardown materialized_view_get_build_sql "
        "materialized_view_execute_build_sql materialized_view_execute_no_op get_alter_materialized_view_as_sql "
        "get_materialized_view_configuration_changes get_replace_materialized_view_sql refresh_materialized_view "
        "drop_materialized_view get_rename_materialized_view_sql",
    ),
    (
        "Grant access in the warehouse and its catalog",
        "apply_grants copy_grants call_dcl_statements get_dcl_statement_list get_show_grant_sql get_grant_sql "
        "get_revoke_sql should_revoke support_multiple_grantees_per_dcl_statement",
    ),
)
_INSTEAD: Final = {name: instead for instead, names in NOT_CALLED for name in names.split()}
# Macro prefixes that come after `paimon__` in dbt's search order.
_SHADOWED: Final = ("spark", "default")


@dataclass(frozen=True)
class StrategyMacro:
    """The macro that renders the statement of an incremental strategy.

    Attributes:
        call: the macro, which takes dbt's `arg_dict`.
        kind: the strategy; or `<strategy> override`, whose effect the adapter does not know.
        override: package and name of the override that renders the SQL; '' for the adapter's own macro.
    """

    call: Any
    kind: str
    override: str = ""


def strategy_macro(context: Mapping[str, Any], strategy: str, macro: Any, own: Collection[str]) -> StrategyMacro:
    """The macro that dbt's materialization would call for a strategy; `own`: the adapter's strategies."""
    found = _found(context, macro)
    kind = f"{strategy} override" if strategy in own else strategy
    if found.macro.package_name not in OURS:
        return StrategyMacro(macro, kind, _name(found))
    if strategy in _WRITERS and (override := override_of(context, _WRITERS[strategy])):
        # Call dbt's macro, which calls the override.
        return StrategyMacro(context["dbt"][f"default__{macro.macro.name}"], kind, override)
    return StrategyMacro(macro, strategy)


def override_of(context: Mapping[str, Any], name: str) -> str:
    """Package and name of the override of one of dbt's macros; '' without an override."""
    found = _found(context, context[name])
    return "" if found.macro.package_name in OURS else _name(found)


def _found(context: Mapping[str, Any], macro: Any) -> Any:
    if macro.macro.package_name != "dbt":
        return macro
    return context["adapter"].dispatch(macro.macro.name, "dbt")


def _name(found: Any) -> str:
    return f"{found.macro.package_name}.{found.macro.name}"


def _names(macros: Iterable[Any], *packages: str) -> set[str]:
    return {macro.name for macro in macros if macro.package_name in packages}


def not_called(macros: Iterable[Any], project: str, order: Sequence[str] | None) -> Iterator[str]:
    """A warning for each override of one of dbt's macros that is never called.

    `macros` are all macros of the manifest. `order` is the project's `dispatch` search order for dbt's macros, if any.
    """
    every = list(macros)
    ours = _names(every, "dbt_paimon")
    others = [macro for macro in every if macro.package_name not in OURS]
    called = {name for macro in others for name in macro.depends_on.macros}
    before_dbt = set(takewhile(lambda package: package != "dbt", order or ()))
    for macro, prefix, bare in _overrides(others, order or [project], _names(every, "dbt", "dbt_spark")):
        own = f"paimon__{bare}"
        where = f"macro '{macro.package_name}.{macro.name}' ({macro.original_file_path}) overrides dbt's {bare},"
        is_shadowed = prefix in _SHADOWED and own in ours - _names(every, macro.package_name)
        if bare in _INSTEAD and macro.unique_id not in called:
            yield f"{where} which the materializations of dbt-paimon do not call. {_INSTEAD[bare]}."
        elif is_shadowed and macro.package_name not in before_dbt:
            yield f"{where} but dbt prefers {own} of dbt-paimon. Rename your macro to {own}, or delete it."


def _overrides(macros: Iterable[Any], packages: Sequence[str], known: set[str]) -> Iterator[tuple[Any, str, str]]:
    """The macros of these packages that override a known macro of dbt, with their prefix and the known name."""
    for macro in macros:
        prefix, _, bare = macro.name.rpartition("__")
        if macro.package_name in packages and bare in known and prefix in ("", "paimon", *_SHADOWED):
            yield macro, prefix, bare
