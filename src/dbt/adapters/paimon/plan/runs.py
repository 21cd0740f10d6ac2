"""`adapter.runs`: runs the steps of a node, from reading its rows to maintenance after its commit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from dbt.adapters.paimon.plan import clone, streams
from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.node_steps import NodeSteps
from dbt.adapters.paimon.plan.refresh_steps import refresh
from dbt.adapters.paimon.plan.steps import Action, NodeRun, StepKind
from dbt.adapters.paimon.plan.streams import StreamRun
from dbt.adapters.paimon.plan.write_modes import NodeWriter, SnapshotMerge
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.run_flags import writes_partial_rows
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES
from dbt.adapters.paimon.tables.rebuilds import TO_VIEW
from dbt.adapters.paimon.writing import dbt_snapshots
from dbt.adapters.paimon.writing.model_query import ModelQuery


@dataclass(frozen=True)
class Runs:
    """The entry points of the materializations; `context` is dbt's context of the materialization."""

    plans: Plans

    def write(self, context: Mapping[str, Any], run: NodeRun, query: ModelQuery) -> NodeRun:
        """Write all of a node's rows, or an increment. Returns the run with column names spelled as in the query."""
        plans, writer = self.plans, NodeWriter(context, self.plans)
        run, source = plans.with_rows(writer.node, run, query)
        steps = NodeSteps(writer, run, source)
        if run.strategy == APPLY_CHANGES:
            # The rows are cached, because the table and its deletes must be written from the same rows.
            steps.stage(plans.rows.change_rows_sql(source, run.spec, writer.node))
        if run.branch is None:
            plans.changes.keep_tags(writer.node)
        steps.take_steps()
        return run

    def snapshot(self, context: Mapping[str, Any], run: NodeRun, query: ModelQuery) -> NodeRun:
        """Write the new versions of a snapshot; dbt's macros render their query and the MERGE."""
        plans, writer = self.plans, NodeWriter(context, self.plans)
        rows, node = plans.rows, writer.node
        rows.check_snapshot(query, node)
        current = None if run.existing is None else plans.to_add_to(node, run.target)
        if current is not None:
            query = dbt_snapshots.with_types_of_table(rows.spelled(query, current), current.columns, node["config"])
        sql = f"select * from {query}"
        strategy = writer("strategy_dispatch", writer.config("strategy"))(
            {**node, "compiled_code": sql}, "snapshotted_data", "source_data", node["config"], current is not None
        )
        versions_sql = writer.sql("build_snapshot_table", strategy, sql)
        writer("check_time_data_types", versions_sql)
        versions = dbt_snapshots.with_time_of_end(rows.query(versions_sql), node, current)
        if current is None:
            run, source = plans.with_rows(node, run, versions)
            NodeSteps(writer, run, source).take_steps()
            return run
        names = writer.config("snapshot_table_column_names") or writer("get_snapshot_table_column_names")
        dbt_snapshots.require_meta_columns(current, names, strategy.get("hard_deletes"))
        strategy.update(
            row_changed=dbt_snapshots.comparing_maps(strategy["row_changed"], current.columns),
            table=current,
            query_columns=query.columns,
            reads_part=writes_partial_rows(),
        )
        staged = rows.query(writer.sql("snapshot_staging_table", strategy, sql, run.target))
        staged = dbt_snapshots.timed_by_versions(rows.spelled(staged, current), versions.columns, node)
        run, source = plans.with_rows(node, run, staged)
        NodeSteps(writer, run, source, SnapshotMerge(writer, run, source, current, versions)).take_steps()
        return run

    def refresh(self, context: Mapping[str, Any], run: NodeRun) -> NodeRun:
        """Refresh a materialized view (see `refresh_steps.refresh`)."""
        return refresh(NodeWriter(context, self.plans), run)

    def create_view(self, context: Mapping[str, Any], sql: str) -> None:
        """Create or replace a node's view, then drop the table that it replaces; raises as `Tables.refuse_loss`."""
        plans, node = self.plans, context["model"]
        target = context["this"].incorporate(type="view")
        existing = plans.adapter.get_relation(*target.parts)
        # Refuses tables of other formats.
        if existing is not None and existing.is_table and plans.unless_dropped(existing) is None:
            existing = None
        table = existing if existing is not None and existing.is_table else None
        if table is not None:
            plans.builds.hold(table)
            plans.tables.refuse_loss(node, table, TO_VIEW, bool(context["should_full_refresh"]()))
            plans.builds.drop_leftovers(table)
        elif existing is not None and plans.builds.leftovers(existing):
            plans.builds.hold(existing)
            plans.builds.drop_leftovers(existing)
        branch = None if existing is None else plans.clones.behind(existing)
        plans.views.ensure_schema(target)
        definition = plans.views.definition(target, sql, node)
        aside = table if table is not None and plans.views.shares_names(target) else None
        with nullcontext() if aside is None else plans.builds.set_aside(aside):
            NodeWriter(context, plans).statement("main", plans.views.create_sql(target, definition))
        plans.views.remember(definition)
        plans.rows.warn_of_quoted_names(node, sql)
        if branch is not None:
            plans.clones.end(branch)
        if table is not None and aside is None:
            plans.adapter.drop_relation(table)
        for each in [] if existing is None else plans.helpers(existing):
            plans.adapter.drop_relation(each)

    def begin_stream(self, context: Mapping[str, Any]) -> StreamRun:
        """The run of a streaming model, decided before its hooks; locks its stream. Raises as `streams.begin`."""
        return streams.begin(self.plans, context)

    def stream(self, context: Mapping[str, Any], run: StreamRun) -> None:
        """Stream the rows since the last run into the model's table."""
        streams.StreamWriter(NodeWriter(context, self.plans), run).write()

    def clone(self, context: Mapping[str, Any]) -> list[PaimonRelation] | None:
        """Clone a node and return its relations; None if dbt has to create a view (see `clone.decide`)."""
        plan = clone.decide(self.plans, context)
        return None if plan.action is Action.CREATE_VIEW else clone.execute(self.plans, context, plan)

    def end(self, run: NodeRun) -> None:
        """Run due maintenance after a node's commit and hooks."""
        if any(step.kind is StepKind.MAINTAIN for step in run.steps):
            self.plans.maintenance.after_run(run.target, run.spec)
