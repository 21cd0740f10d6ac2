"""Write modes: staged build, overwrite, increment and merge. Each writes directly, or audits before it publishes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from dbt.adapters.paimon.concurrency.conflicts import REBUILD, SNAPSHOT
from dbt.adapters.paimon.overrides import override_of
from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.macros import Macros
from dbt.adapters.paimon.plan.steps import Action, NodeRun, SettledPlan
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.responses import STAGING
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH, STRATEGIES, WHOLE_TABLE, conf_of
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.writing.dbt_snapshots import helper_columns
from dbt.adapters.paimon.writing.deletes import KeptDeletes
from dbt.adapters.paimon.writing.model_query import ModelQuery

_MERGE: Final = "snapshot_merge_sql"


@dataclass(frozen=True)
class NodeWriter(Macros):
    """A node's macros, and the statements that write its rows."""

    plans: Plans

    def send(
        self,
        target: PaimonRelation,
        kind: str,
        spec: TableSpec,
        sql: str,
        conf: Mapping[str, str],
        *,
        writes_rows: bool = False,
    ) -> None:
        """Run the node's main statement, which writes into an existing table, under its lock.

        Args:
            kind: a strategy, or a different kind of statement (see `TableWriter.write`).
            writes_rows: whether the statement is a query whose rows are written with their row kinds.
        """
        mark = self.mark(target if kind == REBUILD else None)
        deletes = bool(self.config("merge_delete_condition"))
        self.save(sql)
        self.store(self.plans.builds.write(target, sql, kind, spec, conf, mark, deletes, writes_rows))

    def mark(self, rebuilt: PaimonRelation | None = None) -> str:
        """What the node's commit stores in its user: its promotion, read positions or `skip_unchanged` key; or ''.

        `rebuilt`: the table, if all of its rows are replaced.
        """
        plans, node = self.plans, self.node
        return (
            plans.promotions.get(node["unique_id"])
            or plans.changes.mark(node, rebuilt=rebuilt is not None)
            or plans.unchanged.mark(node)
            or (plans.changes.unread_mark(rebuilt) if rebuilt is not None else "")
        )

    def audit(self, target: PaimonRelation, audited: PaimonRelation, staged: ModelQuery | None = None) -> None:
        """Run a model's data tests on a branch or staged table; the view of `staged` is dropped if a test fails."""
        audits = self.plans.audits
        results = audits.results(self.context, target, audited)
        if staged is not None and any(result.is_error for result in results):
            self("paimon__drop_staged", staged)
        audits.refuse_failed(self.node, target, audited, results)

    def ready_deletes(self, kept: KeptDeletes, spec: TableSpec) -> None:
        """Create the table of deletes (`apply_changes`), or change its column types to those of the main table."""
        adapter, relation = self.plans.adapter, kept.relation
        if adapter.get_relation(*relation.parts) is None:
            self("paimon__create_deletes", spec, kept)
            adapter.cache_added(relation)
            return
        for column in kept.retype:
            self("paimon__alter_column_type", relation, column.name, column.data_type)

    def prepare(self, target: PaimonRelation, plan: SettledPlan, run: NodeRun) -> tuple[str, Mapping[str, str]]:
        """Run the plan's ALTER steps, and return the statement that adds the rows, and its Spark settings."""
        strategy = run.strategy_macro
        assert strategy is not None
        assert plan.current is not None
        self.check_documented(target, plan.columns)
        self.alter(target, plan.before)
        if plan.kept_deletes is not None:
            self.ready_deletes(plan.kept_deletes, plan.spec)
        rows, node, source = self.plans.rows, self.node, plan.source
        arguments: dict[str, Any] = {
            "target_relation": target,
            "temp_relation": source if strategy.kind in STRATEGIES else self.relation_of(target, source),
            "unique_key": self.config("unique_key") or list(plan.spec.primary_key),
            "dest_columns": list(plan.written),
            "incremental_predicates": rows.predicates(node, strategy.kind, plan.current.columns),
            "table_columns": list(plan.table_columns),
            "spec": plan.spec,
            "kept_deletes": plan.kept_deletes,
        }
        if run.strategy == MICROBATCH:
            arguments["batch_window"] = rows.batch_window(node, plan.table_columns)
        sql, conf = str(strategy.call(arguments)), conf_of(strategy.kind, plan.spec)
        if strategy.override:
            sql, more = self.plans.row_deletes.prepared(sql)
            conf = {**conf, **more}
        return sql, conf

    def relation_of(self, target: PaimonRelation, source: ModelQuery) -> PaimonRelation:
        """The rows as a relation whose columns a project's own strategy can look up."""
        view: PaimonRelation = self("make_temp_relation", target)
        if source.is_relation:
            return cast("PaimonRelation", view.incorporate(path={"identifier": source.view}))
        sql = self.sql("spark__create_temporary_view", view, f"select * from {source}")
        self.statement("create_temporary_view", sql)
        return view


@dataclass
class WriteMode(ABC):
    """How a node's rows reach their table."""

    replaces_all_rows: ClassVar[bool] = False
    writer: NodeWriter

    @abstractmethod
    def write(self) -> None:
        """Write the rows without an audit."""

    @abstractmethod
    def audit(self) -> None:
        """Write the rows to a branch or staged table, and run the model's data tests on them."""

    @abstractmethod
    def publish(self) -> None:
        """Write the audited rows to the table."""


@dataclass
class StagedBuild(WriteMode):
    """Build a complete table under a staging name, then rename it, or swap it with the existing one (`replaced`).

    `view` is a view of the same name, which is dropped.
    """

    replaces_all_rows: ClassVar[bool] = True
    target: PaimonRelation
    replaced: PaimonRelation | None
    columns: Sequence[ExistingColumn]
    spec: TableSpec
    source: ModelQuery
    comment: str
    view: PaimonRelation | None = None
    _staging: PaimonRelation | None = None

    def write(self) -> None:
        self.stage()
        self.publish()

    def audit(self) -> None:
        """The staged table of a failed audit is kept for inspection; the branch of an earlier audit is dropped."""
        if self.replaced is not None:
            self.writer.plans.audits.end(self.replaced)
        self.writer.audit(self.target, self.stage())

    def publish(self) -> None:
        plans, staging = self.writer.plans, self._staging
        assert staging is not None
        plans.put_in_place(staging, self.target, self.replaced or self.view)
        if not self._is_kept:
            plans.builds.ends(staging)

    @property
    def _is_kept(self) -> bool:
        """Whether the next run must keep this staged table: after a kill in the rename, it may be the only copy."""
        by_copying = self.writer.plans.builds.renames_by_copying(self.target)
        return self.replaced is not None or self.spec.wap or by_copying

    def stage(self) -> PaimonRelation:
        """Build the complete table under a staging name."""
        writer, plans = self.writer, self.writer.plans
        plans.history.check_branches(writer.node, self.spec)
        spec = plans.buckets.estimate(self.spec, self.source)
        self._staging = staging = plans.builds.staging(self.target)
        plans.builds.begins(staging)
        create = writer.sql("paimon__create_table_sql", staging, self.columns, spec, self.comment)
        insert = writer.sql("paimon__insert_sql", staging, self.columns, self.source)
        # One script, so that the file under target/run contains both the CREATE TABLE and the INSERT.
        script = f"{create};\n\n{insert}"
        if writer.mark():
            # The commit user is set for the INSERT only: CREATE would store it as a table option.
            writer.statement("create", create)
            writer.send(staging, STAGING, spec, insert, {})
            writer.save(script)
        else:
            writer.save(script)
            writer.store(plans.builds.create(staging, script, spec))
        plans.buckets.correct(spec, staging)
        if self._is_kept:
            plans.builds.ends(staging)
        return staging


@dataclass
class Overwrite(WriteMode):
    """Alter an existing table or a branch of it, and replace all its rows in one commit."""

    replaces_all_rows: ClassVar[bool] = True
    target: PaimonRelation
    plan: SettledPlan
    _branch: PaimonRelation | None = None

    def write(self) -> None:
        self._overwrite(self.target, self.plan.source)

    def audit(self) -> None:
        """Audit a branch that starts without rows."""
        self._branch = self.writer.plans.audits.begin(self.target, with_rows=False)
        self._overwrite(self._branch, self.plan.source)
        self.writer.audit(self.target, self._branch)

    def publish(self) -> None:
        assert self._branch is not None
        self._overwrite(self.target, self.plan.source.read_from(self._branch))
        self.writer.plans.audits.end(self.target)

    def _overwrite(self, target: PaimonRelation, source: ModelQuery) -> None:
        writer, plan = self.writer, self.plan
        writer.alter(target, plan.before)
        sql = writer.sql("paimon__overwrite_sql", target, plan.columns, plan.dropped, source)
        writer.send(target, REBUILD, plan.spec, sql, WHOLE_TABLE)
        writer.alter(target, plan.after)


@dataclass
class IncrementalWrite(WriteMode):
    """Alter an existing table or a branch of it, and add rows with the strategy's statement."""

    run: NodeRun
    source: ModelQuery

    def write(self) -> None:
        self._add(self.run.branch or self.run.target)

    def audit(self) -> None:
        """Audit a branch that starts with the table's rows."""
        branch = self.writer.plans.audits.begin(self.run.target, with_rows=True)
        self._add(branch)
        self.writer.audit(self.run.target, branch, self.source)

    def publish(self) -> None:
        """Plan again for the table itself, which may have changed since the audit."""
        self._add(self.run.target)
        self.writer.plans.audits.end(self.run.target)

    def _add(self, target: PaimonRelation) -> None:
        run, writer = self.run, self.writer
        assert run.strategy_macro is not None
        plan = writer.plans.increment(writer.node, target, run.spec, run.strategy, self.source)
        sql, conf = writer.prepare(target, plan, run)
        writer.send(target, run.strategy_macro.kind, plan.spec, sql, conf)
        writer.alter(target, plan.after)


@dataclass
class SnapshotMerge(WriteMode):
    """Merge new versions (dbt's staged rows, `source`) into a snapshot's table; dbt's macro renders the MERGE."""

    run: NodeRun
    source: ModelQuery
    current: ExistingTable
    versions: ModelQuery

    def write(self) -> None:
        writer, target = self.writer, self.run.target
        helpers = helper_columns(writer.config("unique_key"))
        plan = writer.plans.snapshot(writer.node, self.run, self.source, self.current, self.versions, helpers)
        writer.check_documented(target, plan.columns)
        writer.alter(target, plan.before)
        kind = "snapshot override" if override_of(writer.context, _MERGE) else SNAPSHOT
        sql = writer.sql(_MERGE, target, plan.source, [column.quoted for column in plan.written])
        writer.send(target, kind, plan.spec, sql, {})
        writer.alter(target, plan.after)

    def audit(self) -> None:
        # Snapshots are not audited.
        raise NotImplementedError

    publish = audit


@dataclass
class ApplyChangesRebuild(WriteMode):
    """Write all rows of an `apply_changes` table with the mode `rows`, and replace the deletes of old runs (`old`)."""

    replaces_all_rows: ClassVar[bool] = True
    rows: WriteMode
    spec: TableSpec
    changes: ModelQuery
    kept: KeptDeletes
    old: PaimonRelation | None

    def write(self) -> None:
        self._add_deletes()
        self.rows.write()
        self._replace_deletes()

    def audit(self) -> None:
        """The deletes of older runs stay until the rows are published."""
        self._add_deletes()
        self.rows.audit()

    def publish(self) -> None:
        self.rows.publish()
        self._replace_deletes()

    def _add_deletes(self) -> None:
        if self.kept.fits:
            self.writer.ready_deletes(self.kept, self.spec)
            self._keep()

    def _replace_deletes(self) -> None:
        if self.old is None:
            return
        if self.kept.fits:
            self._keep(overwrite=True)
            return
        # The old deletes have a different key or sequence, so they cannot apply to the new rows.
        self.writer.plans.adapter.drop_relation(self.old)
        self.writer.ready_deletes(self.kept, self.spec)
        self._keep()

    def _keep(self, *, overwrite: bool = False) -> None:
        sql = self.writer.sql("paimon__keep_deletes_sql", self.spec, self.kept, self.changes, overwrite=overwrite)
        self.writer.statement("keep_deletes", sql)


def planned_write_mode(writer: NodeWriter, run: NodeRun, source: ModelQuery) -> WriteMode:
    """Choose the write mode of a run; also settles the plan of a rebuild."""
    if run.adds:
        return IncrementalWrite(writer, run, source)
    if run.strategy != APPLY_CHANGES:
        return _rebuild(writer, run, run.spec, source)
    plans, node = writer.plans, writer.node
    columns = plans.tables.wanted_columns(source.columns, node, run.spec)
    spec = plans.tables.check_columns(node, run.spec, columns, new=run.table is None)
    relation = plans.deletes.relation(node, run.target)
    kept = plans.deletes.kept(relation, spec, columns)
    changes = plans.rows.checked(source, columns, node, spec)
    old = plans.adapter.get_relation(*relation.parts)
    return ApplyChangesRebuild(writer, _rebuild(writer, run, spec, source), spec, changes, kept, old)


def _rebuild(writer: NodeWriter, run: NodeRun, spec: TableSpec, source: ModelQuery) -> WriteMode:
    existing = run.existing
    plan = writer.plans.build(writer.node, run, spec, source)
    writer.check_documented(run.target, plan.columns)
    if not plan.stages:
        return Overwrite(writer, run.target, plan)
    view = existing if existing is not None and existing.is_view else None
    # A hook may have dropped the table.
    replaced = run.table if plan.action is Action.SWAP else None
    return StagedBuild(writer, run.target, replaced, plan.columns, plan.spec, plan.source, writer.comment, view)
