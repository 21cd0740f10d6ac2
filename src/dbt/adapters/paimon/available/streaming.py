"""Methods on `adapter` for the materialization `streaming`, from `stream(...)` to the last batch."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.catalogs.catalog import option_text
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.credentials import PaimonConnectionMethod
from dbt.adapters.paimon.spark.frames import FrameHandle
from dbt.adapters.paimon.spec import change_rows
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES
from dbt.adapters.paimon.sql import staging_names
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.streaming import (
    batches,
    checkpoints,
    dead_letters,
    failures,
    long_running,
    progress,
    query,
)
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder
from dbt.adapters.paimon.streaming.inputs import (
    Input,
    MarkingInput,
    PlannedInput,
    SourceChangedError,
    StreamCall,
    raw_view,
    view_name,
)
from dbt.adapters.paimon.streaming.settings import StreamSettings, plan_stream
from dbt.adapters.paimon.streaming.sources import kinds
from dbt.adapters.paimon.writing.model_query import ModelQuery

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec

logger = AdapterLogger("Paimon")


@dataclass
class Stream:
    """A streaming model in this run."""

    calls: dict[str, StreamCall] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    # The id of the stream, written into its table and its checkpoint.
    id: str = ""
    begins: bool = False
    told: progress.Told = field(default_factory=progress.Told)


class StreamingMethods(AvailableMethods):
    """The inputs, checkpoint and batches of streaming models."""

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        # By node; a node runs on one thread.
        self._streams: dict[str, Stream] = {}
        # Separate from table locks: a stream locks its table per batch, so others may write in between.
        self._stream_locks = TableLocks()

    @available.parse(lambda *a, **k: "")
    def stream_view(
        self,
        model: Mapping[str, Any],
        relation: PaimonRelation,
        *,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        row_kind: str | None,
        scan_mode: str | None,
    ) -> str:
        """The quoted name of the view that replaces a `stream(...)` in a model's SQL.

        Args:
            model: the node.
            relation: the relation that ref() or source() returned.
            source: the source's node in the manifest; empty for a ref().
            options: Spark's reader options.
            row_kind: the name of the row kind column, or None.
            scan_mode: Paimon's `scan.mode` for the first run, or None.
        """
        stream = self._streams.setdefault(model["unique_id"], Stream())
        call = StreamCall(
            "",
            relation.database or "",
            relation.schema or "",
            relation.identifier or "",
            dict(source),
            # Invalid options are refused together with the other problems.
            {
                key: option_text(value) if not isinstance(value, (Mapping, list, type(None))) else value
                for key, value in options.items()
            },
            row_kind,
            scan_mode,
        )
        for known in stream.calls.values():
            if replace(known, name="") == call:
                return quoted(known.name)
        name = view_name(len(stream.calls) + 1, call.identifier)
        stream.calls[name] = replace(call, name=name)
        return quoted(name)

    @available.parse_list
    def described_columns(self, source: Mapping[str, Any]) -> list[PaimonColumn]:
        """The columns of a source that is not a table, from its YAML; empty on a server, which has no streams.

        Args:
            source: the source's node in the manifest.

        Raises:
            DbtRuntimeError: the source's description is invalid.
        """
        if self.credentials.method != PaimonConnectionMethod.SESSION:
            return []
        described = kinds.described_columns(source, self)
        return [
            PaimonColumn(column=name, dtype=data_type, column_index=index)
            for index, (name, data_type) in enumerate(described.items())
        ]

    @available.parse(lambda *a, **k: ({}, "", None))
    def streaming_plan(self, model: Mapping[str, Any]) -> tuple[TableSpec, str, StreamSettings]:
        """The table, strategy and settings of a streaming model; no SQL runs before this.

        Raises:
            ConfigErrors: every problem with them.
            DbtRuntimeError: the model's SQL has no `stream(...)`, this connection method does not support streams, or
                there is no place for the checkpoint.
        """
        self.check_node(model)
        spec, strategy, settings = plan_stream(model, self.environment)
        if self.credentials.method != PaimonConnectionMethod.SESSION:
            raise DbtRuntimeError(
                f"model '{model['name']}': a stream runs in dbt's own Spark, and this target's is elsewhere "
                f"(method: {self.credentials.method}). Run it with a target of `method: session`; its master may be "
                "a cluster."
            )
        if not self._stream(model).calls:
            raise DbtRuntimeError(
                f"model '{model['name']}': materialized='streaming', and its SQL has no stream(...). Write "
                "`from {{ stream(ref('…')) }}` or `{{ stream(source('…', '…')) }}`, or materialize it as a table."
            )
        session = self._handle.session
        warehouse = session.conf.get(f"spark.sql.catalog.{model['database']}.warehouse", "")
        if folder := settings.checkpoint_location or warehouse:
            HadoopFolder(session, folder)
        self.advise(model, spec)
        return spec, strategy, settings

    @available.parse_none
    def open_stream(
        self, model: Mapping[str, Any], relation: PaimonRelation | None, settings: StreamSettings
    ) -> None:
        """Open a model's inputs and register them as streaming views in this thread's session.

        Args:
            model: the node.
            relation: its table if the stream continues; None if it is new.
            settings: see `streaming_plan`.

        Raises:
            DbtRuntimeError: a source is missing or not described, with the remedy.
        """
        stream = self._stream(model)
        note = self._checkpoint(relation, settings, stream.id).note() if relation else None
        stream.inputs = self._opened(stream, note)
        if relation is None:
            for each in stream.inputs:
                if isinstance(each, PlannedInput):
                    each.check_beginning(self._handle.session)
        self._name_inputs(model)

    @available.parse(lambda *a, **k: None)
    def stream_query(
        self, source: ModelQuery, spec: TableSpec, strategy: str, model: Mapping[str, Any]
    ) -> ModelQuery:
        """A model's query, cast and checked for its table.

        Raises:
            DbtRuntimeError: it joins two streams.
        """
        session = self._handle.session
        frame = session.sql(f"select * from {source}")
        query.refuse_joins_of_streams(frame._jdf.queryExecution().analyzed(), model["name"])
        sql = self.change_rows_sql(source, spec, model) if strategy == APPLY_CHANGES else None
        return source if sql is None else replace(source, text=f"(\n{sql}\n)")

    @available.parse_none
    def hold_stream(self, model: Mapping[str, Any], target: PaimonRelation) -> None:
        """Lock a stream for this process until its node ends.

        Raises:
            DbtRuntimeError: another process is running it.
        """
        if not self._stream_locks.take(f"{target.render()} stream", self._lock_folder(target)):
            raise DbtRuntimeError(
                f"model '{model['name']}': another process streams into {target} already, and two would read the same "
                "rows twice. End that one first (Ctrl-C ends `dbt-paimon stream`)."
            )

    @available.parse(lambda *a, **k: {})
    def new_stream(self, model: Mapping[str, Any], spec: TableSpec) -> TableSpec:
        """The table spec of a new stream, with the stream's id among the table options."""
        stream = self._stream(model)
        stream.id, stream.begins = uuid.uuid4().hex[:12], True
        return replace(spec, options={**spec.options, checkpoints.STREAM_ID: stream.id})

    @available.parse_none
    def continue_stream(self, model: Mapping[str, Any], relation: PaimonRelation, stream_id: str) -> None:
        """Continue a stream from its table and checkpoint.

        Args:
            model: the node.
            relation: its table.
            stream_id: see `stream_of`.

        Raises:
            DbtRuntimeError: the table was not written by a stream.
        """
        stream = self._stream(model)
        stream.id = stream_id
        if not stream_id:
            raise DbtRuntimeError(
                f"model '{model['name']}': {relation} was not written by a stream, so how far its sources are in it is "
                "not known. Run it once with --full-refresh: the table is built anew from the beginning of its "
                "sources, and takes the old one's place when it is whole."
            )

    @available.parse(lambda *a, **k: "")
    def stream_of(self, relation: PaimonRelation) -> str:
        """The id of the stream that writes a table; empty for any other table."""
        return self.existing_table(relation).options.get(checkpoints.STREAM_ID, "")

    @available.parse(lambda *a, **k: None)
    def deletes_relation(self, model: Mapping[str, Any], target: PaimonRelation) -> PaimonRelation:
        """The table that keeps the deletes which `apply_changes` has applied.

        Args:
            model: the node that writes the table.
            target: the table, or the staged one that will replace it.
        """
        stream = self._streams.get(model["unique_id"])
        name = target.identifier or ""
        if stream is not None:
            name = staging_names.table_beside(name) or name
        name = change_rows.deletes_table(name, stream.id if stream else "")
        beside: PaimonRelation = target.incorporate(path={"identifier": name}, type="table")
        return beside

    @available.parse(lambda *a, **k: [])
    def deletes_relations(
        self, target: PaimonRelation, other_than: str | None = None
    ) -> list[PaimonRelation]:
        """The existing tables of deletes of a table.

        Args:
            target: the table.
            other_than: the id of a stream whose table is left out; '' for the one without a stream.
        """
        listed: Any = self.list_relations(target.database, target.schema or "")
        beside = {each.identifier: each for each in listed if each.is_table}
        name = target.identifier or ""
        own = None if other_than is None else change_rows.deletes_table(name, other_than)
        return [beside[each] for each in change_rows.deletes_tables(name, beside) if each != own]

    @available.parse_none
    def drop_checkpoint(self, target: PaimonRelation, settings: StreamSettings, stream: str) -> None:
        """Delete the checkpoint of a stream whose table was replaced, unless it was in the old table's folder."""
        if stream and settings.checkpoint_location:
            self._checkpoint(target, settings, stream).delete()

    @available.parse(lambda *a, **k: "")
    def dead_letters_sql(
        self, model: Mapping[str, Any], relation: PaimonRelation, settings: StreamSettings
    ) -> str:
        """The DDL of the dead letters table; empty if no input can have messages that cannot be parsed."""
        can = any(each.faults_sql(raw_view(each.call.name)) for each in self._stream(model).inputs)
        if not can or settings.on_bad_message != "dead_letter":
            return ""
        return dead_letters.create_sql(relation.render(), model["name"])

    @available.parse(lambda *a, **k: (None, True))
    def run_stream(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        dead: PaimonRelation | None,
        write: str,
        spec: TableSpec,
        strategy: str,
        settings: StreamSettings,
        conf: Mapping[str, str],
        on_schema_change: str,
        drains: bool,
    ) -> bool:
        """Run a stream until it has read everything there was at its start or, if long-running, until it is stopped.

        Args:
            model: the node.
            target: the table.
            dead: the dead letters table, or None.
            write: the SQL script that writes a batch.
            spec, strategy, settings: see `streaming_plan`.
            conf: Spark settings for the script.
            on_schema_change: what to do about columns that are not described.
            drains: whether it ends when everything is read even in a long-running process.

        Returns:
            Whether it has ended; if not, messages have new columns, which its inputs now return, and it has to be
            prepared again.

        Raises:
            DbtRuntimeError: one message with the remedy; complete batches stay written, and the next run continues.
        """
        from dbt.flags import get_flags

        if getattr(get_flags(), "EMPTY", False):
            return True
        checkpoint = self._checkpoint(target, settings, self._stream(model).id)
        sink = batches.Sink(
            table=target.render(),
            snapshots=target.system_table("snapshots"),
            write=write,
            conf=conf,
            may_repeat=conflicts.may_repeat(strategy, spec.merge_engine, spec.options),
            dead_letters=dead.render() if dead else "",
            dead_letter_snapshots=dead.system_table("snapshots") if dead else "",
            alone=lambda: self._alone(target),
        )
        try:
            return self._run_stream(model, target, checkpoint, sink, settings, on_schema_change, drains)
        except Exception:
            if drains and settings.checkpoint_location:
                # It would outlive the table; the error to report is the one that ended the stream.
                with suppress(Exception):
                    checkpoint.delete()
            raise

    @available.parse(lambda *a, **k: None)
    def stream_response(self, model: Mapping[str, Any]) -> AdapterResponse:
        """What dbt shows for a stream that has ended: rows, batches, dead letters."""
        return self._stream(model).told.response()

    def _run_stream(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        checkpoint: checkpoints.Checkpoint,
        sink: batches.Sink,
        settings: StreamSettings,
        on_schema_change: str,
        drains: bool,
    ) -> bool:
        stream, handle = self._stream(model), self._handle
        assert isinstance(handle, FrameHandle)
        note = self._fitting_note(model, target, stream, checkpoint)
        stream.inputs = tuple(
            each.placed(handle.session, f"{checkpoint.location}/{checkpoints.PLANS}/{index}")
            if isinstance(each, PlannedInput)
            else each
            for index, each in enumerate(stream.inputs)
        )
        # A full refresh may still fail, and the old stream has to be able to continue.
        inputs = tuple(
            each.unmarked() if drains and isinstance(each, MarkingInput) else each for each in stream.inputs
        )
        writer = batches.BatchWriter(
            stream.id,
            inputs,
            sink,
            checkpoint.location,
            checkpoint.unfinished_batch(),
            asks_for_columns=on_schema_change != "ignore",
        )
        watch = progress.Watch(model["name"], inputs, handle.session, stream.told)
        try:
            query.run(
                lambda: batches.raw_rows([each.read(handle.session) for each in inputs]),
                writer,
                checkpoint,
                name=model["name"],
                trigger=long_running.trigger(settings, lambda: handle.is_cancelled, drains),
                tell=watch.tell,
                look=lambda: _plan(inputs, handle.session),
            )
        except batches.NewColumnsError as exc:
            if on_schema_change == "fail":
                raise DbtRuntimeError(failures.new_columns(model["name"], exc.found)) from None
            checkpoint.write_note(self._with_columns(stream, note, exc.found))
            self._name_inputs(model)
            return False
        except SourceChangedError:
            stream.inputs = self._opened(stream, note)
            self._name_inputs(model)
            return False
        except Exception as exc:
            raise failures.explained(exc, model["name"], inputs) from exc
        finally:
            stream.told.add(writer.written)
        return True

    def _opened(self, stream: Stream, note: checkpoints.Note | None) -> tuple[Input, ...]:
        """The inputs of a model with their sources' current columns; `note` has the columns that messages added."""
        opened = [kinds.open_input(call, self) for call in stream.calls.values()]
        if note is not None:
            opened = [each.with_columns(note.columns.get(each.call.label, {})) for each in opened]
        # Sorted, whatever the order in the SQL: the checkpoint counts its sources.
        return tuple(sorted(opened, key=lambda each: (each.call.label, str(each.identity()))))

    def _stream(self, model: Mapping[str, Any]) -> Stream:
        return self._streams.setdefault(model["unique_id"], Stream())

    def _checkpoint(
        self, relation: PaimonRelation, settings: StreamSettings, stream: str
    ) -> checkpoints.Checkpoint:
        folder = settings.checkpoint_location or f"{self._location(relation)}/{checkpoints.FOLDER}"
        return checkpoints.Checkpoint(self._handle.session, f"{folder.rstrip('/')}/{stream}")

    def _location(self, relation: PaimonRelation) -> str:
        """The folder of a table. Not from SHOW TBLPROPERTIES, which redacts values that look like secrets."""
        plan: Any = self._handle.session.table(relation.render())._jdf.queryExecution().analyzed()
        return str(plan.collectLeaves().apply(0).table().properties().get("path"))

    def _name_inputs(self, model: Mapping[str, Any]) -> None:
        session = self._handle.session
        stream = self._stream(model)
        for each in stream.inputs:
            batches.name_raw_rows(each.read(session), [each])
        batches.name_rows(session, stream.inputs)

    def _fitting_note(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        stream: Stream,
        checkpoint: checkpoints.Checkpoint,
    ) -> checkpoints.Note:
        """The checkpoint's note, checked: it is this model's, and its sources can continue from there."""
        identities = tuple(each.identity() for each in stream.inputs)
        note = checkpoint.note()
        if note is None:
            if not stream.begins and self._commits_of(target):
                raise DbtRuntimeError(checkpoints.gone(str(target), checkpoint.location))
            note = checkpoints.Note(model["unique_id"], identities)
            checkpoint.write_note(note)
            return note
        checkpoints.check_fits(note, model["unique_id"], identities, checkpoint.location)
        for each, offset in zip(stream.inputs, checkpoint.last_offsets(), strict=False):
            each.check_offset(self._handle.session, offset)
        if note.inputs != identities:
            note = replace(note, inputs=identities)
            checkpoint.write_note(note)
        return note

    def _commits_of(self, relation: PaimonRelation) -> int:
        ((count,),) = self.query(f"select count(*) from {relation.system_table('snapshots')}")
        return int(count)

    def _with_columns(
        self, stream: Stream, note: checkpoints.Note, found: Mapping[str, Mapping[str, str]]
    ) -> checkpoints.Note:
        columns = {label: dict(known) for label, known in note.columns.items()}
        grown: list[Input] = []
        for each in stream.inputs:
            new = found.get(each.call.name, {})
            if new:
                columns.setdefault(each.call.label, {}).update(new)
            grown.append(each.with_columns(new) if new else each)
        stream.inputs = tuple(grown)
        return replace(note, columns=columns)


def _plan(inputs: tuple[Input, ...], session: Any) -> None:
    for each in inputs:
        if isinstance(each, PlannedInput):
            each.plan(session)
