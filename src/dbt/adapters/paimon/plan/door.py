"""`adapter.plans`: reads the facts of a node and its table, and settles the node's plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.errors.deprecations import warn
from dbt.adapters.paimon.plan.decide import adds, decide
from dbt.adapters.paimon.plan.steps import Does, NodeRun, Plan, SettledPlan, Step
from dbt.adapters.paimon.spec import bucket_numbers
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH, on_schema_change
from dbt.adapters.paimon.sql.staging_names import POSITIONS_SUFFIX
from dbt.adapters.paimon.tables.changeset import as_dbt_columns
from dbt.adapters.paimon.tables.column_changes import refuse_schema_change

if TYPE_CHECKING:
    from dbt.adapters.paimon.changes.door import Changes
    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.host import Host
    from dbt.adapters.paimon.maintenance.buckets import Buckets
    from dbt.adapters.paimon.plan.materialized_views.door import MaterializedViews
    from dbt.adapters.paimon.plan.materialized_views.refresh import Refresh
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.door import Specs
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.streaming.door import Streams
    from dbt.adapters.paimon.tables.changeset import ExistingTable
    from dbt.adapters.paimon.tables.door import Tables
    from dbt.adapters.paimon.time_travel.clones import Clone
    from dbt.adapters.paimon.time_travel.clones_door import Clones
    from dbt.adapters.paimon.time_travel.door import History
    from dbt.adapters.paimon.unchanged.door import Unchanged
    from dbt.adapters.paimon.writing.builds import Builds
    from dbt.adapters.paimon.writing.deletes import Deletes
    from dbt.adapters.paimon.writing.door import Rows
    from dbt.adapters.paimon.writing.model_query import ModelQuery
    from dbt.adapters.paimon.writing.written import Written

    Node = Mapping[str, Any]

logger = AdapterLogger("Paimon")
MATERIALIZED_VIEW: Final = "materialized_view"
_SCD_ID: Final = "dbt_scd_id"


@dataclass(frozen=True)
class Plans:
    """Settles plans: every check of a node passes before its table is changed.

    Attributes:
        host: the adapter. The others are the doors that it goes through.
    """

    host: Host
    specs: Specs
    tables: Tables
    rows: Rows
    builds: Builds
    deletes: Deletes
    buckets: Buckets
    streams: Streams
    changes: Changes
    clones: Clones
    history: History
    unchanged: Unchanged
    materialized_views: MaterializedViews

    # -- before the hooks -------------------------------------------------------------------------------------------

    def begin(self, context: Mapping[str, Any]) -> NodeRun:
        """Decide what the run of a node does, before its hooks, and lock its table.

        Args:
            context: dbt's, of the materialization.

        Raises:
            ConfigErrors: every problem of the config; no SQL runs before this.
            DbtRuntimeError: the table cannot be locked; or what the node has read has changed since then.
        """
        node = context["model"]
        target = context["this"].incorporate(type="table")
        full_refresh = bool(context["should_full_refresh"]())
        spec, strategy = self.spec_of(node)
        writer = None
        if node["config"]["materialized"] == "incremental":
            macro = self.host.get_incremental_strategy_macro(context, strategy)
            writer = self.specs.strategy_macro(context, strategy, macro)
        rows = self.rows.load_seed(node) if node["resource_type"] == "seed" else None
        # Batches of one model are prepared concurrently, and written one after the other.
        existing = self.builds.existing(target, hold=strategy != MICROBATCH)
        clone = self.clone_of(node, existing, strategy, full_refresh)
        pending: tuple[Step, ...] = ()
        if node["config"]["materialized"] == MATERIALIZED_VIEW:
            spec, pending = self._configured(node, target, existing, spec, full_refresh)
        run = NodeRun(
            target,
            spec,
            existing,
            full_refresh,
            adds=False,
            strategy=strategy,
            writer=writer,
            rows=rows,
            pending=pending,
        )
        if clone is None and (reused := self._reused(node, run)):
            return replace(run, reused=reused)
        self.changes.check_positions(node)
        lost = self.changes.rebuild(node)
        if clone is not None:
            branch = _branch_of(node, clone, lost)
            return replace(run, branch=branch, adds=branch is not None)
        there = existing is not None and existing.is_table
        return replace(run, adds=there and not lost and adds(node, full_refresh))

    def _configured(
        self,
        node: Node,
        target: PaimonRelation,
        existing: PaimonRelation | None,
        spec: TableSpec,
        full_refresh: bool,
    ) -> tuple[TableSpec, tuple[Step, ...]]:
        """The table spec of a materialized view, as its `on_configuration_change` allows, and what it alters."""
        if existing is None or not existing.is_table:
            return spec, ()
        views = self.materialized_views
        current = views.existing(existing)
        plan = self.decided(node, spec, current, as_dbt_columns(current.columns), adds=False)
        allowed = views.configured(node, target, spec, current, plan, full_refresh=full_refresh)
        return allowed, (*plan.before, *plan.after) if allowed is spec else ()

    def spec_of(self, node: Node) -> tuple[TableSpec, str]:
        """A node's table spec, and the strategy that writes it; '' without one.

        Raises:
            ConfigErrors: every problem of the config.
        """
        kind = node["config"].get("materialized")
        if kind == "incremental":
            plan = self.specs.incremental(node)
            return plan.spec, plan.strategy
        if kind == "streaming":
            stream = self.streams.plan(node)
            return stream.spec, stream.strategy
        if kind == MATERIALIZED_VIEW:
            return self.materialized_views.spec(node, self.specs), ""
        if kind == "snapshot":
            names = node["config"].get("snapshot_meta_column_names") or {}
            return self.specs.of(node, [names.get(_SCD_ID) or _SCD_ID]), ""
        return self.specs.of(node), ""

    def clone_of(
        self, node: Node, existing: PaimonRelation | None, strategy: str, full_refresh: bool
    ) -> Clone | None:
        """The clone that a node's relation is, if it is one (see `Clones.of`)."""
        return self.clones.of(node, existing, full_refresh=full_refresh) if strategy else None

    def decided(
        self,
        node: Node,
        spec: TableSpec,
        current: ExistingTable,
        columns: Sequence[PaimonColumn] | None,
        *,
        adds: bool,
        strategy: str = "",
    ) -> Plan:
        """The plan for an existing table, as far as it is known before the node runs (see `decide`).

        Args:
            node: the node in the manifest.
            spec: its table spec.
            current: the existing table.
            columns: the columns of its query; None if only the run knows them.
            adds: whether the run adds rows, instead of writing all of them.
            strategy: the strategy of an incremental model.
        """
        tables = self.tables
        changes = None
        if columns is not None:
            changes = tables.column_changes(tables.wanted_columns(columns, node, spec), current, node)
        return decide(node, spec, current, changes, tables.changes, adds=adds, strategy=strategy)

    def previewed(
        self,
        node: Node,
        spec: TableSpec,
        current: ExistingTable,
        query: ModelQuery | None,
        *,
        adds: bool,
        strategy: str = "",
    ) -> Plan:
        """The same for `dbt-paimon plan`, which also fails where the run would refuse the query's types.

        Raises:
            DbtRuntimeError: see `decide`.
            CompilationError: the query's types do not fit the table's.
        """
        plan = self.decided(
            node, spec, current, None if query is None else query.columns, adds=adds, strategy=strategy
        )
        if query is not None and adds:
            columns = self.tables.wanted_columns(query.columns, node, spec)
            changes = self.tables.column_changes(columns, current, node)
            stored = changes.synced(current.columns, on_schema_change(node["config"]))
            self.rows.checked(query, stored, node, spec)
        return plan

    def refresh(
        self, node: Node, spec: TableSpec, existing: PaimonRelation, *, full_refresh: bool
    ) -> Refresh:
        """How a run would refresh an existing materialized view, without the count of what changed.

        Args:
            node: the node in the manifest, compiled.
            spec: its table spec.
            existing: its table.
            full_refresh: whether the run rebuilds tables.
        """
        kept = existing.replace_path(identifier=f"{existing.identifier}{POSITIONS_SUFFIX}")
        run = NodeRun(existing, spec, existing, full_refresh, adds=False)
        try:
            return self.materialized_views.refresh(node, run, kept)
        finally:
            self.changes.forget(node)

    def _reused(self, node: Node, run: NodeRun) -> Written | None:
        """dbt's response if a node with `skip_unchanged` has nothing to do; None if it has to run."""
        kind = run.writer.kind if run.writer else ""

        def pending(current: ExistingTable, columns: Sequence[PaimonColumn]) -> Sequence[str]:
            added = adds(node, full_refresh=False)
            return self.decided(node, run.spec, current, columns, adds=added, strategy=kind).differs

        return self.unchanged.reused(
            node,
            run.target,
            run.existing,
            pending,
            strategy=kind,
            reads_changes=self.changes.are_read(node),
            full_refresh=run.full_refresh,
            rows=run.rows,
        )

    # -- after the hooks --------------------------------------------------------------------------------------------

    def with_rows(self, node: Node, run: NodeRun, source: ModelQuery) -> NodeRun:
        """A run whose query is known: columns are spelled as there, and rows that break its order or batch fail.

        Raises:
            CompilationError: the column of `event_time` has a type that is not a date or timestamp.
        """
        rows = self.rows
        spec = self.specs.spelled(run.spec, source.columns)
        rows.check_event_time(node, run.strategy, source.columns)
        source = rows.ordered(rows.of_batch(source, run.strategy, node), spec, node)
        return replace(run, spec=spec, source=source)

    def reads_once(self, run: NodeRun, source: ModelQuery) -> bool:
        """Whether an increment's rows are read once and kept, instead of by each statement.

        Then exactly the audited rows are published, and a statement that reads its rows twice has the same ones. A
        project's own macro may delete rows of the table before it inserts, as other adapters keep the rows as well.
        """
        if not run.adds or run.writer is None:
            return False
        audits = run.spec.wap and run.branch is None
        return audits or bool(run.writer.override) or not self.rows.reads_alike(source, run.strategy)

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
        tables = self.tables
        there = existing if existing is not None and existing.is_table else None
        columns = tables.wanted_columns(source.columns, node, spec)
        spec = tables.check_columns(node, spec, columns, new=there is None)
        source = self.rows.checked(source, columns, node, spec)
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
            self.history.check_branches(node, kept, there)
            spec = self.buckets.decide(kept, there, current, source)
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
        tables = self.tables
        current = tables.existing(target)
        spec = bucket_numbers.settled(spec, current.options)
        tables.warn_of_older_types(target, current)
        columns = tables.wanted_columns(source.columns, node, spec)
        changes = tables.column_changes(columns, current, node)
        self.history.check_branches(node, spec, target)
        allowed = on_schema_change(node["config"])
        applied = changes.for_increment(allowed)
        table_columns = changes.synced(current.columns, allowed)
        # A column that the config names wrongly says more than an option that ALTER cannot change.
        refuse_schema_change(node["name"], allowed, strategy, spec.merge_engine, changes)
        checked = tables.check_columns(node, spec, table_columns, columns, applied.drop)
        plan = decide(node, spec, current, changes, tables.changes, adds=True, strategy=strategy)
        spec = checked
        source = self.rows.checked(source, table_columns, node, spec)
        kept = self.deletes.fitting(node, target, spec, table_columns) if strategy == APPLY_CHANGES else None
        spec = self.buckets.decide(spec, target, current, source)
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
        run: NodeRun,
        current: ExistingTable,
        versions: ModelQuery,
        helpers: Sequence[str],
    ) -> SettledPlan:
        """The plan of a run that merges new versions into a snapshot's table.

        Args:
            node: the snapshot in the manifest.
            run: its run, with the rows of dbt's staging query.
            current: the existing table.
            versions: the columns that the table should have.
            helpers: the columns of the rows that the table does not get.

        Raises:
            DbtRuntimeError: the rows, their columns or the config do not fit the table.
        """
        target, source, tables = run.target, run.source, self.tables
        assert source is not None
        spec = bucket_numbers.settled(run.spec, current.options)
        tables.warn_of_older_types(target, current)
        wanted = tables.wanted_columns(self.rows.spelled(versions, current).columns, node, spec)
        changes = tables.column_changes(wanted, current, node)
        given = [column for column in source.columns if column.name not in helpers]
        changes = replace(changes, add=tables.wanted_columns(current.lacks(given), node, spec))
        plan = decide(node, spec, current, changes, tables.changes, adds=True)
        self.history.check_branches(node, spec, target)
        table_columns = (*changes.widened(current.columns), *changes.add)
        spec = tables.check_columns(node, spec, table_columns, source.columns)
        # Of a version that ends, only its end is written.
        source = self.rows.checked(source, table_columns, node, spec, "dbt_change_type = 'insert'")
        spec = self.buckets.decide(spec, target, current, source)
        settled = _settled(plan, spec=spec, columns=wanted, source=source, current=current)
        return replace(settled, table_columns=table_columns, written=tuple(given))


def _branch_of(node: Node, clone: Clone, lost: bool) -> PaimonRelation | None:
    """The branch that a clone's run adds rows to; None, with a warning, if a table takes the clone's place."""
    why = clone.rebuild or ("the changes since its last run are lost" if lost else "")
    if not why:
        return clone.branch
    warn(
        f"model '{node['name']}' is built as a table of its own, with all its rows, and not on the branch "
        f"{clone.branch}, which is deleted: {why}."
    )
    return None


def _settled(plan: Plan, **more: Any) -> SettledPlan:
    return SettledPlan(plan.does, plan.before, plan.after, plan.rebuild, plan.differs, **more)
