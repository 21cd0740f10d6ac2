"""The `streaming` materialization: opens the inputs and the checkpoint, and runs the batches."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node
from dbt.adapters.paimon.catalogs.catalog import option_text
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.concurrency import leases
from dbt.adapters.paimon.concurrency.leases import Lease
from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.metadata import snapshots
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.run_flags import is_empty_run
from dbt.adapters.paimon.spark.progress import report_progress
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.change_rows import deletes_table
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.table_properties import set_options
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import refuse_newer_table
from dbt.adapters.paimon.streaming import batches, checkpoints, dead_letters, failures, long_running, progress, query
from dbt.adapters.paimon.streaming.checkpoints import Checkpoint
from dbt.adapters.paimon.streaming.commits import newest_batch
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder
from dbt.adapters.paimon.streaming.inputs import Access, SourceChangedError, StreamCall, raw_view
from dbt.adapters.paimon.streaming.long_running import Trigger
from dbt.adapters.paimon.streaming.settings import StreamSettings, StreamSpec, collect_stream_spec
from dbt.adapters.paimon.streaming.sources import kinds
from dbt.adapters.paimon.streaming.stream import Stream
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import STREAM_ID
from dbt.adapters.paimon.writing.api import Rows
from dbt.adapters.paimon.writing.model_query import ModelQuery
from dbt.adapters.paimon.writing.table_writer import TableWriter

if TYPE_CHECKING:
    from dbt.adapters.contracts.connection import AdapterResponse
    from pyspark.sql import SparkSession


class Streams:
    """`adapter.streams` in macros.

    Args:
        incremental_catalog: returns the catalog in which old versions of Paimon can read changes (see
            `changes.read_modes.read_mode`).
    """

    def __init__(
        self,
        adapter: AdapterProtocol,
        specs: Specs,
        tables: Tables,
        rows: Rows,
        builds: TableWriter,
        incremental_catalog: Callable[[], str],
    ) -> None:
        self._adapter = adapter
        self._specs = specs
        self._tables = tables
        self._rows = rows
        self._builds = builds
        self._access = Access(adapter, tables.existing, incremental_catalog)
        # By the node's unique id. A node runs on one thread.
        self._streams: dict[str, Stream] = {}
        # Separate from table locks: a stream locks its table per batch, so that others can write between batches.
        self._locks = TableLocks()

    # -- while a model is compiled ----------------------------------------------------------------------------------

    @while_parsing(lambda *_, **__: "")
    def view(
        self,
        model: Node,
        relation: PaimonRelation,
        *,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        row_kind: str | None,
        scan_mode: str | None,
        watermark: Any,
    ) -> str:
        """Register a model's `stream(...)`; returns the quoted name of the view that replaces it in the SQL."""
        # Options with invalid values are refused later, together with the other problems.
        given = {
            key: option_text(value) if not isinstance(value, (Mapping, list, type(None))) else value
            for key, value in options.items()
        }
        call = StreamCall("", *relation.parts, dict(source), given, row_kind, scan_mode, watermark)
        return self._stream(model).view(call)

    @while_parsing(lambda *_, **__: [])
    def described_columns(self, source: Mapping[str, Any]) -> list[PaimonColumn]:
        """The columns that a source's YAML describes; empty for a remote Spark, which cannot run streams."""
        if self._adapter.credentials.method != PaimonConnectionMethod.SESSION:
            return []
        described = kinds.described_columns(source, self._access)
        return [
            PaimonColumn(column=name, dtype=data_type, column_index=index)
            for index, (name, data_type) in enumerate(described.items())
        ]

    # -- before the first batch -------------------------------------------------------------------------------------

    def spec(self, model: Node) -> StreamSpec:
        """The table, strategy and settings of a streaming model; runs no SQL.

        Raises:
            ConfigErrors: every problem with the config.
            DbtRuntimeError: the SQL has no `stream(...)`, or the connection or the checkpoint's location is unsuitable.
        """
        spec = self._specs.read(model, collect_stream_spec)
        method = self._adapter.credentials.method
        if method != PaimonConnectionMethod.SESSION:
            raise DbtRuntimeError(
                f"model '{model['name']}': a stream runs in dbt's own Spark, but this target uses a server "
                f"(method: {method}). Run it with a target of `method: session`; its master may be a cluster."
            )
        if not self._stream(model).calls:
            raise DbtRuntimeError(
                f"model '{model['name']}': materialized='streaming', but its SQL has no stream(...). Write "
                "`from {{ stream(ref('…')) }}` or `{{ stream(source('…', '…')) }}`, or materialize it as a table."
            )
        warehouse = self._session.conf.get(f"spark.sql.catalog.{model['database']}.warehouse", "")
        if folder := spec.settings.checkpoint_location or warehouse:
            HadoopFolder(self._session, folder)
        self._specs.advise(model, spec.table)
        return spec

    def hold(self, model: Node, target: PaimonRelation) -> None:
        """Lock a stream for this process until its node ends; raises DbtRuntimeError if another process runs it."""
        if not self._locks.take(f"{target.render()} stream", self._builds.lock_place(target)):
            raise DbtRuntimeError(
                f"model '{model['name']}': another process is already streaming into {target}, and both would "
                "read the same rows. Stop the other process first (Ctrl-C stops `dbt-paimon stream`)."
            )

    def release(self) -> None:
        """Release the stream locks of this thread, whose node has ended."""
        self._locks.release()

    def begin(self, model: Node, spec: TableSpec) -> TableSpec:
        """Begin a new stream; returns the table spec with the stream's id among its options."""
        stream = self._stream(model)
        stream.id, stream.begins = uuid.uuid4().hex[:12], True
        return replace(spec, options={**spec.options, STREAM_ID: stream.id})

    def resume(
        self, model: Node, relation: PaimonRelation, stream_id: str, spec: StreamSpec, deletes: Sequence[PaimonRelation]
    ) -> None:
        """Continue a stream from its table and checkpoint, or begin one in a table that a batch model has built.

        Args:
            stream_id: see `id_of`.
            deletes: the tables that keep this table's deletes (see `apply_changes`).

        Raises:
            DbtRuntimeError: a batch model has built the table, and the stream cannot take it over.
        """
        stream = self._stream(model)
        stream.id = stream_id
        if not stream_id:
            self._refuse_takeover(model, relation, spec, deletes)
            self.begin(model, spec.table)
            stream.takes_over = True

    def _refuse_takeover(
        self, model: Node, relation: PaimonRelation, spec: StreamSpec, deletes: Sequence[PaimonRelation]
    ) -> None:
        """Raise DbtRuntimeError if a stream cannot take over a table that a batch model has built."""
        where = f"model '{model['name']}'"
        if model["config"].get("full_refresh") is not False:
            raise DbtRuntimeError(
                f"{where}: {relation} was not written by a stream. To keep its rows and stream into it, set "
                "full_refresh=false in the model's config: the stream then begins where scan_mode or startingOffsets "
                "says. Otherwise run the model once with --full-refresh, which builds a new table from the beginning "
                "of the sources and replaces the old one when it is complete."
            )
        without_beginning = [call.label for call in self._stream(model).calls.values() if not kinds.has_beginning(call)]
        if without_beginning and not strategies.is_idempotent(spec.strategy, spec.table):
            raise DbtRuntimeError(
                f"{where}: {relation} has rows of batch runs, and the strategy would duplicate those that are still in "
                f"{', '.join(without_beginning)}. Set where stream(…) begins: for a Paimon "
                "table scan_mode='latest' or options={'scan.timestamp': '…'}, for Kafka "
                "options={'startingOffsets': '…'} or 'startingTimestamp'. If all rows of the source are new: "
                "scan_mode='full', or 'startingOffsets': 'earliest'."
            )
        own = deletes_table(relation.identifier or "")
        if spec.strategy == APPLY_CHANGES and own in [each.identifier for each in deletes]:
            kept = f"{relation.schema}.{own}"
            raise DbtRuntimeError(
                f"{where}: batch runs have kept the deletes of {relation} in {kept}, to ignore older changes, but a "
                "stream does not read them. If no older change can still arrive, drop that table: `dbt run-operation "
                f"drop_table --args '{{relation: {kept}, confirm: {kept}}}'`."
            )

    def id_of(self, relation: PaimonRelation) -> str:
        """The id of the stream that writes a table; empty for any other table."""
        return self._tables.existing(relation).options.get(STREAM_ID, "")

    def refuse_newer(self, relation: PaimonRelation, settings: StreamSettings, stream_id: str) -> None:
        """Raise NewerStateError if a newer adapter has written the checkpoint, even if the table will be replaced."""
        if stream_id:
            self._checkpoint(relation, settings, stream_id).refuse_newer()

    def refuse_newer_dead_letters(self, relation: PaimonRelation) -> None:
        """Raise NewerStateError if a newer adapter has written an existing dead letters table."""
        refuse_newer_table(Kind.DEAD_LETTERS, self._tables.existing(relation).options, relation)

    def id_of_model(self, model: Node) -> str | None:
        """The id of a model's stream: empty before it is known, None if the model has no stream."""
        stream = self._streams.get(model["unique_id"])
        return None if stream is None else stream.id

    def open(self, model: Node, relation: PaimonRelation | None, settings: StreamSettings) -> None:
        """Open a model's inputs and register them as streaming views in this thread's session.

        `relation` is the table that the stream continues, or None. Raises DbtRuntimeError if a source is missing or not
        described.
        """
        stream = self._stream(model)
        stream.open(self._access, self._checkpoint(relation, settings, stream.id).note() if relation else None)
        if stream.begins:
            for each in stream.inputs:
                each.check_beginning(self._session)
        stream.name_inputs(self._session)

    def query(self, source: ModelQuery, spec: TableSpec, strategy: str, model: Node) -> ModelQuery:
        """The query for a batch's rows, or for its change rows (`apply_changes`); refuses a join of two streams."""
        frame = self._session.sql(f"select * from {source}")
        plan = frame._jdf.queryExecution().analyzed()
        query.refuse_joins_of_streams(plan, model["name"])
        self._stream(model).reads_once = strategy in strategies.ONE_INSERT and query.reads_every_row(plan)
        sql = self._rows.change_rows_sql(source, spec, model) if strategy == APPLY_CHANGES else None
        return source if sql is None else replace(source, text=f"(\n{sql}\n)")

    def dead_letters_sql(self, model: Node, relation: PaimonRelation, settings: StreamSettings) -> str:
        """The DDL of the dead letters table; empty if the model does not need one."""
        can = any(each.faults_sql(raw_view(each.call.name)) for each in self._stream(model).inputs)
        if not can or settings.on_bad_message != "dead_letter":
            return ""
        return dead_letters.create_sql(relation.render(), model["name"])

    def drop_checkpoint(self, target: PaimonRelation, settings: StreamSettings, stream: str) -> None:
        """Delete the checkpoint of a stream whose table was replaced, unless it was in the old table's folder."""
        if stream and settings.checkpoint_location:
            self._checkpoint(target, settings, stream).delete()

    # -- the batches ------------------------------------------------------------------------------------------------

    def run(
        self,
        model: Node,
        target: PaimonRelation,
        *,
        dead_letters: PaimonRelation | None,
        script: str,
        spec: TableSpec,
        strategy: str,
        settings: StreamSettings,
        conf: Mapping[str, str],
        drains: bool,
    ) -> bool:
        """Run a stream until it has read everything that existed at its start; if long-running, until it is stopped.

        Args:
            dead_letters: the dead letters table, or None.
            script: the SQL script that writes a batch.
            conf: Spark settings for the script.
            drains: whether to end when everything is read, even in a long-running process.

        Returns:
            Whether the stream has ended. If not, columns of its sources have changed: prepare the model again.

        Raises:
            DbtRuntimeError: the stream failed; complete batches stay written, and the next run continues after them.
        """
        if is_empty_run():
            return True
        checkpoint = self._checkpoint(target, settings, self._stream(model).id)
        may_repeat = strategies.is_idempotent(strategy, spec)
        alone = partial(self._alone, list(leases.of_this_thread()))
        sink = batches.Sink(target, script, self._stream(model).reads_once, conf, may_repeat, dead_letters, alone)
        try:
            return self._run(model, checkpoint, sink, settings, drains)
        except Exception:
            if drains and settings.checkpoint_location:
                # The checkpoint would outlive the table. An error here must not hide the one that ended the stream.
                with suppress(Exception):
                    checkpoint.delete()
            raise

    def _alone(self, held: Sequence[Lease], relation: PaimonRelation) -> AbstractContextManager[None]:
        """Lock a table for a batch, which runs on a Spark thread while the node's thread holds the stream's lock."""
        for lease in held:
            lease.check()
        return self._builds.alone(relation)

    def response(self, model: Node) -> AdapterResponse:
        """The adapter response of a stream that has ended: rows, batches, dead letters."""
        return self._stream(model).totals.response()

    def _run(
        self, model: Node, checkpoint: Checkpoint, sink: batches.Sink, settings: StreamSettings, drains: bool
    ) -> bool:
        stream, session = self._stream(model), self._session
        on_schema_change = strategies.on_schema_change(model["config"])
        note = self._fitting_note(model, sink.table, stream, checkpoint)
        if stream.takes_over:
            # Only after the note is written: a table with the id but no note would count as having lost its checkpoint.
            with sink.alone(sink.table):
                self._adapter.query(set_options(sink.table.render(), {STREAM_ID: stream.id}))
            stream.takes_over = False
        stream.place(session, checkpoint.location)
        # A full refresh may still fail. The old stream must then be able to continue from unchanged sources.
        inputs = tuple(each.without_effects() for each in stream.inputs) if drains else stream.inputs
        unfinished, refuses = checkpoint.unfinished_batch(), on_schema_change != "ignore"
        writer = batches.BatchWriter(stream.id, inputs, sink, checkpoint.location, unfinished, refuses)
        handle = self._adapter.handle
        trigger = long_running.trigger(settings, lambda: handle.is_cancelled, drains)
        try:
            self._write_batches(model["name"], stream, writer, checkpoint, trigger)
        except batches.NewColumnsError as exc:
            if on_schema_change == "fail":
                raise failures.new_columns(model["name"], exc.found) from None
            checkpoint.write_note(stream.add_columns(note, exc.found))
            stream.name_inputs(session)
            return False
        except SourceChangedError:
            stream.open(self._access, note)
            stream.name_inputs(session)
            return False
        except Exception as exc:
            raise failures.dbt_error(exc, model["name"], inputs) from exc
        finally:
            stream.totals.add(writer.written)
        return True

    def _write_batches(
        self, name: str, stream: Stream, writer: batches.BatchWriter, checkpoint: Checkpoint, trigger: Trigger
    ) -> None:
        handle, inputs = self._adapter.handle, writer.inputs
        session = handle.session
        with report_progress(handle, name, silent_without_job=True) as timer:

            def report(batch: Mapping[str, Any]) -> None:
                progress.log_batch(name, inputs, session, stream.totals, batch)
                timer.restart()

            def plan() -> None:
                for each in inputs:
                    each.plan(session)

            running = query.Query(writer, checkpoint, name, trigger, report, look=plan)
            running.run(lambda: batches.raw_rows([each.read(session) for each in inputs]))

    def _fitting_note(
        self, model: Node, target: PaimonRelation, stream: Stream, checkpoint: Checkpoint
    ) -> checkpoints.Note:
        """The checkpoint's note; raises DbtRuntimeError if this model and its sources cannot continue from it."""
        identities = tuple(each.identity for each in stream.inputs)
        note = checkpoint.note()
        if note is None:
            if not stream.begins and snapshots.by_sql(self._adapter.query, target):
                raise DbtRuntimeError(
                    f"{target} has rows of a stream, but its checkpoint {checkpoint.location} is missing: it was "
                    "deleted, or the table is a copy. It is unknown how far the sources were read. Restore the "
                    "checkpoint, or run the model once with --full-refresh."
                )
            note = checkpoints.Note(model["unique_id"], identities)
            checkpoint.write_note(note)
            return note
        was = note
        if self._is_renamed(note.model, model):
            note = replace(note, model=model["unique_id"])
        checkpoints.check_fits(note, model["unique_id"], identities, checkpoint.location)
        begun = checkpoint.last_begun()
        if (newest := newest_batch(snapshots.by_sql(self._adapter.query, target), stream.id)) > begun:
            raise DbtRuntimeError(
                f"The checkpoint {checkpoint.location} ends with batch {begun}, but {target} has batch {newest}: the "
                "checkpoint is an older copy, and the stream would write rows again. Restore the newest one, or run "
                "the model once with --full-refresh."
            )
        note = replace(note, inputs=identities)
        if note != was:
            checkpoint.write_note(note)
        return note

    def _is_renamed(self, before: str, model: Node) -> bool:
        """Whether this ID is the old name of `model`: the same project, which no longer has a model of this ID."""
        manifest: Any = self._adapter.get_macro_resolver()
        known = {*getattr(manifest, "nodes", {}), *getattr(manifest, "disabled", {})}
        package = ".".join(model["unique_id"].split(".")[:2])
        return model["unique_id"] in known and before not in known and before.startswith(f"{package}.")

    # -- this thread's session, and a model's stream ----------------------------------------------------------------

    @property
    def _session(self) -> SparkSession:
        return self._adapter.handle.session

    def _stream(self, model: Node) -> Stream:
        return self._streams.setdefault(model["unique_id"], Stream())

    def _checkpoint(self, relation: PaimonRelation, settings: StreamSettings, stream: str) -> Checkpoint:
        session = self._session
        folder = settings.checkpoint_location or checkpoints.folder_of(session, relation.render())
        return Checkpoint(session, f"{folder.rstrip('/')}/{stream}")
