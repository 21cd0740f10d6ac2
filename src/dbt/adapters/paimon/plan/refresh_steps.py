"""Runs the refresh of a materialized view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.concurrency.conflicts import REBUILD, REFRESH
from dbt.adapters.paimon.plan.materialized_views.incremental import view_name
from dbt.adapters.paimon.plan.materialized_views.refresh import Refresh
from dbt.adapters.paimon.plan.node_steps import NodeSteps
from dbt.adapters.paimon.plan.steps import NodeRun, SettledPlan
from dbt.adapters.paimon.plan.write_modes import IncrementalWrite, NodeWriter, WriteMode, planned_write_mode
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.strategies import WHOLE_TABLE
from dbt.adapters.paimon.sql.statements import NO_SETTINGS
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.writing.model_query import ModelQuery

_NO_ROWS: Final = ModelQuery("", ())


def refresh(writer: NodeWriter, run: NodeRun) -> NodeRun:
    """Refresh a view incrementally if possible and cheaper, else fully; returns the run with the query's spelling."""
    plans = writer.plans
    planned = plans.materialized_views.refresh(writer.node, run, positions_of(run.target))
    if planned.is_incremental:
        planned = _staged(writer, planned)
    if not planned.writes_rows:
        RefreshSteps(writer, run, _NO_ROWS, AlterOnly(writer, run, planned), refresh=planned).take_steps()
        return run
    sql = planned.sql if planned.is_full else planned.rows_sql
    if planned.groups_view and not planned.is_full:
        sql = writer.sql("paimon__rows_of_groups_sql", planned)
    run, source = plans.with_rows(writer.node, run, writer("paimon__model_query", run.target, sql))
    if planned.is_full:
        mode = planned_write_mode(writer, run, source)
    else:
        mode = IncrementalRefresh(writer, run, source, planned)
    RefreshSteps(writer, run, source, mode, refresh=planned).take_steps()
    return run


def _staged(writer: NodeWriter, refresh: Refresh) -> Refresh:
    """Cache and count the changed rows in temporary views; if too much has changed, the refresh becomes full."""
    rows, materialized_views = writer.plans.rows, writer.plans.materialized_views
    for part in refresh.changed:
        rows.keep(part.view, writer.sql("paimon__changed_rows_sql", part))
    refresh = materialized_views.limited(refresh)
    if refresh.is_full:
        return refresh
    if refresh.groups_view:
        rows.keep(refresh.groups_view, writer.sql("paimon__changed_groups_sql", refresh))
    return materialized_views.counted(refresh)


@dataclass
class RefreshSteps(NodeSteps):
    """Writes the rows of one refresh."""

    refresh: Refresh = field(kw_only=True)

    def after_write(self) -> None:
        """Describe the refresh, drop its staged views, and store its source positions."""
        writer, materialized_views = self.writer, self.writer.plans.materialized_views
        refresh = self.refresh
        if refresh.writes_rows:
            materialized_views.describe(refresh, self.run.target, writer.mark(), writer("load_result", "main"))
        for view in refresh.views:
            _drop(writer, view)
        materialized_views.end(writer.node, refresh, positions_of(self.run.target))


@dataclass
class AlterOnly(WriteMode):
    """Alters the table, but writes no rows."""

    run: NodeRun
    refresh: Refresh

    def write(self) -> None:
        """Alter the table, and store a result without rows."""
        writer, materialized_views = self.writer, self.writer.plans.materialized_views
        writer.alter(self.run.target, self.run.pending)
        writer.store(materialized_views.nothing_written(self.refresh, self.run.target, writer.mark()))

    def audit(self) -> None:
        """There are no rows to audit."""

    publish = write


@dataclass
class IncrementalRefresh(IncrementalWrite):
    """Writes the rows whose sources have changed, in one commit."""

    refresh: Refresh

    def _add(self, target: PaimonRelation) -> None:
        writer, refresh = self.writer, self.refresh
        plan = writer.plans.increment(writer.node, target, self.run.spec, REFRESH, self.source)
        writer.alter(target, plan.before)
        if refresh.replaces:
            sql = writer.sql("paimon__replaced_groups_sql", target, refresh, plan)
            writer.send(target, REBUILD, plan.spec, sql, WHOLE_TABLE)
        elif not refresh.deletes:
            sql = writer.sql("paimon__insert_sql", target, plan.written, plan.source)
            writer.send(target, REFRESH, plan.spec, sql, NO_SETTINGS)
        else:
            self._upsert_and_delete(target, plan)
        writer.alter(target, plan.after)

    def _upsert_and_delete(self, target: PaimonRelation, plan: SettledPlan) -> None:
        """Write rows and deletes in one commit. Over a server, deletes need a MERGE, which reads the whole table."""
        writer, refresh = self.writer, self.refresh
        materialized_views = writer.plans.materialized_views
        gone = materialized_views.delete_row(plan.table_columns, refresh.key)
        sql = writer.sql("paimon__refresh_rows_sql", refresh, plan, gone)
        if materialized_views.writes_row_kinds(target):
            writer.send(target, REFRESH, plan.spec, sql, NO_SETTINGS, writes_rows=True)
            return
        view = view_name("rows")
        writer.plans.rows.keep(view, sql)
        if materialized_views.count(f"{quoted(view)} where `_row_kind_` = 3"):
            sql = writer.sql("paimon__refresh_merge_sql", target, refresh, plan, view)
        else:
            sql = writer.sql("paimon__insert_sql", target, plan.written, quoted(view))
        writer.send(target, REFRESH, plan.spec, sql, NO_SETTINGS)
        _drop(writer, view)


def _drop(writer: NodeWriter, view: str) -> None:
    writer.statement("drop_staged", f"drop view if exists {quoted(view)}")
