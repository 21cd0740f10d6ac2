"""Takes the steps of a node's run that read and write its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.plan.steps import Kind
from dbt.adapters.paimon.plan.ways import way_of
from dbt.adapters.paimon.time_travel import clones

if TYPE_CHECKING:
    from dbt.adapters.paimon.plan.steps import NodeRun, Step
    from dbt.adapters.paimon.plan.ways import Way, Writer
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.writing.model_query import ModelQuery


@dataclass
class Writing:
    """The rows of one node, from the first statement that reads them until they are in its table.

    Attributes:
        writer: sends statements.
        run: the node's run.
        source: the rows, as the next statement reads them.
        way: how they reach the table; None until they are known.
        staged: the queries whose views are dropped at the end.
    """

    writer: Writer
    run: NodeRun
    source: ModelQuery
    way: Way | None = None
    staged: list[ModelQuery] = field(default_factory=list)

    def stage(self, sql: str | None) -> None:
        """Keep the rows of a query for several statements; nothing is done without a query."""
        if sql is not None:
            self.staged.append(self.source)
            view = self.writer.macros("make_temp_relation", self.run.target).identifier
            self.source = self.writer.plans.rows.cached(view, sql)

    def take_steps(self) -> None:
        """Take the steps of the run up to its commit."""
        takes: Mapping[Kind, Callable[[], None]] = {
            Kind.WRITE: self._write,
            Kind.AUDIT: self._audit,
            Kind.PUBLISH: self._publish,
            Kind.COMPACT: self._compact,
            Kind.TAG: self._tag,
        }
        for step in self.run.steps:
            if step.kind is Kind.READ_ONCE:
                self._read_once(step)
            elif step.kind in takes:
                takes[step.kind]()
        self.writer.plans.unchanged.note(self.writer.macros.node)

    def _read_once(self, step: Step) -> None:
        """Then exactly the audited rows are published, and a statement that reads its rows twice has the same ones.

        A project's own macro may delete rows of the table before it inserts, as other adapters keep the rows as well.
        """
        if not step.is_late or not self.writer.plans.rows.reads_alike(self.source):
            self.stage(f"select * from {self.source}")

    @property
    def _way(self) -> Way:
        if self.way is None:
            self.way = way_of(self.writer, self.run, self.source)
        return self.way

    def _write(self) -> None:
        self._way.write()
        self._settle()

    def _audit(self) -> None:
        self._way.audit()

    def _publish(self) -> None:
        self._way.publish()
        self._settle()

    def _settle(self) -> None:
        """The rows are in the table: what goes with them, and what has become superfluous."""
        plans, macros, run = self.writer.plans, self.writer.macros, self.run
        if run.branch is not None:
            view_of_branch(self.writer, run.target, run.branch, "view_of_branch")
        elif self._way.is_whole:
            set_late_options(self.writer, run.target, run.spec)
        self.keep_positions()
        for query in (*self.staged, self.source):
            macros("paimon__drop_staged", query)
        if run.branch is None and run.existing is not None and run.existing.is_view:
            plans.adapter.drop_relation(run.existing)

    def keep_positions(self) -> None:
        """Store the node's positions in the tables whose changes it reads."""
        self.writer.plans.changes.keep(self.writer.macros.node, positions_of(self.run.target))

    def _compact(self) -> None:
        self.writer.plans.maintenance.after_first_load(self.run.target, self.run.spec)

    def _tag(self) -> None:
        tag_run(self.writer, self.run)


def tag_run(writer: Writer, run: NodeRun) -> None:
    """Tag what a model has just written, if its config has a run tag."""
    for sql in writer.plans.history.run_tag_statements(run.target, run.spec):
        writer.macros.statement("tag_run", sql)


def set_late_options(writer: Writer, target: PaimonRelation, spec: TableSpec) -> None:
    """Set the options of a new table that need its final name (see `TableSpec.late_options`), if it lacks them.

    A run that dies before it has left them to the next one.
    """
    if not spec.late_options:
        return
    tables = writer.plans.tables
    if missing := tables.missing_options(spec.late_options, tables.existing(target).options):
        writer.macros("paimon__set_options", target, missing)
        tables.commit_metadata(target)


def view_of_branch(
    writer: Writer, target: PaimonRelation, branch: PaimonRelation, name: str
) -> PaimonRelation:
    """Create a clone's view over its branch; after each increment, too: Spark keeps the columns that a view had.

    Args:
        writer: sends statements.
        target: the clone.
        branch: the branch.
        name: that of dbt's statement.
    """
    view: PaimonRelation = target.incorporate(type="view")
    views = writer.plans.views
    definition = views.definition(view, clones.query(branch), {})
    writer.macros.statement(name, views.create_sql(view, definition))
    views.remember(definition)
    return view
