"""The run of a materialized view: what it stages, and how its rows reach its table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.concurrency.conflicts import REBUILD, REFRESH
from dbt.adapters.paimon.plan.materialized_views.incremental import view_name
from dbt.adapters.paimon.plan.materialized_views.refresh import Refresh
from dbt.adapters.paimon.plan.steps import NodeRun, SettledPlan
from dbt.adapters.paimon.plan.write_modes import IncrementalWrite, NodeWriter, WriteMode, write_mode_of
from dbt.adapters.paimon.plan.writing import Writing
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.strategies import WHOLE_TABLE
from dbt.adapters.paimon.sql.statements import NO_SETTINGS
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.writing.model_query import ModelQuery

_NO_ROWS: Final = ModelQuery("", ())


def refresh(writer: NodeWriter, run: NodeRun) -> NodeRun:
    """Refresh a view by what changed in its sources, or as a whole where that is not possible or not cheaper.

    Returns:
        The run, with the spelling of its columns.
    """
    plans, macros = writer.plans, writer.macros
    planned = plans.materialized_views.refresh(macros.node, run, positions_of(run.target))
    if planned.is_incremental:
        _stage(writer, planned)
        planned = plans.materialized_views.counted(planned)
    if not planned.is_full and not planned.affected:
        Refreshing(writer, run, _NO_ROWS, Unchanged(writer, run, planned), refresh=planned).take_steps()
        return run
    sql = planned.sql if planned.is_full else planned.rows_sql
    if planned.groups_view and not planned.is_full:
        sql = macros.sql("paimon__rows_of_groups_sql", planned)
    run, source = plans.with_rows(macros.node, run, macros("paimon__model_query", run.target, sql))
    mode = write_mode_of(writer, run, source) if planned.is_full else Changed(writer, run, source, planned)
    Refreshing(writer, run, source, mode, refresh=planned).take_steps()
    return run


def _stage(writer: NodeWriter, refresh: Refresh) -> None:
    """Keep, in temporary views of this session, what a refresh reads several times: Spark reads the sources once."""
    rows, macros = writer.plans.rows, writer.macros
    for part in refresh.changed:
        rows.keep(part.view, macros.sql("paimon__changed_rows_sql", part))
    if refresh.groups_view:
        rows.keep(refresh.groups_view, macros.sql("paimon__changed_groups_sql", refresh))


@dataclass
class Refreshing(Writing):
    """The rows of one refresh."""

    refresh: Refresh = field(kw_only=True)

    def keep_positions(self) -> None:
        """Say what was refreshed, drop what was staged for it, and keep the positions in the sources."""
        macros, views = self.writer.macros, self.writer.plans.materialized_views
        refresh, names = self.refresh, self.refresh.views
        if not isinstance(self.mode, Unchanged):
            views.describe(macros.node, refresh, self.run.target, macros("load_result", "main"))
        if isinstance(self.mode, Changed):
            names = [*self.mode.staged, *names]
        for name in names:
            macros.statement("drop_staged", f"drop view if exists {quoted(name)}")
        views.end(macros.node, refresh, positions_of(self.run.target))


@dataclass
class Unchanged(WriteMode):
    """No rows: what alters the table is altered."""

    writer: NodeWriter
    run: NodeRun
    refresh: Refresh

    def write(self) -> None:
        """Alter the table, and say that nothing was written."""
        macros, views = self.writer.macros, self.writer.plans.materialized_views
        macros.run(self.run.target, self.run.pending)
        macros.store(views.nothing_written(macros.node, self.refresh, self.run.target))

    def audit(self) -> None:
        """There are no rows to audit."""

    publish = write


@dataclass
class Changed(IncrementalWrite):
    """The rows whose sources have changed, in one commit.

    Attributes:
        staged: the names of the temporary views that it has made.
    """

    refresh: Refresh
    staged: list[str] = field(default_factory=list)

    def _add(self, target: PaimonRelation) -> None:
        writer, macros, refresh = self.writer, self.writer.macros, self.refresh
        plan = writer.plans.increment(macros.node, target, self.run.spec, REFRESH, self.source)
        macros.run(target, plan.before)
        if refresh.replaces:
            sql = macros.sql("paimon__replaced_groups_sql", target, refresh, plan)
            writer.send(target, REBUILD, plan.spec, sql, WHOLE_TABLE)
        elif not refresh.deletes:
            sql = macros.sql("paimon__insert_sql", target, plan.written, plan.source)
            writer.send(target, REFRESH, plan.spec, sql, NO_SETTINGS)
        else:
            self._upsert_and_delete(target, plan)
        macros.run(target, plan.after)

    def _upsert_and_delete(self, target: PaimonRelation, plan: SettledPlan) -> None:
        """Write rows and deletes in one commit; over a server by MERGE, which reads the whole table, if keys go."""
        writer, macros, refresh = self.writer, self.writer.macros, self.refresh
        views = writer.plans.materialized_views
        gone = views.delete_row(plan.table_columns, refresh.key)
        sql = macros.sql("paimon__refresh_rows_sql", refresh, plan, gone)
        writes_kinds = views.writes_row_kinds(target)
        if not writes_kinds:
            view = view_name("rows")
            self.staged.append(view)
            writer.plans.rows.keep(view, sql)
            if views.count(f"{quoted(view)} where `_row_kind_` = 3"):
                sql = macros.sql("paimon__refresh_merge_sql", target, refresh, plan, view)
            else:
                sql = macros.sql("paimon__insert_sql", target, plan.written, quoted(view))
        writer.send(target, REFRESH, plan.spec, sql, NO_SETTINGS, writes_rows=writes_kinds)
