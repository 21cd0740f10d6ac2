"""`adapter.plans`: plans the run of a node from its config, its query and its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import RelationWrongTypeError
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon import overrides
from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node
from dbt.adapters.paimon.changes.api import Changes
from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.changes.read_modes import Output
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.maintenance.api import Maintenance
from dbt.adapters.paimon.overrides import StrategyMacro
from dbt.adapters.paimon.plan import foreign_tables
from dbt.adapters.paimon.plan.buckets import Buckets
from dbt.adapters.paimon.plan.decide import adds, applied_columns, decide, increment, steps_of
from dbt.adapters.paimon.plan.materialized_views.api import MaterializedViews
from dbt.adapters.paimon.plan.steps import Action, NodeRun, Plan, SettledPlan, Step, StepKind
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import auto_buckets
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.components.key import scd_id
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH, STRATEGIES, on_schema_change
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import booleans
from dbt.adapters.paimon.streaming.api import Streams
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.column_changes import ColumnChanges
from dbt.adapters.paimon.tables.existing import ExistingTable, as_dbt_columns
from dbt.adapters.paimon.time_travel.api import History
from dbt.adapters.paimon.time_travel.audits import Audits
from dbt.adapters.paimon.time_travel.clones import Clone, Clones
from dbt.adapters.paimon.unchanged.api import Unchanged
from dbt.adapters.paimon.views.api import Views
from dbt.adapters.paimon.writing import dbt_snapshots
from dbt.adapters.paimon.writing.api import Rows
from dbt.adapters.paimon.writing.deletes import Deletes
from dbt.adapters.paimon.writing.model_query import ModelQuery
from dbt.adapters.paimon.writing.row_deletes import RowDeletes
from dbt.adapters.paimon.writing.statement_result import StatementResult
from dbt.adapters.paimon.writing.table_writer import TableWriter

logger = AdapterLogger("Paimon")
MATERIALIZED_VIEW: Final = "materialized_view"


@dataclass(frozen=True)
class Plans:
    """Plans the runs of nodes. A failed check raises an error before the table is changed."""

    adapter: AdapterProtocol
    specs: Specs
    tables: Tables
    rows: Rows
    builds: TableWriter
    deletes: Deletes
    buckets: Buckets
    streams: Streams
    changes: Changes
    clones: Clones
    history: History
    unchanged: Unchanged
    materialized_views: MaterializedViews
    audits: Audits
    maintenance: Maintenance
    row_deletes: RowDeletes
    views: Views
    # Unique id -> the commit user of a promotion, which shows what a killed promotion has written.
    promotions: dict[str, str] = field(default_factory=dict)

    # -- before the hooks -------------------------------------------------------------------------------------------

    def begin(self, context: Mapping[str, Any]) -> NodeRun:
        """Decide what a node's run does, and lock its table, before the hooks; raises ConfigErrors before any SQL."""
        run = self.decided(context, locks=True)
        return replace(run, steps=(Step(StepKind.MAINTAIN),)) if run.reused else run

    def decided(self, context: Mapping[str, Any], *, locks: bool) -> NodeRun:
        """What a node's run does, or would do if it were not `reused`. Without `locks`, nothing is written."""
        node = context["model"]
        if node["resource_type"] == "snapshot":
            dbt_snapshots.require_key(node)
        target = context["this"].incorporate(type="table")
        full_refresh = bool(context["should_full_refresh"]())
        spec, strategy = self.spec_of(node)
        strategy_macro = self.strategy_macro(context, strategy) if strategy else None
        rows = self.rows.load_seed(node) if node["resource_type"] == "seed" else None
        # dbt prepares the batches of a model concurrently, so a batch locks an existing table only while it writes. The
        # first batch of a full refresh may build a new table, which needs the lock until it has replaced the old one.
        hold = strategy != MICROBATCH or full_refresh
        existing = self.builds.existing(target, hold=hold) if locks else self.adapter.get_relation(*target.parts)
        _refuse_views(node, existing)
        clone = self.clones.of(node, existing, full_refresh=full_refresh) if strategy else None
        spec, pending = self._configured(node, target, existing, spec, full_refresh)
        self.changes.check_positions(node)
        branch, only_adds = self._destination(node, existing, clone, full_refresh)
        is_stream = node["config"]["materialized"] == "streaming"
        steps = steps_of(
            spec,
            adds=only_adds,
            strategy="" if is_stream else strategy,
            branch=branch is not None,
            override=strategy_macro is not None and bool(strategy_macro.override),
        )
        run = NodeRun(
            target,
            spec,
            existing,
            full_refresh,
            only_adds,
            strategy,
            strategy_macro,
            branch=branch,
            rows=rows,
            steps=tuple(steps),
            pending=pending,
        )
        return run if is_stream or clone is not None else replace(run, reused=self._reused(node, run))

    def _configured(
        self, node: Node, target: PaimonRelation, existing: PaimonRelation | None, spec: TableSpec, full_refresh: bool
    ) -> tuple[TableSpec, tuple[Step, ...]]:
        """The table spec that `on_configuration_change` allows, and the ALTER steps of a materialized view."""
        is_materialized_view = node["config"]["materialized"] == MATERIALIZED_VIEW
        if not is_materialized_view or existing is None or not existing.is_table:
            return spec, ()
        materialized_views = self.materialized_views
        current = materialized_views.existing(existing)
        changes = self._column_changes(node, spec, current, as_dbt_columns(current.columns))
        plan = decide(node, spec, current, changes, self.tables.changeset, adds=False)
        allowed = materialized_views.configured(node, target, spec, current, plan, full_refresh=full_refresh)
        return allowed, (*plan.before, *plan.after) if allowed is spec else ()

    def spec_of(self, node: Node) -> tuple[TableSpec, str]:
        """A node's table spec, and its incremental strategy or ''; ConfigErrors lists every problem of the config."""
        kind = node["config"].get("materialized")
        if kind == "incremental":
            incremental = self.specs.incremental(node)
            return incremental.table, incremental.strategy
        if kind == "streaming":
            stream = self.streams.spec(node)
            return stream.table, stream.strategy
        if kind == MATERIALIZED_VIEW:
            return self.materialized_views.spec(node, self.specs), ""
        if kind == "snapshot":
            return self.specs.of(node, [scd_id(node["config"])]), ""
        return self.specs.of(node), ""

    def strategy_macro(self, context: Mapping[str, Any], strategy: str) -> StrategyMacro:
        """The macro of an incremental strategy, which a project or package may override (see `overrides`)."""
        node, macro = context["model"], self.adapter.get_incremental_strategy_macro(context, strategy)
        found = overrides.strategy_macro(context, strategy, macro, STRATEGIES)
        if found.override and node["config"]["materialized"] == "streaming":
            raise CompilationError(
                f"model '{node['name']}': the macro {found.override} writes the rows of the strategy {strategy}, but a "
                "stream does not call it. Use a different incremental_strategy, or materialized='incremental'."
            )
        return found

    def _destination(
        self, node: Node, existing: PaimonRelation | None, clone: Clone | None, full_refresh: bool
    ) -> tuple[PaimonRelation | None, bool]:
        """The branch that a clone's run writes, or None; and whether the run only adds rows.

        Raises DbtRuntimeError as `Changes.must_rebuild`.
        """
        lost = self.changes.must_rebuild(node)
        if (branch := _branch_of(node, clone, lost)) is not None:
            return branch, True
        has_table = existing is not None and existing.is_table
        return None, has_table and not lost and adds(node, full_refresh)

    def _column_changes(
        self, node: Node, spec: TableSpec, current: ExistingTable, columns: Sequence[PaimonColumn]
    ) -> ColumnChanges:
        return self.tables.column_changes(self.tables.wanted_columns(columns, node, spec, current), current, node)

    def preview(self, node: Node, run: NodeRun, query: ModelQuery | None) -> Plan:
        """How a run changes the existing table; raises CompilationError if the query's types do not fit the table's."""
        table = run.branch or run.table
        if table is None:
            return Plan(Action.CREATE)
        current = self.tables.existing(table)
        changes = None if query is None else self._column_changes(node, run.spec, current, query.columns)
        compare = self.tables.changeset
        plan = decide(node, run.spec, current, changes, compare, adds=run.adds, strategy=run.strategy)
        if query is not None and changes is not None and run.adds:
            stored = changes.columns_during_increment(current.columns, on_schema_change(node["config"]))
            self.rows.checked(query, stored, node, run.spec)
        return plan

    def _reused(self, node: Node, run: NodeRun) -> StatementResult | None:
        """dbt's response if the node is skipped (`skip_unchanged`); None if it has to run."""
        kind = run.strategy_macro.kind if run.strategy_macro else ""

        def pending(current: ExistingTable, columns: Sequence[PaimonColumn]) -> Sequence[str]:
            added, changes = adds(node, full_refresh=False), self._column_changes(node, run.spec, current, columns)
            return decide(node, run.spec, current, changes, self.tables.changeset, adds=added, strategy=kind).differs

        return self.unchanged.reused(
            node,
            run.target,
            run.existing,
            pending,
            strategy=kind,
            reads_changes=self.changes.reads_changes(node),
            full_refresh=run.full_refresh,
            rows=run.rows,
        )

    # -- while a model is compiled ----------------------------------------------------------------------------------

    @while_parsing(lambda *_, **__: False)
    def adds_to(self, node: Node, relation: PaimonRelation) -> bool:
        """Whether an incremental model adds rows to its existing relation: a table, or a clone by branch."""
        clone = self.clones.of(node, relation, full_refresh=False)
        adds_rows = relation.is_table or (clone is not None and not clone.rebuild)
        return adds_rows and self.changes.may_add(node)

    @while_parsing(lambda *_, **__: "")
    def changes_sql(
        self,
        node: Node,
        this: PaimonRelation,
        relation: PaimonRelation,
        *,
        builds: bool,
        full_refresh: bool,
        between: Sequence[Any],
        on_expired: str,
        keep: Any,
        before: Any,
        **output: Any,
    ) -> str:
        """The subquery of `paimon_changes` (see `Changes.sql` and `Changes.between_sql`).

        Args:
            between: the first and last table snapshot of a range, or None and None.
            before: whether to return old rows, too.
            output: the other fields of `Output`.
        """
        keep = booleans.argument("paimon_changes", "keep", keep)
        added = Output(before=booleans.argument("paimon_changes", "before", before), **output)
        start, end = between
        if start is not None or end is not None:
            return self.changes.between_sql(node, relation, start, end, added)
        if builds:
            # Lock the table, so that no other run advances the positions before this one writes.
            self.builds.hold(this)
        existing = self.adapter.get_relation(*this.parts)
        own: PaimonRelation = this.incorporate(type="table")
        kept = positions_of(own)
        clone = self.clones.of(node, existing, full_refresh=full_refresh)
        reads_all = full_refresh or existing is None or not existing.is_table
        if clone is not None and not clone.rebuild:
            own, reads_all = clone.branch, False
        return self.changes.sql(
            node, own, kept, relation, added, full_refresh=reads_all, on_expired=on_expired, keep=keep
        )

    # -- after the hooks --------------------------------------------------------------------------------------------

    def with_rows(self, node: Node, run: NodeRun, source: ModelQuery) -> tuple[NodeRun, ModelQuery]:
        """Return the run with columns spelled as in the query, and the query with checks of its keys and event_time."""
        spec = self.specs.spelled(run.spec, source.columns)
        source = self.rows.reject_nan_keys(self.rows.of_batch(source, run.strategy, node), spec, node)
        return replace(run, spec=spec), source

    def build(self, node: Node, run: NodeRun, spec: TableSpec, source: ModelQuery) -> SettledPlan:
        """Plan a run that writes all rows of a table; refuses to lose history without consent (`on_rebuild`)."""
        tables, table = self.tables, run.table
        current = None if table is None else self.unless_dropped(table)
        columns = tables.wanted_columns(source.columns, node, spec, current)
        spec = tables.check_columns(node, spec, columns, new=current is None)
        source = self.rows.checked(source, columns, node, spec)
        if table is None or current is None:
            return SettledPlan(Action.CREATE, spec=spec, columns=columns, source=source)
        with_buckets = auto_buckets.with_existing_count(spec, current.options)
        changes = tables.column_changes(columns, current, node)
        plan = decide(node, with_buckets, current, changes, tables.changeset, adds=False)
        if plan.action is Action.SWAP:
            tables.refuse_loss(node, table, plan.rebuild, run.full_refresh)
            logger.info(f"{table} is rebuilt and swapped, which loses its table snapshots and tags ({plan.rebuild})")
        else:
            self.history.check_branches(node, with_buckets, table)
            # The run writes all rows, so it also ends an unfinished rescale.
            ends = auto_buckets.is_rescaling(current.options)
            spec = with_buckets if ends else self.buckets.resolve(with_buckets, table, current, source)
        return SettledPlan(**vars(plan), spec=spec, columns=columns, source=source, current=current)

    def created(self, node: Node, source: ModelQuery) -> SettledPlan:
        """Plan the CREATE TABLE AS of a model whose materialization is of the project or a package.

        Raises:
            ConfigErrors: the config is invalid, or has keys that only the adapter's materializations read.
        """
        spec = self.specs.spelled(self.specs.of(node), source.columns)
        columns = self.tables.wanted_columns(source.columns, node, spec)
        foreign_tables.refuse_unread(node, spec, columns)
        self.specs.advise(node, spec, more=foreign_tables.warnings(node, spec))
        spec = self.tables.check_columns(node, spec, columns, new=True)
        source = self.rows.checked(self.rows.reject_nan_keys(source, spec, node), columns, node, spec)
        return SettledPlan(Action.CREATE, spec=spec, columns=columns, source=source)

    def unless_dropped(self, table: PaimonRelation) -> ExistingTable | None:
        """The existing table; None if it was dropped after dbt listed the tables, as by a hook."""
        try:
            return self.tables.existing(table)
        except DbtRuntimeError as exc:
            if not is_not_found(exc.__cause__ or exc) or self.tables.described(table) is not None:
                raise
        self.adapter.cache_dropped(table)
        return None

    def to_add_to(self, node: Node, table: PaimonRelation) -> ExistingTable:
        """The existing table that a run adds rows to; raises DbtRuntimeError if it was dropped meanwhile."""
        if (current := self.unless_dropped(table)) is not None:
            return current
        raise DbtRuntimeError(
            f"{node['resource_type']} '{node['name']}': {table} was dropped after dbt had listed the tables, by a hook "
            "(pre_hook, on-run-start) or by another program. Nothing was written, because this run has only the new "
            "rows. Remove the hook; the next run builds the table with all rows."
        )

    def put_in_place(self, staging: PaimonRelation, target: PaimonRelation, existing: PaimonRelation | None) -> None:
        """Give a complete staged table its name, in place of the table or the view that has it."""
        if existing is not None and existing.is_table:
            self.builds.swap(staging, target)
            return
        shares_names = self.views.shares_names(target)
        if existing is not None and shares_names:
            self.adapter.drop_relation(existing)
        elif existing is not None:
            # dbt's cache can hold only one relation of this name.
            self.adapter.cache_dropped(existing)
        self.adapter.rename_relation(staging, target)
        if existing is not None and not shares_names:
            self.adapter.drop_relation(existing)

    def helpers(self, table: PaimonRelation) -> list[PaimonRelation]:
        """The existing helper tables of a table, which keep its deletes and positions."""
        positions = self.changes.positions_table(positions_of(table))
        return [*self.deletes.relations(table), *([positions] if positions else [])]

    def increment(
        self, node: Node, target: PaimonRelation, spec: TableSpec, strategy: str, source: ModelQuery
    ) -> SettledPlan:
        """Plan a run that adds rows to a table or to a branch of it."""
        tables = self.tables
        current = self.to_add_to(node, target)
        spec = auto_buckets.with_existing_count(spec, current.options)
        tables.warn_of_older_types(target, current)
        columns = tables.wanted_columns(source.columns, node, spec, current)
        changes = tables.column_changes(columns, current, node)
        self.history.check_branches(node, spec, target)
        applied = applied_columns(node, spec, changes, strategy)
        table_columns = changes.columns_during_increment(current.columns, on_schema_change(node["config"]))
        # This check precedes `increment`, because a wrong column name is a clearer error than an immutable option.
        checked = tables.check_columns(node, spec, table_columns, columns, applied.drop)
        plan = increment(node, spec, current, applied, tables.changeset)
        spec = checked
        source = self.rows.checked(source, table_columns, node, spec)
        kept = self.deletes.fitting(node, target, spec, table_columns) if strategy == APPLY_CHANGES else None
        spec = self.buckets.resolve(spec, target, current, source)
        skipped = {column.name for column in changes.add} - {column.name for column in applied.add}
        return SettledPlan(
            **vars(plan),
            spec=spec,
            columns=columns,
            source=source,
            current=current,
            table_columns=table_columns,
            written=as_dbt_columns(column for column in columns if column.name not in skipped),
            kept_deletes=kept,
        )

    def snapshot(
        self,
        node: Node,
        run: NodeRun,
        source: ModelQuery,
        current: ExistingTable,
        versions: ModelQuery,
        helpers: Sequence[str],
    ) -> SettledPlan:
        """Plan a run that merges new versions into a snapshot's table.

        Args:
            source: the rows of dbt's staging query.
            versions: a query with the columns that the table should have.
            helpers: the columns of `source` that are not stored.
        """
        target, tables = run.target, self.tables
        spec = auto_buckets.with_existing_count(run.spec, current.options)
        tables.warn_of_older_types(target, current)
        wanted = tables.wanted_columns(self.rows.spelled(versions, current).columns, node, spec, current)
        changes = tables.column_changes(wanted, current, node)
        given = [column for column in source.columns if column.name not in helpers]
        changes = replace(changes, add=tables.wanted_columns(current.lacks(given), node, spec))
        plan = decide(node, spec, current, changes, tables.changeset, adds=True)
        self.history.check_branches(node, spec, target)
        table_columns = (*changes.columns_after_widening(current.columns), *changes.add)
        spec = tables.check_columns(node, spec, table_columns, source.columns)
        # Only these rows are checked, because the MERGE inserts them. The others only set dbt_valid_to.
        source = self.rows.checked(source, table_columns, node, spec, "dbt_change_type = 'insert'")
        spec = self.buckets.resolve(spec, target, current, source)
        return SettledPlan(
            **vars(plan),
            spec=spec,
            columns=wanted,
            source=source,
            current=current,
            table_columns=table_columns,
            written=tuple(given),
        )


def _refuse_views(node: Node, existing: PaimonRelation | None) -> None:
    """Refuse to build a seed or snapshot under the name of a view, as dbt does."""
    if existing is None or existing.is_table:
        return
    if node["resource_type"] == "snapshot":
        raise RelationWrongTypeError(existing, "table", None)
    if node["resource_type"] == "seed":
        raise CompilationError(f"Cannot seed to '{existing}', it is a view")


def _branch_of(node: Node, clone: Clone | None, lost: bool) -> PaimonRelation | None:
    """The branch that the run of a clone adds rows to; None, with a warning, if a table replaces the clone."""
    if clone is None:
        return None
    why = clone.rebuild or ("the changes since its last run are lost" if lost else "")
    if not why:
        return clone.branch
    warn(
        f"model '{node['name']}' is built as a table with all its rows. It replaces the branch "
        f"{clone.branch}, which is deleted: {why}."
    )
    return None
