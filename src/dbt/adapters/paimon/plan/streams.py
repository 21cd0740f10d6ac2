"""The run of a streaming model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.decide import steps_of
from dbt.adapters.paimon.plan.node_steps import set_late_options, tag_run
from dbt.adapters.paimon.plan.steps import NodeRun
from dbt.adapters.paimon.plan.write_modes import NodeWriter
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.streaming.dead_letters import dead_letters_of
from dbt.adapters.paimon.streaming.settings import StreamSettings
from dbt.adapters.paimon.tables.existing import STREAM_ID
from dbt.adapters.paimon.writing.model_query import ModelQuery
from dbt.adapters.paimon.writing.statement_result import StatementResult


@dataclass(frozen=True)
class StreamRun(NodeRun):
    """The run of a stream, as decided before its hooks; `adds` is true if it continues its table."""

    settings: StreamSettings = field(default_factory=StreamSettings)
    # The id of the stream that wrote the existing table.
    previous_id: str = ""


def begin(plans: Plans, context: Mapping[str, Any]) -> StreamRun:
    """Decide what the run of a streaming model does, before its hooks, and lock its stream.

    Raises:
        ConfigErrors: every problem of the config; raised before any SQL runs.
        CompilationError: a macro of the project overrides the strategy.
        DbtRuntimeError: another process runs the stream, or the stream cannot continue its table.
    """
    node, streams = context["model"], plans.streams
    target = context["this"].incorporate(type="table")
    spec = streams.spec(node)
    strategy_macro = plans.strategy_macro(context, spec.strategy)
    streams.hold(node, target)
    existing = plans.builds.existing(target, hold=False)
    full_refresh = bool(context["should_full_refresh"]())
    run = StreamRun(
        target,
        spec.table,
        existing,
        full_refresh,
        adds=existing is not None and existing.is_table and not full_refresh,
        strategy=spec.strategy,
        strategy_macro=strategy_macro,
        settings=spec.settings,
    )
    if (table := run.table) is not None:
        run = replace(run, previous_id=streams.id_of(table))
        streams.refuse_newer(table, run.settings, run.previous_id)
    if run.adds:
        streams.resume(node, target, run.previous_id, spec, plans.deletes.relations(target))
    else:
        run = replace(run, spec=streams.begin(node, run.spec))
    steps = steps_of(run.spec, adds=run.adds, strategy="", branch=False, override=False)
    return replace(run, steps=tuple(steps))


@dataclass(frozen=True)
class StreamWriter:
    """Streams the rows since the last run into a model's table, batch by batch, each exactly once.

    The checkpoint is in the table's folder, unless the config names a folder. A full refresh streams everything into a
    new table with its own checkpoint. Once complete, the new table replaces the old one.
    """

    writer: NodeWriter
    run: StreamRun

    def write(self) -> None:
        """Stream until all rows are read; a long-running process streams until it is stopped."""
        plans, run, node = self.writer.plans, self.run, self.writer.node
        plans.streams.open(node, run.table if run.adds else None, run.settings)
        dead_letters = self._ready_dead_letters()
        self._drop_deletes_of_others(run.previous_id)
        if not run.adds and run.existing is None:
            self._create(run.target)
            plans.adapter.cache_added(run.target)
            set_late_options(self.writer, run.target, run.spec)
        elif not run.adds:
            self._replace(dead_letters)
        self._stream_into(run.target, dead_letters)
        self.writer.store(StatementResult(plans.streams.response(node)))
        tag_run(self.writer, run)

    def _replace(self, dead_letters: PaimonRelation | None) -> None:
        """Stream everything into a staged table, then replace the existing relation with it."""
        plans, run = self.writer.plans, self.run
        builds, target = plans.builds, run.target
        staging = builds.staging(target)
        deletes = plans.deletes.relation(self.writer.node, staging)
        for each in (staging, deletes):
            builds.begins(each)
        self._create(staging)
        self._stream_into(staging, dead_letters, drains=True)
        for each in (staging, deletes):
            builds.ends(each)
        builds.hold(target)
        plans.put_in_place(staging, target, run.existing)
        set_late_options(self.writer, target, run.spec)
        builds.release()
        self._drop_deletes_of_others(run.spec.options[STREAM_ID])
        plans.streams.drop_checkpoint(target, run.settings, run.previous_id)

    def _create(self, relation: PaimonRelation) -> None:
        writer, plans, node = self.writer, self.writer.plans, self.writer.node
        source = self._query(relation)
        columns = plans.tables.wanted_columns(source.columns, node, self.run.spec)
        spec = plans.tables.check_columns(node, self.run.spec, columns, new=True)
        writer.check_documented(relation, columns)
        plans.history.check_branches(node, spec)
        sql = writer.sql("paimon__create_table_sql", relation, columns, spec, writer.comment)
        writer.statement("create_table", sql)

    def _query(self, relation: PaimonRelation) -> ModelQuery:
        """The model's query over its streams, cast to the table's types and checked."""
        writer, plans, run = self.writer, self.writer.plans, self.run
        source = writer("paimon__model_query", relation, writer.context["compiled_code"], writer.node["language"])
        spec = plans.specs.spelled(run.spec, source.columns)
        source = plans.rows.reject_nan_keys(source, spec, writer.node)
        return plans.streams.query(source, spec, run.strategy, writer.node)

    def _stream_into(
        self, relation: PaimonRelation, dead_letters: PaimonRelation | None, *, drains: bool = False
    ) -> None:
        """Stream into an existing table; restart if messages have new columns."""
        writer, plans, run = self.writer, self.writer.plans, self.run
        ended = False
        while not ended:
            source = self._query(relation)
            plans.builds.hold(relation)
            plan = plans.increment(writer.node, relation, run.spec, run.strategy, source)
            sql, conf = writer.prepare(relation, plan, run)
            plans.builds.release()
            writer.save(sql)
            ended = plans.streams.run(
                writer.node,
                relation,
                dead_letters=dead_letters,
                script=sql,
                spec=run.spec,
                strategy=run.strategy,
                settings=run.settings,
                conf=conf,
                drains=drains,
            )
            writer.alter(relation, plan.after)

    def _drop_deletes_of_others(self, stream: str) -> None:
        """Drop the deletes (apply_changes) of replaced tables and killed streams; `stream` is the current id or ''."""
        plans = self.writer.plans
        for relation in plans.deletes.relations(self.run.target, other_than=stream):
            plans.adapter.drop_relation(relation)

    def _ready_dead_letters(self) -> PaimonRelation | None:
        """Return the dead letters table, created if missing; None if the model does not need one."""
        plans, relation = self.writer.plans, dead_letters_of(self.run.target)
        sql = plans.streams.dead_letters_sql(self.writer.node, relation, self.run.settings)
        if not sql:
            return None
        if plans.adapter.get_relation(*relation.parts) is not None:
            plans.streams.refuse_newer_dead_letters(relation)
        else:
            self.writer.statement("create_dead_letters", sql)
            plans.adapter.cache_added(relation)
        return relation
