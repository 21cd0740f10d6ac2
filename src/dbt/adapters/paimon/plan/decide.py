"""Decides what a run does with a node's table: a pure function of config, table and query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from dbt.adapters.paimon.maintenance import first_load
from dbt.adapters.paimon.plan.steps import Action, Plan, Step, StepKind
from dbt.adapters.paimon.spec.auto_buckets import BUCKET_STATE_OPTION, RESCALING, is_rescaling
from dbt.adapters.paimon.spec.strategies import STRATEGIES, WITH_STRATEGY, on_schema_change
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset, refuse_rebuild
from dbt.adapters.paimon.tables.column_changes import ColumnChanges, refuse_schema_change
from dbt.adapters.paimon.tables.existing import ExistingTable, as_dbt_columns
from dbt.adapters.paimon.tables.rebuilds import rebuild_of

# The materializations whose runs add rows to an existing table.
_ADDING: Final = (*WITH_STRATEGY, "snapshot")


class Compare(Protocol):
    """Compares options and keys (see `Tables.changeset`)."""

    def __call__(
        self, catalog: str, spec: TableSpec, existing: ExistingTable, *, retypes: bool = False, rewrites: bool = False
    ) -> Changeset: ...


def adds(node: Mapping[str, Any], full_refresh: bool) -> bool:
    """Whether a run adds rows to an existing table of this node. A full refresh never rebuilds a snapshot."""
    if node["config"].get("materialized") not in _ADDING:
        return False
    return not full_refresh or node["resource_type"] == "snapshot"


def decide(
    node: Mapping[str, Any],
    spec: TableSpec,
    current: ExistingTable,
    columns: ColumnChanges | None,
    compare: Compare,
    *,
    adds: bool,
    strategy: str = "",
) -> Plan:
    """Plan the run of a node that has a table.

    Args:
        columns: how the table's columns differ from the query's; None if the columns of either are unknown.
        adds: whether the run adds rows, instead of writing all of them.

    Raises:
        DbtRuntimeError: the run only adds rows, but a change requires a rewrite of the existing rows.
        CompilationError: `on_schema_change` forbids a column change.
    """
    if adds:
        return increment(node, spec, current, applied_columns(node, spec, columns, strategy), compare)
    return _rebuild(node, spec, current, columns, compare)


def applied_columns(
    node: Mapping[str, Any], spec: TableSpec, columns: ColumnChanges | None, strategy: str
) -> ColumnChanges:
    """The column changes that a run applies if it adds rows; CompilationError if `on_schema_change` forbids one."""
    if columns is None:
        return ColumnChanges()
    if node["resource_type"] == "snapshot":
        return columns.for_snapshot()
    allowed = on_schema_change(node["config"])
    refuse_schema_change(node["name"], allowed, strategy, spec, columns)
    return columns.for_increment(allowed)


def increment(
    node: Mapping[str, Any], spec: TableSpec, current: ExistingTable, applied: ColumnChanges, compare: Compare
) -> Plan:
    """Plan a run that adds rows and applies these column changes; raises DbtRuntimeError as in `decide`."""
    changes = compare(node["database"], spec, current, retypes=bool(applied.retype))
    refuse_rebuild(node["resource_type"], node["name"], changes, applied.drop)
    return _in_place(Action.INCREMENT, node, current, applied, changes)


def steps_of(spec: TableSpec, *, adds: bool, strategy: str, branch: bool, override: bool) -> Iterator[Step]:
    """The steps of a node's run, in order. A `Plan` alters the table around each step that writes rows.

    Args:
        strategy: the strategy of an incremental model; '' for other nodes.
        branch: whether the run writes a clone by branch.
        override: whether a macro of the project writes the rows.
    """
    audits = spec.wap and not branch
    if adds and strategy:
        yield from _read_once(strategy, always=audits or override)
    if audits:
        yield Step(StepKind.AUDIT, description="audits its rows before they are published")
        yield Step(StepKind.PUBLISH, description="publishes them, if no data test fails")
    else:
        yield Step(StepKind.WRITE)
    if branch:
        return
    if strategy and not adds and first_load.may_settle(spec):
        description = "compacts the table, if this first load is large"
        yield Step(StepKind.COMPACT, description=description, is_conditional=True)
    if spec.tag is not None:
        yield Step(StepKind.TAG, description=f"tags the table {spec.tag.name}")
    yield Step(StepKind.MAINTAIN, is_conditional=True)


def _read_once(strategy: str, *, always: bool) -> Iterator[Step]:
    known = STRATEGIES.get(strategy)
    if always:
        yield Step(StepKind.READ_ONCE, description="reads its rows once, and caches them for its statements")
    elif not (known and known.reads_once):
        description = "reads its rows once, if its query may return different rows when read again"
        yield Step(StepKind.READ_ONCE, description=description, is_conditional=True)


def _rebuild(
    node: Mapping[str, Any], spec: TableSpec, current: ExistingTable, columns: ColumnChanges | None, compare: Compare
) -> Plan:
    """Rebuild in place by ALTER and one INSERT OVERWRITE: the history stays, and the old rows if the query fails.

    A new table replaces the old one only if ALTER is not enough, or if Paimon's INSERT OVERWRITE depends on the rows
    that it replaces (see `TableSpec.overwrite_reads_old_keys`).
    """
    retypes = bool(columns and columns.retype)
    changes = compare(node["database"], spec, current, retypes=retypes, rewrites=True)
    rebuild = rebuild_of(spec, changes, columns)
    plan = _in_place(Action.REBUILD, node, current, columns or ColumnChanges(), changes)
    if not rebuild.swaps:
        return _marked(plan) if changes.needs_overwrite or is_rescaling(current.options) else plan
    differs = (*plan.differs, *map(str, changes.immutable), *(columns.rebuild if columns else ()))
    return Plan(Action.SWAP, rebuild=rebuild, differs=differs)


def _marked(plan: Plan) -> Plan:
    """The plan, with a mark on the table until its rows are in the new buckets: see `maintenance.rescale`."""
    mark = Step(StepKind.SET_OPTIONS, "paimon__set_options", {"options": {BUCKET_STATE_OPTION: RESCALING}})
    unmark = Step(StepKind.UNSET_OPTIONS, "paimon__unset_options", {"names": (BUCKET_STATE_OPTION,)})
    return replace(plan, before=(mark, *plan.before), after=(unmark, *plan.after))


def _in_place(
    action: Action, node: Mapping[str, Any], current: ExistingTable, columns: ColumnChanges, changes: Changeset
) -> Plan:
    plan = Plan(action, tuple(_before(node, columns, changes)), tuple(_after(node, current, columns)))
    return replace(plan, differs=tuple(plan.alters))


def _before(node: Mapping[str, Any], columns: ColumnChanges, changes: Changeset) -> Iterator[Step]:
    """Add and move columns, then set options, which may name them, then change types, which may need new options."""
    if columns.add:
        words = tuple(f"columns: adds {column.name} {column.data_type}" for column in columns.add)
        if node["resource_type"] == "snapshot":
            added = {"columns": as_dbt_columns(columns.add)}
            yield Step(StepKind.ADD_COLUMNS, "paimon__add_snapshot_columns", added, words)
        else:
            yield Step(StepKind.ADD_COLUMNS, "paimon__add_columns", {"columns": columns.add}, words)
    for name, after in columns.move:
        words = (f"columns: moves {name} {f'after {after}' if after else 'to the front'}",)
        yield Step(StepKind.MOVE_COLUMN, "paimon__move_column", {"name": name, "after": after}, words)
    yield from _option_steps(changes)
    for column in columns.retype:
        arguments = {"column_name": column.name, "new_column_type": column.data_type}
        words = (f"type of {column.name}: {column.data_type}",)
        yield Step(StepKind.CHANGE_TYPE, "paimon__alter_column_type", arguments, words)
    for name in columns.make_nullable:
        words = (f"{name}: may be NULL",)
        yield Step(StepKind.DROP_NOT_NULL, "paimon__drop_not_null", {"name": name}, words)


def _option_steps(changes: Changeset) -> Iterator[Step]:
    sets = tuple(str(change) for change in changes.altered if change.new is not None)
    unsets = tuple(str(change) for change in changes.altered if change.new is None)
    steps = (
        Step(StepKind.SET_OPTIONS, "paimon__set_options", {"options": changes.set_options}, sets),
        Step(StepKind.UNSET_OPTIONS, "paimon__unset_options", {"names": changes.unset_options}, unsets),
    )
    return (step for step in (reversed(steps) if changes.unset_first else steps) if step.alters)


def _after(node: Mapping[str, Any], current: ExistingTable, columns: ColumnChanges) -> Iterator[Step]:
    """Drop columns after the rows are written, so that a failed write loses no values."""
    if columns.drop:
        words = tuple(f"columns: drops {name}" for name in columns.drop)
        yield Step(StepKind.DROP_COLUMNS, "paimon__drop_columns", {"names": columns.drop}, words)
    yield from _comments(node, current, columns)


def _comments(node: Mapping[str, Any], current: ExistingTable, columns: ColumnChanges) -> Iterator[Step]:
    # ADD COLUMNS also sets the comments, but dbt's macro for snapshots does not.
    commented = set() if node["resource_type"] == "snapshot" else {column.name for column in columns.add}
    for name, comment in columns.comment:
        if name not in commented:
            arguments = {"column_name": name, "comment": comment}
            yield Step(StepKind.COMMENT_COLUMN, "paimon__comment_on_column", arguments, (f"comment of {name}",))
    persists = (node["config"].get("persist_docs") or {}).get("relation")
    comment = node.get("description") or ""
    if persists and current.comment != comment:
        yield Step(StepKind.COMMENT_TABLE, "paimon__comment_on_table", {"comment": comment}, ("comment",))
