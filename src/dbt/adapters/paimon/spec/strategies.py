"""Incremental strategies. Combinations that a merge engine does not support are refused before any SQL runs.

Paimon itself would fail later, or never: a MERGE that deletes from a partial-update table succeeds but makes the table
unreadable [ran, 0.9.0].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.concurrency.conflicts import REBUILD, REFRESH, SNAPSHOT
from dbt.adapters.paimon.options.table_options import did_you_mean, suggestion
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.change_rows import ROWKIND, ordered_by_kind
from dbt.adapters.paimon.spec.components import aggregates
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.spec.table import TableSpec, lower_names

APPEND: Final = "append"
UPSERT: Final = "upsert"
MERGE: Final = "merge"
PARTIAL_UPDATE: Final = "partial_update"
INSERT_OVERWRITE: Final = "insert_overwrite"
DELETE_INSERT: Final = "delete+insert"
MICROBATCH: Final = "microbatch"
APPLY_CHANGES: Final = "apply_changes"

# The materializations whose models have a strategy.
WITH_STRATEGY: Final = ("incremental", "streaming")

# Strategies that merge a row into the row with the same key.
UPSERTING: Final = (UPSERT, PARTIAL_UPDATE, MERGE)

# Strategies that write a query's rows by one INSERT.
ONE_INSERT: Final = (APPEND, UPSERT, PARTIAL_UPDATE)

# RowLevelOp.MergeInto.supportedMergeEngine, unchanged from 0.9.0 to 2.0.0; '' means no primary key.
MERGEABLE: Final = frozenset({"", "deduplicate", "partial-update"})

# PaimonMergeInto.checkCondition refuses subqueries in these conditions.
_CONDITIONS: Final = ("matched_condition", "not_matched_condition", "merge_delete_condition", "incremental_predicates")
_SUBQUERY: Final = re.compile(r"\(\s*select\b", re.IGNORECASE)
_MODEL_ROW: Final = re.compile(r"\bDBT_INTERNAL_SOURCE\b", re.IGNORECASE)

ON_SCHEMA_CHANGE: Final = ("ignore", "fail", "append_new_columns", "sync_all_columns")

# Each statement sets the overwrite mode, because the profile, a hook or a header may change it for the session.
_MODE: Final = "spark.sql.sources.partitionOverwriteMode"
WHOLE_TABLE: Final[Mapping[str, str]] = {_MODE: "static"}
BY_PARTITION: Final[Mapping[str, str]] = {_MODE: "dynamic"}


@dataclass(frozen=True)
class IncrementalSpec:
    """The table and the strategy of an incremental model."""

    table: TableSpec
    strategy: str


@dataclass(frozen=True)
class _Request:
    spec: TableSpec
    config: Mapping[str, Any]
    versions: Versions
    # Whether the project has its own macro for the strategy.
    has_macro: bool

    @property
    def unique_key(self) -> tuple[str, ...]:
        spell = speller(self.spec.primary_key)
        return tuple(map(spell, column_list(self.config.get("unique_key")))) or self.spec.primary_key


def default_strategy(spec: TableSpec, config: Mapping[str, Any]) -> str:
    """The strategy of a model that does not set one: with a primary key `upsert`, the cheapest correct one."""
    if spec.primary_key:
        return UPSERT
    return MERGE if column_list(config.get("unique_key")) else APPEND


def strategy_of(spec: TableSpec, config: Mapping[str, Any]) -> str:
    """The strategy of an incremental model, without checks."""
    requested = config.get("incremental_strategy")
    return requested if requested and requested != "default" else default_strategy(spec, config)


def merges(spec: TableSpec, config: Mapping[str, Any]) -> bool:
    """Whether a model or snapshot writes its rows with MERGE."""
    if config.get("materialized") == "snapshot":
        return True
    if config.get("materialized") not in WITH_STRATEGY:
        return False
    strategy = strategy_of(spec, config)
    return strategy in (MERGE, DELETE_INSERT) or (strategy == MICROBATCH and not spec.partition_by)


def collect_incremental_spec(
    declared: Declared, versions: Versions, problems: Problems, *, has_macro: bool = False
) -> IncrementalSpec:
    """The table and the strategy of an incremental model. They are only valid if `problems` stays empty.

    `has_macro`: see `collect_strategy`.
    """
    table = collect_table_spec(declared, versions, problems)
    strategy = collect_strategy(table, declared.config, versions, problems, has_macro=has_macro)
    return IncrementalSpec(ordered_by_kind(table) if strategy == APPLY_CHANGES else table, strategy)


def macro_of(strategy: str) -> str:
    """The name of the macro that renders a strategy's statement, as in BaseAdapter.get_incremental_strategy_macro."""
    return f"get_incremental_{strategy.replace('+', '_')}_sql"


def collect_strategy(
    spec: TableSpec, config: Mapping[str, Any], versions: Versions, problems: Problems, *, has_macro: bool = False
) -> str:
    """The strategy of an incremental model; adds its problems to `problems`.

    An unknown name refers to a macro of the project (see `macro_of`). If the project has no macro for it
    (`has_macro`), and the name resembles a strategy, it is misspelt.
    """
    strategy, config = strategy_of(spec, config), {**config, "incremental_predicates": incremental_predicates(config)}
    _check_schema_change(config, problems)
    if strategy in STRATEGIES:
        faults = STRATEGIES[strategy].faults(_Request(spec, config, versions, has_macro))
        for key, reason in (*_merge_key_faults(strategy, config), *faults):
            problems.add(key, strategy if key == _STRATEGY else config.get(key), reason)
    elif not has_macro and (near := suggestion(strategy, STRATEGIES)):
        problems.add(_STRATEGY, strategy, f"unknown strategy. Did you mean '{near}'?")
    return strategy


def incremental_predicates(config: Mapping[str, Any]) -> Any:
    """The config `incremental_predicates`, or `predicates`, its older name in dbt."""
    return config.get("predicates") or config.get("incremental_predicates")


def has_conditions(config: Mapping[str, Any]) -> bool:
    """Whether the config has SQL that decides which rows a MERGE writes or deletes."""
    return bool(incremental_predicates(config)) or any(config.get(key) for key in _CONDITIONS)


def conf_of(kind: str, spec: TableSpec) -> Mapping[str, str]:
    """Spark settings for the statement of an increment: dynamic overwrites, if it may replace partitions.

    Args:
        kind: a strategy, a project's own strategy, or `<strategy> override`. The SQL of the last two is unknown.
    """
    by_partition = kind in (INSERT_OVERWRITE, MICROBATCH) or kind not in STRATEGIES
    return BY_PARTITION if by_partition and spec.partition_by else {}


def on_schema_change(config: Mapping[str, Any]) -> str:
    """The value of `on_schema_change`, or dbt's default `ignore` if it is missing or invalid."""
    value = config.get("on_schema_change")
    return value if value in ON_SCHEMA_CHANGE else "ignore"


def _check_schema_change(config: Mapping[str, Any], problems: Problems) -> None:
    # dbt's incremental_validate_on_schema_change only warns and continues with 'ignore'.
    value = config.get("on_schema_change")
    if value is not None and value not in ON_SCHEMA_CHANGE:
        hint = did_you_mean(str(value), ON_SCHEMA_CHANGE, 0.6, label="Allowed")
        problems.add_ignored("on_schema_change", value, f"not an allowed value. {hint}")


def replace_fault(spec: TableSpec) -> str | None:
    """Why rows of this table cannot be deleted and inserted in one statement; None if they can.

    Of the merge engines, only `deduplicate` applies delete records and replaces whole rows. A table without a primary
    key works too.
    Source: RowLevelOp.MergeInto, and the merge functions' add().
    """
    if spec.merge_engine not in ("", "deduplicate"):
        return f"merge_engine='{spec.merge_engine}' does not let a new row replace an old one"
    return deleting.deletes_lost(spec) if spec.primary_key else None


def hidden_fault(spec: TableSpec) -> str | None:
    """Why a statement that reads this table and replaces rows would lose some; None if it would not."""
    if option := spec.hides_new_rows:
        return f"rows that are not compacted yet cannot be read ({option}), so they would be lost or added again"
    return None


# -- what each strategy needs ----------------------------------------------------------------------------

# (config key, reason with remedy) pairs.
_Faults = Iterable[tuple[str, str]]
_STRATEGY: Final = "incremental_strategy"
_ALL_ROWS: Final = "Use 'upsert', or remove that option"


def _append(request: _Request) -> _Faults:
    if request.spec.primary_key:
        yield _STRATEGY, "a primary-key table cannot keep equal keys: INSERT merges their rows. Use 'upsert'"


def _upsert(request: _Request) -> _Faults:
    if request.spec.primary_key:
        yield from _same_key(request)
        return
    yield (
        _STRATEGY,
        "needs a primary key, so that Paimon finds the row to replace. Set primary_key, or use 'merge' with unique_key",
    )


def _merge(request: _Request) -> _Faults:
    spec = request.spec
    if spec.merge_engine not in MERGEABLE:
        yield _STRATEGY, f"Paimon has no MERGE for merge_engine='{spec.merge_engine}'. Use 'upsert'"
    if not request.unique_key:
        yield _STRATEGY, "needs unique_key, to match rows by. Set unique_key, or use 'append'"
    # PartialUpdateMergeFunction: MERGE writes whole rows, so their stored values are aggregated again [ran, 0.9.0].
    adding = sorted({function for _, _, function in spec.aggregate_functions()} - _IDEMPOTENT_AGGREGATES)
    updates = str(request.config.get("matched_condition")).strip().lower() != "false"
    if adding and updates and spec.merge_engine == "partial-update":
        yield _STRATEGY, f"MERGE writes whole rows, so '{adding[0]}' would add the stored value again. Use 'upsert'"
    if hidden := hidden_fault(spec):
        yield _STRATEGY, f"{hidden}. {_ALL_ROWS}"
    yield from _merge_column_faults(request)
    if request.config.get("merge_delete_condition") and (fault := _merge_delete_fault(spec, request.versions)):
        yield "merge_delete_condition", fault
    yield from _subquery_faults(request, _CONDITIONS)


def _subquery_faults(request: _Request, keys: Iterable[str]) -> _Faults:
    for key in keys:
        if any(_SUBQUERY.search(text) for text in _conditions(request.config.get(key))):
            yield key, "Paimon's MERGE does not accept a subquery in a condition. Join it in the model instead"


def _model_row_faults(request: _Request, strategy: str) -> _Faults:
    # The MERGE of a table without a primary key has this alias, too, but the rows that delete have only NULLs there.
    if not request.has_macro and any(
        _MODEL_ROW.search(text) for text in _conditions(request.config.get("incremental_predicates"))
    ):
        yield (
            "incremental_predicates",
            f"'{strategy}' deletes rows of the table without comparing them with rows of the model "
            "(DBT_INTERNAL_SOURCE). Use columns of the table, or 'merge'",
        )


def _merge_column_faults(request: _Request) -> _Faults:
    key = request.spec.primary_key
    update = list(map(speller(key), column_list(request.config.get("merge_update_columns"))))
    excluded = set(map(speller(key), column_list(request.config.get("merge_exclude_columns"))))
    missing = [name for name in key if name not in request.unique_key and name not in excluded]
    if missing and (not update or set(update) & set(missing)):
        # PaimonMergeInto.checkUpdateActionValidity
        yield (
            "unique_key",
            f"MERGE would change the primary key column {', '.join(missing)}, which Paimon refuses. "
            "Add it to unique_key, or list other columns in merge_update_columns",
        )
    yield from late_rows(request.spec, request.config, update)
    if update and not lower_names(update) - lower_names(request.unique_key):
        yield (
            "merge_update_columns",
            "no row would be updated, because rows are matched by these columns. Name others; to add rows and "
            "update none, remove it and list the others in merge_exclude_columns",
        )


def late_rows(spec: TableSpec, config: Mapping[str, Any], names: Iterable[str]) -> _Faults:
    """Refuse a MERGE that updates columns but not the sequence_field, so that a late row would replace a newer one.

    Args:
        names: the columns that the MERGE updates, unless merge_exclude_columns lists them.
    """
    excluded = lower_names(column_list(config.get("merge_exclude_columns")))
    written = lower_names(names) - excluded
    kept = [name for name in spec.sequence_columns if name.lower() not in written]
    matched = column_list(config.get("unique_key")) or spec.primary_key
    if not kept or not written - lower_names(matched) or config.get("matched_condition"):
        return
    key, remedy = "merge_update_columns", "Add it to merge_update_columns"
    if excluded:
        key, remedy = "merge_exclude_columns", "Remove it from merge_exclude_columns"
    yield (
        key,
        f"a late row would replace a newer one, because its sequence_field {', '.join(kept)} is not written. "
        f"{remedy}, or compare the rows in matched_condition",
    )


def _conditions(value: Any) -> list[str]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return [str(item) for item in items if item]


def _merge_delete_fault(spec: TableSpec, versions: Versions) -> str | None:
    # MERGE deletes a row by writing a delete record, which not every table applies (PartialUpdateMergeFunction.add).
    if spec.primary_key and (lost := deleting.deletes_lost(spec)):
        return f"{lost}. Remove one of the two"
    if not (unreadable := deleting.unreadable_by_deletes(spec)):
        return None
    if not versions.supports(Capability.REMOVE_RECORD_ON_DELETE):
        return f"{unreadable}. Remove it, or use merge_engine='deduplicate'"
    return f"{unreadable}. Put 'partial-update.remove-record-on-delete': true into tblproperties, or remove it"


def _partial_update(request: _Request) -> _Faults:
    if request.spec.merge_engine == "partial-update":
        yield from _same_key(request)
        return
    instead = "'merge' with merge_update_columns" if request.spec.merge_engine in MERGEABLE else "'upsert'"
    yield (
        _STRATEGY,
        "needs merge_engine='partial-update' and a primary key, so that columns left out keep their values. "
        f"Set them, or use {instead}",
    )


def _overwrite_fault(spec: TableSpec) -> str | None:
    # A key that moves to a different partition writes a delete into its old one. A dynamic INSERT OVERWRITE replaces
    # every partition that it writes to, so the old one keeps nothing but the delete [ran, 0.9.0 and 1.4.2].
    if not spec.moves_keys:
        return None
    outside = spec.partitions_outside_key
    return (
        f"primary_key leaves out the partition column {outside}: a key that moves to another partition would "
        f"delete all rows of its old one. Use 'upsert', or add {outside} to primary_key"
    )


def _insert_overwrite(request: _Request) -> _Faults:
    if not request.spec.partition_by:
        yield (
            _STRATEGY,
            "needs partition_by: without partitions every run would replace the whole table. "
            f"Set partition_by, use materialized='table', or '{default_strategy(request.spec, request.config)}'",
        )
    elif fault := _overwrite_fault(request.spec):
        yield _STRATEGY, fault


def _delete_insert(request: _Request) -> _Faults:
    if fault := replace_fault(request.spec):
        yield _STRATEGY, f"{fault}. Use 'upsert', or 'insert_overwrite'"
    elif hidden := hidden_fault(request.spec):
        yield _STRATEGY, f"{hidden}. {_ALL_ROWS}"
    if not request.unique_key:
        yield _STRATEGY, "needs unique_key, to know what to delete. Set unique_key, or use 'append'"
    yield from _model_row_faults(request, DELETE_INSERT)
    if not request.spec.primary_key:
        yield from _subquery_faults(request, ("incremental_predicates",))


def _microbatch(request: _Request) -> _Faults:
    # On a partitioned table, a batch overwrites its partitions, which every merge engine supports.
    spec = request.spec
    keyed_by_time = speller(spec.primary_key)(str(request.config.get("event_time"))) in spec.primary_key
    if across := _overwrite_fault(spec):
        yield _STRATEGY, across
    elif hidden := hidden_fault(spec):
        yield _STRATEGY, f"{hidden}. {_ALL_ROWS}"
    elif spec.merge_engine in aggregates.AGGREGATING and not keyed_by_time:
        yield (
            _STRATEGY,
            f"merge_engine='{spec.merge_engine}' combines rows of several batches into one row, so a batch "
            "that runs again would lose or double values. Add the column of event_time to primary_key, or use 'upsert'",
        )
    elif spec.merge_engine in aggregates.AGGREGATING and request.config.get("incremental_predicates"):
        yield (
            "incremental_predicates",
            f"a row of the window that stays would be combined with the batch's row of its key "
            f"(merge_engine='{spec.merge_engine}'). Remove it",
        )
    elif not spec.partition_by and (fault := replace_fault(spec)):
        yield _STRATEGY, f"a batch replaces its window of event_time, and {fault}. Set partition_by, or use 'upsert'"
    yield from _model_row_faults(request, MICROBATCH)
    if not spec.primary_key and not spec.partition_by:
        yield from _subquery_faults(request, ("incremental_predicates",))


def _apply_changes(request: _Request) -> _Faults:
    if not request.spec.primary_key:
        reason = (
            "needs a primary key, so that a change finds its row. Set primary_key, or use 'merge' with "
            "unique_key and merge_delete_condition"
        )
        return [(_STRATEGY, reason)]
    return (*_change_row_faults(request.spec), *_same_key(request))


def _change_row_faults(spec: TableSpec) -> _Faults:
    # PartialUpdateMergeFunction, AggregateMergeFunction and FirstRowMergeFunction: add()
    if spec.merge_engine != "deduplicate":
        yield (
            _STRATEGY,
            "a change row replaces the whole row and a delete removes it, which "
            f"merge_engine='{spec.merge_engine}' does not do. Use 'deduplicate', or 'upsert'",
        )
    if ROWKIND not in spec.options:
        yield (
            _STRATEGY,
            "needs rowkind_field, the column that says whether a row is an insert, an update or a delete. "
            "Set it, or use 'upsert'",
        )
    if not spec.sequence_columns:
        yield (
            _STRATEGY,
            "needs sequence_field, to recognize a late change: a log position, a version or a timestamp of the "
            "source. Set it",
        )
    if spec.options.get("sequence.field.sort-order", "").lower() == "descending":
        where = "tblproperties['sequence.field.sort-order']"
        yield where, "the change with the greatest sequence is the newest. Remove it"
    if spec.is_true("ignore-delete"):
        yield "tblproperties['ignore-delete']", "makes the table drop every delete. Remove it, or use 'upsert'"


def _same_key(request: _Request) -> _Faults:
    # INSERT would silently ignore a different unique_key.
    if set(request.unique_key) != set(request.spec.primary_key):
        yield (
            "unique_key",
            f"INSERT upserts by the primary key ({', '.join(request.spec.primary_key)}), not by unique_key. "
            "Remove unique_key, make them equal, or use 'merge'",
        )


# Strategies whose statements read incremental_predicates.
_READ_PREDICATES: Final = (MERGE, DELETE_INSERT, MICROBATCH)


def _merge_key_faults(strategy: str, config: Mapping[str, Any]) -> _Faults:
    given = [key for key in STRATEGY_KEYS if config.get(key)]
    faults = []
    update = config.get("merge_update_columns")
    if update is not None and not column_list(update):
        # For an empty list, dbt's own macro would update all columns.
        reason = (
            "names no column. To update all columns, remove it; to add rows and update none, remove it and "
            "list the columns outside the key in merge_exclude_columns"
        )
        faults.append(("merge_update_columns", reason))
    column_keys = {"merge_update_columns", "merge_exclude_columns"}
    if column_keys <= set(given):
        faults.append(("merge_exclude_columns", "contradicts merge_update_columns. Keep one of the two"))
    for key in given:
        if strategy in (_READ_PREDICATES if key == "incremental_predicates" else (MERGE,)):
            continue
        also = ", or 'partial_update', which writes only the model's columns" if key in column_keys else ""
        reason = f"incremental_strategy='{strategy}' does not read it. Use 'merge'{also}, or remove it"
        faults.append((key, reason))
    return faults


# Merge engines and aggregate functions with which writing the same row again changes nothing.
_IDEMPOTENT_ENGINES: Final = frozenset({"deduplicate", "first-row", "partial-update", "aggregation"})
# Source: the aggregators in org.apache.paimon.mergetree.compact.aggregate. Most others add to the stored value.
_IDEMPOTENT_AGGREGATES: Final = frozenset(
    "max min bool_and bool_or last_value last_non_null_value first_value first_non_null_value "
    "first_not_null_value primary-key hll_sketch theta_sketch rbm32 rbm64".split()
)


def _upsert_is_idempotent(spec: TableSpec) -> bool:
    functions = {function for _, _, function in spec.aggregate_functions()}
    return spec.merge_engine in _IDEMPOTENT_ENGINES and functions <= _IDEMPOTENT_AGGREGATES


@dataclass(frozen=True)
class Strategy:
    """An incremental strategy.

    Attributes:
        faults: finds the problems of a config that uses the strategy.
        is_idempotent: whether running its statement twice on a table has the same result as running it once.
        reads_once: whether its statement reads the model's rows once. MERGE reads them twice, to match and to write.
        skips: whether `skip_unchanged` may skip a model; this requires that a run commits all rows at once.
    """

    faults: Callable[[_Request], _Faults]
    is_idempotent: Callable[[TableSpec], bool] = lambda spec: True
    reads_once: bool = True
    skips: bool = True


STRATEGIES: Final[Mapping[str, Strategy]] = {
    APPEND: Strategy(_append, is_idempotent=lambda spec: False),
    UPSERT: Strategy(_upsert, is_idempotent=_upsert_is_idempotent),
    MERGE: Strategy(_merge, reads_once=False),
    PARTIAL_UPDATE: Strategy(_partial_update, is_idempotent=_upsert_is_idempotent),
    INSERT_OVERWRITE: Strategy(_insert_overwrite),
    DELETE_INSERT: Strategy(_delete_insert, reads_once=False),
    MICROBATCH: Strategy(_microbatch, reads_once=False, skips=False),
    APPLY_CHANGES: Strategy(_apply_changes, skips=False),
}


def is_idempotent(strategy: str, spec: TableSpec) -> bool:
    """Whether running the strategy's statement twice has the same result as running it once; False if unknown."""
    return strategy in STRATEGIES and STRATEGIES[strategy].is_idempotent(spec)


def may_repeat(kind: str, spec: TableSpec) -> bool:
    """Whether a statement of this kind (a strategy, REBUILD, SNAPSHOT or REFRESH) may run again after a conflict."""
    if kind == REFRESH:
        # The refresh of a view without a key appends rows, so a second one would duplicate them.
        return bool(spec.primary_key)
    # A rebuild replaces all rows, and a snapshot merges by dbt_scd_id, so running them twice changes nothing.
    return kind in (REBUILD, SNAPSHOT) or is_idempotent(kind, spec)
