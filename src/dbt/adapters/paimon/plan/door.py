"""`adapter.plans`: reads the facts of a node and its table, and settles the node's plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.plan.decide import decide
from dbt.adapters.paimon.plan.steps import Does, Plan, SettledPlan
from dbt.adapters.paimon.spec import bucket_numbers
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, on_schema_change
from dbt.adapters.paimon.tables.changeset import as_dbt_columns

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.changeset import ExistingTable
    from dbt.adapters.paimon.tables.door import Tables
    from dbt.adapters.paimon.writing.deletes import Deletes
    from dbt.adapters.paimon.writing.door import Rows
    from dbt.adapters.paimon.writing.model_query import ModelQuery

    Node = Mapping[str, Any]

logger = AdapterLogger("Paimon")


class Plans:
    """Settles plans: every check of a node passes before its table is changed.

    Args:
        tables, rows, deletes: doors that it goes through.
        decide_buckets: makes the buckets of an existing table ready (see `Buckets.decide`).
        check_branches: refuses options that name a branch which is not there (see `History.check_branches`).
    """

    def __init__(
        self,
        tables: Tables,
        rows: Rows,
        deletes: Deletes,
        decide_buckets: Callable[[TableSpec, PaimonRelation, ExistingTable, ModelQuery], TableSpec],
        check_branches: Callable[[Node, TableSpec, PaimonRelation | None], None],
    ) -> None:
        self._tables = tables
        self._rows = rows
        self._deletes = deletes
        self._decide_buckets = decide_buckets
        self._check_branches = check_branches

    def build(
        self,
        node: Node,
        existing: PaimonRelation | None,
        spec: TableSpec,
        source: ModelQuery,
        full_refresh: bool,
    ) -> SettledPlan:
        """The plan of a run that writes all rows of a table.

        Args:
            node: the node in the manifest.
            existing: the relation of its name; a view is replaced by a new table.
            spec: its table spec.
            source: the rows.
            full_refresh: whether the run rebuilds tables.

        Raises:
            DbtRuntimeError: the config does not fit the columns, or history would be lost that nobody gave up.
        """
        tables = self._tables
        there = existing if existing is not None and existing.is_table else None
        columns = tables.wanted_columns(source.columns, node, spec)
        spec = tables.check_columns(node, spec, columns, new=there is None)
        source = self._rows.checked(source, columns, node, spec)
        current = None if there is None else tables.existing(there)
        kept = spec if current is None else bucket_numbers.settled(spec, current.options)
        changes = None if current is None else tables.column_changes(columns, current, node)
        plan = decide(node, kept, current, changes, tables.changes, adds=False)
        if there is None or current is None or plan.does is Does.SWAP:
            if there is not None:
                tables.refuse_loss(node, there, plan.rebuild, full_refresh)
                logger.info(
                    f"{there} is rebuilt and swapped, which loses its table snapshots and tags ({plan.rebuild})"
                )
        else:
            self._check_branches(node, kept, there)
            spec = self._decide_buckets(kept, there, current, source)
        return _settled(plan, spec=spec, columns=columns, source=source, current=current)

    def increment(
        self,
        node: Node,
        target: PaimonRelation,
        spec: TableSpec,
        strategy: str,
        source: ModelQuery,
    ) -> SettledPlan:
        """The plan of a run that adds rows to a table, or to a branch of it.

        Args:
            node: the node in the manifest.
            target: the table.
            spec: its table spec.
            strategy: the incremental strategy.
            source: the rows.

        Raises:
            DbtRuntimeError: the rows, their columns or the config do not fit the table.
        """
        tables = self._tables
        current = tables.existing(target)
        spec = bucket_numbers.settled(spec, current.options)
        tables.warn_of_older_types(target, current)
        columns = tables.wanted_columns(source.columns, node, spec)
        changes = tables.column_changes(columns, current, node)
        self._check_branches(node, spec, target)
        plan = decide(node, spec, current, changes, tables.changes, adds=True, strategy=strategy)
        allowed = on_schema_change(node["config"])
        applied = changes.for_increment(allowed)
        table_columns = changes.synced(current.columns, allowed)
        spec = tables.check_columns(node, spec, table_columns, columns, applied.drop)
        source = self._rows.checked(source, table_columns, node, spec)
        kept = self._deletes.fitting(node, target, spec, table_columns) if strategy == APPLY_CHANGES else None
        spec = self._decide_buckets(spec, target, current, source)
        skipped = {column.name for column in changes.add} - {column.name for column in applied.add}
        return replace(
            _settled(plan, spec=spec, columns=columns, source=source, current=current),
            table_columns=table_columns,
            written=as_dbt_columns(column for column in columns if column.name not in skipped),
            kept_deletes=kept,
        )

    def snapshot(
        self,
        node: Node,
        target: PaimonRelation,
        spec: TableSpec,
        current: ExistingTable,
        source: ModelQuery,
        versions: ModelQuery,
        helpers: Sequence[str],
    ) -> SettledPlan:
        """The plan of a run that merges new versions into a snapshot's table.

        Args:
            node: the snapshot in the manifest.
            target: its table.
            spec: its table spec.
            current: the existing table.
            source: the rows of dbt's staging query.
            versions: the columns that the table should have.
            helpers: the columns of `source` that the table does not get.

        Raises:
            DbtRuntimeError: the rows, their columns or the config do not fit the table.
        """
        tables = self._tables
        spec = bucket_numbers.settled(spec, current.options)
        tables.warn_of_older_types(target, current)
        wanted = tables.wanted_columns(self._rows.spelled(versions, current).columns, node, spec)
        changes = tables.column_changes(wanted, current, node)
        given = [column for column in source.columns if column.name not in helpers]
        changes = replace(changes, add=tables.wanted_columns(current.lacks(given), node, spec))
        plan = decide(node, spec, current, changes, tables.changes, adds=True)
        self._check_branches(node, spec, target)
        table_columns = (*changes.widened(current.columns), *changes.add)
        spec = tables.check_columns(node, spec, table_columns, source.columns)
        # Of a version that ends, only its end is written.
        source = self._rows.checked(source, table_columns, node, spec, "dbt_change_type = 'insert'")
        spec = self._decide_buckets(spec, target, current, source)
        settled = _settled(plan, spec=spec, columns=wanted, source=source, current=current)
        return replace(settled, table_columns=table_columns, written=tuple(given))


def _settled(plan: Plan, **more: Any) -> SettledPlan:
    return SettledPlan(plan.does, plan.before, plan.after, plan.rebuild, plan.differs, **more)
