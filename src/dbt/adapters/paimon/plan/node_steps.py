"""Runs the steps that read and write a node's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.plan.steps import NodeRun, Step, StepKind
from dbt.adapters.paimon.plan.write_modes import NodeWriter, WriteMode, planned_write_mode
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.time_travel import clones
from dbt.adapters.paimon.writing.model_query import ModelQuery


@dataclass
class NodeSteps:
    """Writes the rows of one node.

    Attributes:
        source: the rows, as the next statement reads them.
        mode: how the rows are written; None until the first step that needs it.
        staged: the queries whose views are dropped at the end.
    """

    writer: NodeWriter
    run: NodeRun
    source: ModelQuery
    mode: WriteMode | None = None
    staged: list[ModelQuery] = field(default_factory=list)

    def stage(self, sql: str | None) -> None:
        """Cache the rows of a query in a temporary view for the next statements; None changes nothing."""
        if sql is not None:
            self.staged.append(self.source)
            view = self.writer("make_temp_relation", self.run.target).identifier
            self.source = self.writer.plans.rows.cached(view, sql)

    def take_steps(self) -> None:
        """Run the steps up to the commit."""
        plans, run = self.writer.plans, self.run
        actions: Mapping[StepKind, Callable[[], None]] = {
            StepKind.WRITE: self._write,
            StepKind.AUDIT: lambda: self._write_mode().audit(),
            StepKind.PUBLISH: self._publish,
            StepKind.COMPACT: lambda: plans.maintenance.after_first_load(run.target),
            StepKind.TAG: lambda: tag_run(self.writer, run),
        }
        for step in run.steps:
            if step.kind is StepKind.READ_ONCE:
                self._read_once(step)
            elif step.kind in actions:
                actions[step.kind]()
        plans.unchanged.note(self.writer.node)

    def _read_once(self, step: Step) -> None:
        """Cache the rows, so that exactly the audited rows are published, and every statement reads the same rows.

        A project's own strategy may delete rows before it inserts, so its rows are cached, as in other adapters.
        """
        if not step.is_conditional or not self.writer.plans.rows.reads_alike(self.source):
            self.stage(f"select * from {self.source}")

    def _write_mode(self) -> WriteMode:
        if self.mode is None:
            self.mode = planned_write_mode(self.writer, self.run, self.source)
        return self.mode

    def _write(self) -> None:
        self._write_mode().write()
        self._finish()

    def _publish(self) -> None:
        self._write_mode().publish()
        self._finish()

    def _finish(self) -> None:
        """Set late options, store the positions, and drop the staged views."""
        run = self.run
        if run.branch is not None:
            view_of_branch(self.writer, run.target, run.branch, "view_of_branch")
        elif self._write_mode().replaces_all_rows:
            set_late_options(self.writer, run.target, run.spec)
        self.after_write()
        for query in (*self.staged, self.source):
            self.writer("paimon__drop_staged", query)

    def after_write(self) -> None:
        """Store the table snapshots up to which the node has read its sources' changes."""
        kept, rebuilt = positions_of(self.run.target), self._write_mode().replaces_all_rows
        self.writer.plans.changes.keep(self.writer.node, kept, rebuilt=rebuilt)


def tag_run(writer: NodeWriter, run: NodeRun) -> None:
    """Tag the table snapshot of this run, if the config has a run tag."""
    for sql in writer.plans.history.run_tag_statements(run.target, run.spec):
        writer.statement("tag_run", sql)


def set_late_options(writer: NodeWriter, target: PaimonRelation, spec: TableSpec) -> None:
    """Set the options that need the table's final name (`TableSpec.late_options`), unless they are already set."""
    if not spec.late_options:
        return
    tables = writer.plans.tables
    there = tables.existing(target).options
    if missing := {name: value for name, value in spec.late_options.items() if there.get(name) != value}:
        writer("paimon__set_options", target, missing)
        tables.commit_metadata(target)


def view_of_branch(
    writer: NodeWriter, target: PaimonRelation, branch: PaimonRelation, statement: str
) -> PaimonRelation:
    """Create a clone's view over its branch, or refresh it: Spark would keep its old columns after an increment."""
    view: PaimonRelation = target.incorporate(type="view")
    views = writer.plans.views
    definition = views.definition(view, clones.query(branch), {})
    writer.statement(statement, views.create_sql(view, definition))
    views.remember(definition)
    return view
