"""Decides what a run does with a node's table: a pure function of config, table and query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from dbt.adapters.paimon.maintenance import first_load
from dbt.adapters.paimon.plan.steps import Does, Kind, Plan, Step
from dbt.adapters.paimon.spec.strategies import STRATEGIES, on_schema_change
from dbt.adapters.paimon.tables.changeset import as_dbt_columns, refuse_rebuild
from dbt.adapters.paimon.tables.column_changes import ColumnChanges, refuse_schema_change
from dbt.adapters.paimon.tables.rebuilds import rebuild_of

if TYPE_CHECKING:
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.changeset import Changeset, ExistingTable

# Materializations whose runs add rows to those that are there.
_ADDING: Final = ("incremental", "snapshot", "streaming")


class Compare(Protocol):
    """Compares options and keys (see `Tables.changes`)."""

    def __call__(
        self, spec: TableSpec, existing: ExistingTable, *, retypes: bool = False, rewrites: bool = False
    ) -> Changeset:
        """The options and keys that differ."""


def adds(node: Mapping[str, Any], full_refresh: bool) -> bool:
    """Whether a run adds rows to an existing table of this node; a full refresh never rebuilds a snapshot."""
    if node["config"].get("materialized") not in _ADDING:
        return False
    return not full_refresh or node["resource_type"] == "snapshot"


def decide(
    node: Mapping[str, Any],
    spec: TableSpec,
    current: ExistingTable | None,
    columns: ColumnChanges | None,
    compare: Compare,
    *,
    adds: bool,
    strategy: str = "",
) -> Plan:
    """The plan of a run of one node.

    Args:
        node: the node in the manifest.
        spec: its table spec.
        current: the existing table; None if there is none.
        columns: how its columns differ from those of the query; None if one of them is not known.
        compare: compares options and keys.
        adds: whether the run adds rows to the table, instead of writing all of them.
        strategy: the incremental strategy; empty for other nodes.

    Raises:
        DbtRuntimeError: the run would need to rewrite rows, and it only adds some.
        CompilationError: `on_schema_change` forbids a difference.
    """
    if current is None:
        return Plan(Does.CREATE)
    if adds:
        return increment(node, spec, current, applied_columns(node, spec, columns, strategy), compare)
    return _rebuild(node, spec, current, columns, compare)


def applied_columns(
    node: Mapping[str, Any], spec: TableSpec, columns: ColumnChanges | None, strategy: str
) -> ColumnChanges:
    """The changes of a table's columns that a run which adds rows makes.

    Raises:
        CompilationError: `on_schema_change` forbids a difference.
    """
    if columns is None:
        return ColumnChanges()
    if node["resource_type"] == "snapshot":
        return columns.for_snapshot()
    allowed = on_schema_change(node["config"])
    refuse_schema_change(node["name"], allowed, strategy, spec.merge_engine, columns)
    return columns.for_increment(allowed)


def increment(
    node: Mapping[str, Any],
    spec: TableSpec,
    current: ExistingTable,
    applied: ColumnChanges,
    compare: Compare,
) -> Plan:
    """The plan of a run that adds rows to an existing table (see `decide`).

    Args:
        node, spec, current, compare: as in `decide`.
        applied: see `applied_columns`.

    Raises:
        DbtRuntimeError: the run would need to rewrite rows.
    """
    changes = compare(spec, current, retypes=bool(applied.retype))
    refuse_rebuild(node["resource_type"], node["name"], changes, applied.drop)
    return _in_place(Does.INCREMENT, node, current, applied, changes)


def steps_of(spec: TableSpec, *, adds: bool, strategy: str, branch: bool, override: bool) -> Iterator[Step]:
    """The steps of a node's run, in order; what a `Plan` alters is altered around each step that writes rows.

    Args:
        spec: the table spec.
        adds: whether the run adds rows to the table, instead of writing all of them.
        strategy: the strategy of an incremental model; empty for other nodes.
        branch: whether the run writes a clone, which is a branch.
        override: whether a project's own macro writes the rows.
    """
    audits = spec.wap and not branch
    known = STRATEGIES.get(strategy)
    if adds and strategy and (audits or override):
        yield Step(Kind.READ_ONCE, words="reads its rows once, and keeps them for its statements")
    elif adds and strategy and not (known and known.reads_once):
        words = "reads its rows once, if its query may return others when it is read again"
        yield Step(Kind.READ_ONCE, words=words, is_late=True)
    if audits:
        yield Step(Kind.AUDIT, words="audits its rows before they are published")
        yield Step(Kind.PUBLISH, words="publishes them, if no data test fails")
    else:
        yield Step(Kind.WRITE)
    if branch:
        return
    if strategy and not adds and first_load.may_settle(spec):
        yield Step(Kind.COMPACT, words="compacts the table, if this first load is large", is_late=True)
    if spec.tag is not None:
        yield Step(Kind.TAG, words=f"tags the table {spec.tag.name}")
    yield Step(Kind.MAINTAIN, is_late=True)


def _rebuild(
    node: Mapping[str, Any],
    spec: TableSpec,
    current: ExistingTable,
    columns: ColumnChanges | None,
    compare: Compare,
) -> Plan:
    """In place, by ALTER and one INSERT OVERWRITE: a query that fails leaves the old rows, and history stays.

    Or by a new table, built under a staging name, that replaces the old one when it is complete: if ALTER is not
    enough, or if Paimon's INSERT OVERWRITE depends on the rows that it replaces (see
    `TableSpec.overwrite_reads_old_keys`).
    """
    changes = compare(spec, current, retypes=bool(columns and columns.retype), rewrites=True)
    rebuild = rebuild_of(spec, changes, columns)
    plan = _in_place(Does.REBUILD, node, current, columns or ColumnChanges(), changes)
    if not rebuild.swaps:
        return plan
    differs = (*plan.differs, *map(str, changes.immutable), *(columns.rebuild if columns else ()))
    return Plan(Does.SWAP, rebuild=rebuild, differs=differs)


def _in_place(
    does: Does, node: Mapping[str, Any], current: ExistingTable, columns: ColumnChanges, changes: Changeset
) -> Plan:
    before = tuple(_before(node, columns, changes))
    after = tuple(_after(node, current, columns))
    differs = tuple(words for step in (*before, *after) for words in step.alters)
    return Plan(does, before, after, differs=differs)


def _before(node: Mapping[str, Any], columns: ColumnChanges, changes: Changeset) -> Iterator[Step]:
    """Options may refer to new columns, and those for older types come before the types change."""
    if columns.add:
        words = tuple(f"columns: adds {column.name} {column.data_type}" for column in columns.add)
        if node["resource_type"] == "snapshot":
            added = {"columns": as_dbt_columns(columns.add)}
            yield Step(Kind.ADD_COLUMNS, "paimon__add_snapshot_columns", added, words)
        else:
            yield Step(Kind.ADD_COLUMNS, "paimon__add_columns", {"columns": columns.add}, words)
    yield from _option_steps(changes)
    for column in columns.retype:
        arguments = {"column_name": column.name, "new_column_type": column.data_type}
        words = (f"type of {column.name}: {column.data_type}",)
        yield Step(Kind.CHANGE_TYPE, "paimon__alter_column_type", arguments, words)
    for name in columns.relax:
        yield Step(Kind.DROP_NOT_NULL, "paimon__drop_not_null", {"name": name}, (f"{name}: may be NULL",))


def _option_steps(changes: Changeset) -> Iterator[Step]:
    steps = []
    if changes.set_options:
        words = tuple(str(change) for change in changes.altered if change.new is not None)
        steps.append(Step(Kind.SET_OPTIONS, "paimon__set_options", {"options": changes.set_options}, words))
    if changes.unset_options:
        words = tuple(str(change) for change in changes.altered if change.new is None)
        steps.append(
            Step(Kind.UNSET_OPTIONS, "paimon__unset_options", {"names": changes.unset_options}, words)
        )
    yield from reversed(steps) if changes.unset_first else steps


def _after(node: Mapping[str, Any], current: ExistingTable, columns: ColumnChanges) -> Iterator[Step]:
    """Columns are dropped once the rows are written, so that a failed write loses no values."""
    if columns.drop:
        words = tuple(f"columns: drops {name}" for name in columns.drop)
        yield Step(Kind.DROP_COLUMNS, "paimon__drop_columns", {"names": columns.drop}, words)
    # ADD COLUMNS gives a new column its comment; dbt's macro for snapshots does not.
    said = {column.name for column in columns.add if node["resource_type"] != "snapshot"}
    for name, comment in columns.comment:
        if name in said:
            continue
        arguments = {"column_name": name, "comment": comment}
        yield Step(Kind.COMMENT_COLUMN, "paimon__comment_on_column", arguments, (f"comment of {name}",))
    described = (node["config"].get("persist_docs") or {}).get("relation")
    comment = node.get("description") or ""
    if described and current.comment != comment:
        yield Step(Kind.COMMENT_TABLE, "paimon__comment_on_table", {"comment": comment}, ("comment",))
