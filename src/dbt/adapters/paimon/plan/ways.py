"""The ways in which rows reach a table: into a new table, in place of all rows, or beside them.

Each writes at once, or audits the rows in another place before it publishes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dbt.adapters.paimon.concurrency.conflicts import REBUILD, SNAPSHOT
from dbt.adapters.paimon.overrides import override_of
from dbt.adapters.paimon.spark.responses import STAGING
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH, STRATEGIES, WHOLE_TABLE, conf_of
from dbt.adapters.paimon.writing.snapshots import helper_columns

if TYPE_CHECKING:
    from dbt.adapters.paimon.plan.api import Plans
    from dbt.adapters.paimon.plan.macros import Macros
    from dbt.adapters.paimon.plan.steps import NodeRun, SettledPlan
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
    from dbt.adapters.paimon.writing.deletes import KeptDeletes
    from dbt.adapters.paimon.writing.model_query import ModelQuery


_MERGE: Final = "snapshot_merge_sql"


@dataclass(frozen=True)
class Writer:
    """Sends the statements that write a node's rows.

    Attributes:
        plans: settles plans, and has the features of the adapter.
        macros: those of the node.
    """

    plans: Plans
    macros: Macros

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
        """Send the node's main statement, which writes into an existing table; the table's lock is held meanwhile.

        Args:
            target: the table.
            kind: a strategy, or another kind of statement (see `TableWriter.write`).
            spec: its table spec.
            sql: the statement.
            conf: Spark settings for this statement only.
            writes_rows: whether it is a query whose rows are written with their row kinds.
        """
        conf = {**conf, **self.plans.changes.commit_conf(self.macros.node)}
        deletes = bool(self.macros.config("merge_delete_condition"))
        self.macros.write(sql)
        self.macros.store(self.plans.builds.write(target, sql, kind, spec, conf, deletes, writes_rows))

    def audit(
        self, target: PaimonRelation, audited: PaimonRelation, staged: ModelQuery | None = None
    ) -> None:
        """Run the data tests of a model on rows that are not published yet.

        Args:
            target: the published table.
            audited: the relation with the new rows, a branch or a staged table.
            staged: the query of the new rows, dropped if they do not pass.

        Raises:
            DbtRuntimeError: one of them fails.
        """
        audits = self.plans.audits
        results = audits.results(self.macros.context, target, audited)
        if staged is not None and any(result.is_error for result in results):
            self.macros("paimon__drop_staged", staged)
        audits.refuse_failed(self.macros.node, audited, results)

    def ready_deletes(self, kept: KeptDeletes, spec: TableSpec) -> None:
        """Create the table of deletes (`apply_changes`), or change its column types to those of the table."""
        host, relation = self.plans.adapter, kept.relation
        if host.get_relation(*relation.parts) is None:
            self.macros("paimon__create_deletes", spec, kept)
            host.cache_added(relation)
            return
        self.plans.deletes.migrate(relation, kept)
        for column in kept.retype:
            self.macros("paimon__alter_column_type", relation, column.name, column.data_type)

    def prepare(
        self, target: PaimonRelation, plan: SettledPlan, run: NodeRun
    ) -> tuple[str, Mapping[str, str]]:
        """Alter a table as its plan says, and render the statement that adds a node's rows.

        Returns:
            The statement, and the Spark settings that it alone has.
        """
        macros, writer = self.macros, run.writer
        assert writer is not None
        assert plan.current is not None
        macros.check_documented(target, plan.columns)
        macros.run(target, plan.before)
        if plan.kept_deletes is not None:
            self.ready_deletes(plan.kept_deletes, plan.spec)
        rows, node = self.plans.rows, macros.node
        given: dict[str, Any] = {
            "target_relation": target,
            "temp_relation": plan.source
            if writer.kind in STRATEGIES
            else self.relation_of(target, plan.source),
            "unique_key": macros.config("unique_key") or list(plan.spec.primary_key),
            "dest_columns": list(plan.written),
            "incremental_predicates": rows.predicates(node, writer.kind, plan.current.columns),
            "table_columns": list(plan.table_columns),
            "spec": plan.spec,
            "kept_deletes": plan.kept_deletes,
        }
        if run.strategy == MICROBATCH:
            given["batch_window"] = rows.batch_window(node, plan.table_columns)
        sql, conf = str(writer.call(given)), conf_of(run.strategy, plan.spec)
        if writer.override:
            sql, more = self.plans.row_deletes.prepared(sql)
            conf = {**conf, **more}
        return sql, conf

    def relation_of(self, target: PaimonRelation, source: ModelQuery) -> PaimonRelation:
        """A strategy of the project may read the columns of its rows, so it gets a real relation."""
        view: PaimonRelation = self.macros("make_temp_relation", target)
        if source.is_relation:
            staged: PaimonRelation = view.incorporate(path={"identifier": source.view})
            return staged
        sql = self.macros.sql("spark__create_temporary_view", view, f"select * from {source}")
        self.macros.statement("create_temporary_view", sql)
        return view


class Way(ABC):
    """How a node's rows reach their table.

    Attributes:
        is_whole: whether all rows of the table are written.
    """

    is_whole: ClassVar[bool] = False

    @abstractmethod
    def write(self) -> None:
        """Write the rows at once."""

    @abstractmethod
    def audit(self) -> None:
        """Write the rows elsewhere, and run the model's data tests on them."""

    @abstractmethod
    def publish(self) -> None:
        """Write the audited rows to the table."""


@dataclass
class Staged(Way):
    """A complete table under a staging name, which then takes the name of the target.

    Attributes:
        writer: sends statements.
        target: the table.
        replaced: the table of that name; None without one.
        columns, spec, source, comment: the new table.
    """

    is_whole: ClassVar[bool] = True
    writer: Writer
    target: PaimonRelation
    replaced: PaimonRelation | None
    columns: Sequence[ExistingColumn]
    spec: TableSpec
    source: ModelQuery
    comment: str
    _staging: PaimonRelation | None = None

    def write(self) -> None:
        """Build the table, then rename it."""
        self._build()
        self.publish()

    def audit(self) -> None:
        """Build the table and run the data tests on it; after a failed audit it is kept for inspection."""
        self._build()
        assert self._staging is not None
        self.writer.audit(self.target, self._staging)

    def publish(self) -> None:
        """Give the complete table its name."""
        builds, staging = self.writer.plans.builds, self._staging
        assert staging is not None
        if self.replaced is not None:
            builds.swap(staging, self.target)
        else:
            self.writer.plans.adapter.rename_relation(staging, self.target)
        if not self._is_kept:
            builds.ends(staging)

    @property
    def _is_kept(self) -> bool:
        """During a swap it may be the only complete table."""
        return self.replaced is not None or self.spec.wap

    def _build(self) -> None:
        plans, macros = self.writer.plans, self.writer.macros
        plans.history.check_branches(macros.node, self.spec)
        spec = plans.buckets.estimate(self.spec, self.source)
        self._staging = staging = plans.builds.staging(self.target)
        plans.builds.begins(staging)
        create = macros.sql("paimon__create_table_sql", staging, self.columns, spec, self.comment)
        insert = macros.sql("paimon__insert_sql", staging, self.columns, self.source)
        # One script, so that the file under target/run shows the table with its rows.
        script = f"{create};\n\n{insert}"
        if plans.changes.commit_conf(macros.node):
            # The commit user is set for the INSERT only: Paimon would store it as an option of a table created with it.
            macros.statement("create", create)
            self.writer.send(staging, STAGING, spec, insert, {})
            macros.write(script)
        else:
            macros.write(script)
            macros.store(plans.builds.create(staging, script, spec))
        plans.buckets.correct(spec, staging)
        if self._is_kept:
            plans.builds.ends(staging)


@dataclass
class InPlace(Way):
    """The options, columns and rows of an existing table, or of a branch of it; the rows in one commit.

    Attributes:
        writer: sends statements.
        target: the table.
        plan: what is altered and written.
    """

    is_whole: ClassVar[bool] = True
    writer: Writer
    target: PaimonRelation
    plan: SettledPlan
    _branch: PaimonRelation | None = None

    def write(self) -> None:
        """Overwrite the table."""
        self._overwrite(self.target, self.plan.source)

    def audit(self) -> None:
        """Write the rows to a branch that begins without any, and run the data tests on it."""
        self._branch = self.writer.plans.audits.begin(self.target, with_rows=False)
        self._overwrite(self._branch, self.plan.source)
        self.writer.audit(self.target, self._branch)

    def publish(self) -> None:
        """Overwrite the table with the rows of the branch."""
        assert self._branch is not None
        self._overwrite(self.target, self.plan.source.read_from(self._branch))
        self.writer.plans.audits.end(self.target)

    def _overwrite(self, target: PaimonRelation, source: ModelQuery) -> None:
        macros, plan = self.writer.macros, self.plan
        macros.run(target, plan.before)
        sql = macros.sql("paimon__overwrite_sql", target, plan.columns, plan.dropped, source)
        self.writer.send(target, REBUILD, plan.spec, sql, WHOLE_TABLE)
        macros.run(target, plan.after)


@dataclass
class Increment(Way):
    """Rows beside those that an existing table, or a branch of it, has.

    Attributes:
        writer: sends statements.
        run: the node's run.
        source: its rows.
    """

    writer: Writer
    run: NodeRun
    source: ModelQuery

    def write(self) -> None:
        """Add the rows."""
        self._add(self.run.branch or self.run.target)

    def audit(self) -> None:
        """Add the rows to a branch with those of the table, and run the data tests on it."""
        branch = self.writer.plans.audits.begin(self.run.target, with_rows=True)
        self._add(branch)
        self.writer.audit(self.run.target, branch, self.source)

    def publish(self) -> None:
        """Add the rows to the table, which is read again, and altered as it needs now."""
        self._add(self.run.target)
        self.writer.plans.audits.end(self.run.target)

    def _add(self, target: PaimonRelation) -> None:
        """What is altered first, the strategy's one statement, the rest."""
        run = self.run
        assert run.writer is not None
        plan = self.writer.plans.increment(
            self.writer.macros.node, target, run.spec, run.strategy, self.source
        )
        sql, conf = self.writer.prepare(target, plan, run)
        self.writer.send(target, run.writer.kind, plan.spec, sql, conf)
        self.writer.macros.run(target, plan.after)


@dataclass
class Versions(Way):
    """New versions of a snapshot's rows, merged into its table; dbt's macro renders the MERGE.

    Attributes:
        writer: sends statements.
        run: the snapshot's run.
        source: dbt's staged rows.
        current: its table.
        versions: the columns that the table should have.
    """

    writer: Writer
    run: NodeRun
    source: ModelQuery
    current: ExistingTable
    versions: ModelQuery

    def write(self) -> None:
        """Merge the versions."""
        macros, target = self.writer.macros, self.run.target
        helpers = helper_columns(macros.config("unique_key"))
        plan = self.writer.plans.snapshot(
            macros.node, self.run, self.source, self.current, self.versions, helpers
        )
        macros.check_documented(target, plan.columns)
        macros.run(target, plan.before)
        kind = "snapshot override" if override_of(macros.context, _MERGE) else SNAPSHOT
        sql = macros.sql(_MERGE, target, plan.source, [column.quoted for column in plan.written])
        self.writer.send(target, kind, plan.spec, sql, {})
        macros.run(target, plan.after)

    def audit(self) -> None:
        """Snapshots are not audited."""
        raise NotImplementedError

    publish = audit


@dataclass
class FromChanges(Way):
    """All rows of a table that `apply_changes` writes: the result of the changes. Drops deletes of older runs.

    Attributes:
        writer: sends statements.
        rows: how the rows themselves are written.
        spec: the table spec.
        changes: the change rows, cast and checked.
        kept: how the deletes are kept.
        old: the table of deletes of older runs; None without one.
    """

    is_whole: ClassVar[bool] = True
    writer: Writer
    rows: Way
    spec: TableSpec
    changes: ModelQuery
    kept: KeptDeletes
    old: PaimonRelation | None

    def write(self) -> None:
        """Keep the deletes, and write the rows."""
        self._keep_first()
        self.rows.write()
        self._keep_last()

    def audit(self) -> None:
        """Keep the deletes beside those that are there, and audit the rows."""
        self._keep_first()
        self.rows.audit()

    def publish(self) -> None:
        """Publish the rows, and keep their deletes alone."""
        self.rows.publish()
        self._keep_last()

    def _keep_first(self) -> None:
        if self.kept.fits:
            self.writer.ready_deletes(self.kept, self.spec)
            self._keep()

    def _keep_last(self) -> None:
        if self.old is None:
            return
        if self.kept.fits:
            self._keep(overwrite=True)
            return
        # Deletes that were ordered by another key or sequence mean other rows.
        self.writer.plans.adapter.drop_relation(self.old)
        self.writer.ready_deletes(self.kept, self.spec)
        self._keep()

    def _keep(self, *, overwrite: bool = False) -> None:
        macros = self.writer.macros
        sql = macros.sql("paimon__keep_deletes_sql", self.spec, self.kept, self.changes, overwrite=overwrite)
        macros.statement("keep_deletes", sql)


def way_of(writer: Writer, run: NodeRun, source: ModelQuery) -> Way:
    """How a run writes its rows.

    Raises:
        DbtRuntimeError: the config does not fit the columns, or history would be lost that nobody gave up.
    """
    if run.adds:
        return Increment(writer, run, source)
    if run.strategy != APPLY_CHANGES:
        return _build(writer, run, run.spec, source)
    plans, node = writer.plans, writer.macros.node
    columns = plans.tables.wanted_columns(source.columns, node, run.spec)
    spec = plans.tables.check_columns(node, run.spec, columns, new=run.table is None)
    relation = plans.deletes.relation(node, run.target)
    kept = plans.deletes.kept(relation, spec, columns)
    changes = plans.rows.checked(source, columns, node, spec)
    old = plans.adapter.get_relation(*relation.parts)
    return FromChanges(writer, _build(writer, run, spec, source), spec, changes, kept, old)


def _build(writer: Writer, run: NodeRun, spec: TableSpec, source: ModelQuery) -> Way:
    """All rows of a table, as the plan says (see `Plans.build`). Nothing is lost on the way."""
    macros, existing = writer.macros, run.existing
    plan = writer.plans.build(macros.node, existing, spec, source, run.full_refresh)
    macros.check_documented(run.target, plan.columns)
    if not plan.stages:
        return InPlace(writer, run.target, plan)
    if existing is not None and existing.is_view:
        # It stays until the table is complete; dbt's cache has room for only one of them.
        writer.plans.adapter.cache_dropped(existing)
    return Staged(writer, run.target, run.table, plan.columns, plan.spec, plan.source, macros.comment)
