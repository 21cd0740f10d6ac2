"""Paimon tables as inputs of a stream.

Paimon's own streaming source is not used [ran, 0.9.0]: it stops for good, silently, at the first commit that adds no
file (a DELETE; a compaction without changelog), skips INSERT OVERWRITE, repeats rows that an UPDATE or a DELETE moved
to a new file, and starts over in the next run unless an option sets its start. So Structured Streaming reads ranges of
table snapshots (see `ranges`), and a batch reads its range as `paimon_changes` does, which is exact for every table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes import positions, read_modes
from dbt.adapters.paimon.changes.positions import NOTHING_READ, Position
from dbt.adapters.paimon.changes.read_modes import ChangeReadMode, Output, SourceTable
from dbt.adapters.paimon.changes.sources import refuse_other_tables, without_row_kind
from dbt.adapters.paimon.metadata import schemas, snapshots, tags
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit
from dbt.adapters.paimon.metadata.table_name import Query, Table, TableName
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.inputs import Access, Input, SourceChangedError, StreamCall
from dbt.adapters.paimon.streaming.sources import ranges, scan_modes
from dbt.adapters.paimon.streaming.sources.ranges import Limits, PlannedRanges, Range
from dbt.adapters.paimon.streaming.sources.scan_modes import Beginning, ScanMode
from dbt.adapters.paimon.streaming.sources.watermarks import Marks, Watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.capabilities import Versions

CONSUMER: Final = "consumer-id"
# A column that is added with the row kind: the table snapshot up to which the batch reads.
SNAPSHOT: Final = "_snapshot"
# Spark's default is a week, relative to the newest file: one file dated in the future would hide all later ranges.
MAX_FILE_AGE: Final = "36500d"
# The folder of a watermark's marks, beside the ranges.
_MARKS: Final = "watermark"
# The row kind column if the model does not name one.
_KIND: Final = "__dbt_row_kind"
# Characters of a path that Spark would take for a pattern.
_PATTERN: Final = re.compile(r"[\[\]{}*?\\]")
_ESCAPED: Final = r"\\\g<0>"
_REMEDY: Final = (
    "Run the model once with --full-refresh, which starts over (where scan_mode says). To keep unread "
    f"changes in the table, give the stream a consumer (options={{'{CONSUMER}': '…'}}), or keep table "
    "snapshots for longer (snapshot_retention of the table)"
)


@dataclass
class PaimonTableInput(Input):
    """A Paimon table: its existing rows, then its changes. A batch consists of whole commits.

    Without `row_kind`, a model reads each new row and the new version of each changed row. If a row was deleted, or was
    replaced in a table without a primary key, the stream fails: only a row kind can tell the model about that.

    With `row_kind`, a model reads changes: `+I` and `+U` with the current row, `-D` with a deleted row. A batch has
    only the last change of each key. A `+I` may be an update if the table's files do not distinguish the two (see
    `paimon_changes`). Column `_snapshot` (bigint) is the table snapshot up to which the batch reads: it orders the
    changes of a key (sequence_field of `apply_changes`).

    Attributes:
        source: the table whose metadata is read.
        schema_id: the id of the table's newest schema when it was opened.
        made: when the table was created, to recognize a recreated table.
        versions, incremental_catalog: see `changes.read_modes.read_mode`.
        consumer: the table's consumer that keeps unread changes from expiring, or empty.
        keeps_consumer: whether the consumer must not move forward.
        watermark: set if the model reads the rows of closed windows instead of the rows of each batch.
    """

    call: StreamCall
    source: Table
    table: SourceTable
    schema_id: int
    made: str
    versions: Versions
    incremental_catalog: str
    begins: Beginning
    limits: Limits
    consumer: str = ""
    keeps_consumer: bool = False
    watermark: Watermark | None = None
    # By batch: the number of rows in its commits, and the number of rows that arrived too late.
    _rows: dict[int, int] = field(default_factory=dict, repr=False)
    _late: dict[int, int] = field(default_factory=dict, repr=False)
    _planned: PlannedRanges | None = field(default=None, repr=False)
    _marks: Marks | None = field(default=None, repr=False)
    # The range of the current or last batch.
    _batch: Range | None = None

    @classmethod
    def open(cls, call: StreamCall, access: Access) -> PaimonTableInput:
        """Open the table of a `stream(...)`.

        Raises:
            DbtRuntimeError: the table does not exist, is not a Paimon table, or an argument is invalid.
        """
        what = f"stream({call.label})"
        relation = access.adapter.get_relation(call.database, call.schema, call.identifier)
        if relation is None:
            raise DbtRuntimeError(
                f"{what}: there is no table {call.database}.{call.label}. Build it first (dbt run --select +model), or "
                "describe the source's folder or topic under `external` in its YAML."
            )
        refuse_other_tables(what, relation, access.adapter.credentials.paimon_catalogs)
        limits, consumer = _options(call, what)
        try:
            begins = scan_modes.beginning(call.scan_mode, call.options)
        except DbtRuntimeError as exc:
            raise DbtRuntimeError(f"{what}: {exc.msg}") from None
        # Read before the columns: a column that is added in between belongs to a later schema.
        made, schema_id = schemas.identity(access.adapter.query, relation)
        table = SourceTable.of(TableName(call.database, call.schema, call.identifier), access.existing(relation))
        own = table
        if call.row_kind is not None:
            remedy = f"Give the row kind a different name, or stream a table without a column {SNAPSHOT}."
            own = without_row_kind(table, Output(call.row_kind, SNAPSHOT), what, remedy)
        watermark = _watermark(call, begins, table, what)
        versions, catalog = access.adapter.versions, access.incremental_catalog()
        return cls(
            call, relation, own, schema_id, made, versions, catalog, begins, limits, consumer, watermark=watermark
        )

    @property
    def identity(self) -> dict[str, str]:
        """See `Input`: the table, its creation time, where the first run begins, and the windows."""
        found = {"table": f"{self.call.database}.{self.call.label}", "made": self.made}
        if self.begins.identity:
            found["from"] = self.begins.identity
        if self.watermark is not None:
            found["watermark"] = self.watermark.identity
        return found

    def without_effects(self) -> PaimonTableInput:
        """See `Input`: the consumer does not move forward, because the old table's stream may have to continue."""
        return replace(self, keeps_consumer=True)

    def placed(self, session: SparkSession, folder: str) -> PaimonTableInput:
        marks = Marks(session, f"{folder}/{_MARKS}") if self.watermark is not None else None
        return replace(self, _planned=PlannedRanges(session, folder), _marks=marks)

    def read(self, session: SparkSession) -> DataFrame:
        """The ranges, planned up to now, as a streaming frame; raises DbtRuntimeError if unread changes are lost."""
        if self._planned is None:
            # Only the columns of this frame are used.
            nothing = session.readStream.format("rate").load()
            return nothing.selectExpr("0L as start", "'' as start_commit", "0L as end", "'' as end_commit")
        self.plan(session)
        reader = session.readStream.schema(ranges.SCHEMA)
        # A table is renamed together with its checkpoint. So file names alone identify a range, and the path is a
        # pattern: with a folder, Spark would refuse the last batch's files, which are logged with their old path.
        reader = reader.option("fileNameOnly", "true").option("maxFileAge", MAX_FILE_AGE)
        if self.limits != Limits() or self.begins.is_in_the_past:
            reader = reader.option("maxFilesPerTrigger", 1)
        return reader.json(f"{_PATTERN.sub(_ESCAPED, self._planned.folder)}/*{ranges.SUFFIX}")

    def check_beginning(self, session: SparkSession) -> None:
        """Raise DbtRuntimeError if the first range needs table snapshots that do not exist."""
        self._first_range(session, self._commits(session))

    def plan(self, session: SparkSession) -> None:
        """Plan the ranges up to the table's newest commit."""
        assert self._planned is not None
        known, commits = self._planned.last(), self._commits(session)
        if known is None:
            first = self._first_range(session, commits)
            self._planned.add([first, *ranges.following(first.end, commits, self.limits)])
        else:
            self._refuse_lost(known.end, commits)
            self._planned.add(ranges.following(known.end, commits, self.limits))
        self._move_consumer(session)

    def _first_range(self, session: SparkSession, commits: Sequence[Commit]) -> Range:
        earlier = None
        if self.begins.moment:
            earlier, is_in_the_future = snapshots.before(_query(session), self.source, self.begins.moment)
            if is_in_the_future:
                raise DbtRuntimeError(f"stream({self.call.label}): {self.begins.moment} is in the future.")
        try:
            return self.begins.first(commits, earlier)
        except DbtRuntimeError as exc:
            raise DbtRuntimeError(f"stream({self.call.label}): {exc.msg}") from None

    def check_batch(self, session: SparkSession, checkpoint: str, index: int, batch: int) -> None:
        """Refuse to write a batch if one of its range files is missing."""
        if gone := checkpoints.missing_files(session, checkpoint, index, batch):
            raise DbtRuntimeError(
                f"stream({self.call.label}): {', '.join(gone)} is missing, and without it the rows of the batch are "
                "unknown. Run the model once with --full-refresh."
            )

    def rows_of(self, batch: int, progress: Mapping[str, Any]) -> int:
        """The number of rows in the commits of a batch; only the first call for a batch returns it."""
        return self._rows.pop(batch, 0)

    def late_rows(self, batch: int) -> int:
        """See `Input`; only the first call for a batch returns the number."""
        return self._late.pop(batch, 0)

    def rows_sql(self, raw: str) -> str:
        """A query without rows, for the columns only; `batch_rows_sql` returns the rows of a batch."""
        columns = [f"cast(null as {kind}) as {quoted(name)}" for name, kind in self.table.columns]
        if self.call.row_kind:
            columns.append(f"cast(null as string) as {quoted(self.call.row_kind)}")
            columns.append(f"cast(null as bigint) as {quoted(SNAPSHOT)}")
        return f"select {', '.join(columns)} from {raw}"

    def batch_rows_sql(self, session: SparkSession, raw: str, batch: int) -> str:
        """The query for the rows of a batch.

        Raises:
            DbtRuntimeError: table snapshots of the range have expired in the meantime.
            SourceChangedError: the table's columns have changed since it was opened.
        """
        read = ranges.joined(list(map(Range.of_row, session.sql(f"select * from {raw}").collect())))
        if read is not None:
            self._begin_batch(read)
        # An empty range is the beginning of a stream. Its table snapshot may have expired since, and is not read.
        if read is None or read.start == read.end:
            return self._model_rows(read_modes.whole_sql(self.table, 0, self._output), self.table, False)
        commits = self._commits(session)
        for position in (read.start, read.end):
            self._refuse_lost(position, commits)
        at = {each.snapshot: each for each in commits}
        last = at[read.end.snapshot]
        if last.schema_id is not None and last.schema_id > self.schema_id:
            raise SourceChangedError(f"stream({self.call.label}): the table has a new schema ({last.schema_id}).")
        table = self._table_at(session, read.end)
        if read.start == NOTHING_READ:
            self._rows[batch] = last.rows
            sql, has_deletes = read_modes.whole_sql(table, last.snapshot, self._output), False
        else:
            new_commits = read.commits_in(commits)
            self._rows[batch] = sum(ranges.rows_written(each, at) for each in new_commits)
            sql, has_deletes = self._changes(session, table, at[read.start.snapshot], last, new_commits)
        return self._closed_windows(session, self._model_rows(sql, table, has_deletes), table, read, batch)

    def _begin_batch(self, read: Range) -> None:
        self._batch = read
        if self._planned is not None:
            self._planned.forget_before(read.start)

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """The number of rows written since the last batch; None before the first."""
        if self._batch is None:
            return None
        new = (each for each in self._commits(session) if each.snapshot > self._batch.end.snapshot)
        return sum(abs(each.delta) for each in new if each.kind != COMPACT)

    @property
    def _output(self) -> Output:
        return Output(self.call.row_kind or _KIND, SNAPSHOT if self.call.row_kind else None)

    def _changes(
        self, session: SparkSession, table: SourceTable, first: Commit, last: Commit, new_commits: Sequence[Commit]
    ) -> tuple[str, bool]:
        """The query for the changes after commit `first` up to `last`, and whether they may include deletes."""
        start, end = first.snapshot, last.snapshot
        mode = read_modes.read_mode(
            table, new_commits, self.versions, incremental_catalog=self.incremental_catalog, before=False
        )
        gained = last.rows - first.rows
        mode = read_modes.checked_mode(mode, table, start, end, gained, _query(session), self.versions)
        what = f"stream({self.call.label})"
        compares = mode is ChangeReadMode.COMPARE
        old: Mapping[str, str] = {}
        if compares or self.schema_id != last.schema_id is not None:
            # Raises an error for changed structs: they cannot be read together with the changes.
            then, known = first if compares else last, schemas.newest_first(_query(session), self.source)
            assert then.schema_id is not None
            old = read_modes.old_names(what, known, then.schema_id, self.schema_id)
        if not compares:
            has_deletes = bool(table.primary_key) and mode is not ChangeReadMode.NOTHING
            return read_modes.changes_sql(mode, table, start, end, self._output, self.versions), has_deletes
        return read_modes.compare_sql(what, table, start, old, end, self._output), True

    def _closed_windows(self, session: SparkSession, rows: str, table: SourceTable, read: Range, batch: int) -> str:
        """The rows of the windows that a batch closes; without a watermark, the batch's rows."""
        if self.watermark is None or self._marks is None:
            return rows
        before = self._marks.before(batch)
        mark = self._marks.of(batch)
        if mark is None:
            seen = session.sql(self.watermark.seen_sql(rows, before)).first()
            assert seen is not None
            mark = self.watermark.following(before, *seen)
            self._marks.write(batch, mark)
        self._late[batch] = mark.late
        every = self._model_rows(read_modes.whole_sql(table, read.end.snapshot, self._output), table, False)
        return self.watermark.closed_sql(every, before, mark)

    def _model_rows(self, sql: str, table: SourceTable, has_deletes: bool) -> str:
        """The rows of a batch as the model sees them: with the columns that the table had when it was opened."""
        there = {name.lower() for name, _ in table.columns}
        columns = [
            quoted(name) if name.lower() in there else f"cast(null as {kind}) as {quoted(name)}"
            for name, kind in self.table.columns
        ]
        if self.call.row_kind:
            return f"select {', '.join([*columns, quoted(self.call.row_kind), quoted(SNAPSHOT)])} from {sql}"
        query = f"select {', '.join(columns)} from {sql}"
        if not has_deletes:
            return query
        message = (
            f"stream({self.call.label}): rows of the table were deleted or replaced since the last batch, and the "
            "model does not read row kinds. Write stream(…, row_kind='_kind') and handle the rows of kind -D "
            "(incremental_strategy='apply_changes' deletes them), or skip them with where _kind <> '-D'."
        )
        return f"{query}\nwhere if({quoted(_KIND)} = '-D', raise_error({string_literal(message)}), true)"

    def _table_at(self, session: SparkSession, position: Position) -> SourceTable:
        """The table with only the columns that it had at a position; refuses columns that may have been renamed."""
        if position == NOTHING_READ:
            return self.table
        then = session.sql(f"select * from {self.table.name.rendered} version as of {position.snapshot}")
        there = {name.lower() for name in then.columns}
        now = {name.lower() for name, _ in self.table.columns}
        gone = there - now - {(self.call.row_kind or "").lower(), SNAPSHOT}
        if gone and now - there:
            raise DbtRuntimeError(
                f"stream({self.call.label}): the table's columns changed after its table snapshot "
                f"{position.snapshot}, which the stream has not read yet: {', '.join(sorted(now - there))} "
                f"instead of {', '.join(sorted(gone))}. If they were renamed, give them their old names for "
                "one run of the model; otherwise run it once with --full-refresh."
            )
        columns = tuple(each for each in self.table.columns if each[0].lower() in there)
        return replace(self.table, columns=columns)

    def _commits(self, session: SparkSession) -> tuple[Commit, ...]:
        return snapshots.by_sql(_query(session), self.source)

    def _refuse_lost(self, position: Position, commits: Sequence[Commit]) -> None:
        if problem := positions.lost(position, commits, "the stream"):
            raise DbtRuntimeError(f"stream({self.call.label}): {problem} {_REMEDY}.")

    def _move_consumer(self, session: SparkSession) -> None:
        """Move the table's consumer to the first table snapshot that the stream may still need."""
        assert self._planned is not None
        oldest = self._planned.first() if self.consumer else None
        if oldest is None:
            return
        needed = oldest.start if oldest.start != NOTHING_READ else oldest.end
        if needed == NOTHING_READ:
            return
        if self.keeps_consumer:
            reads_next = tags.consumers(_query(session), self.source).get(self.consumer)
            if reads_next is not None and reads_next <= needed.snapshot:
                return
        table = procedures.table_argument((self.call.database, self.call.schema, self.call.identifier))
        # Positional arguments: Paimon 0.9 names them consumerId and nextSnapshotId.
        session.sql(
            f"call {quoted(self.call.database)}.sys.reset_consumer("
            f"{table}, {string_literal(self.consumer)}, {needed.snapshot}L)"
        )


def _query(session: SparkSession) -> Query:
    return lambda sql: session.sql(sql).collect()


def _options(call: StreamCall, what: str) -> tuple[Limits, str]:
    known = {ranges.MAX_ROWS, ranges.MAX_SNAPSHOTS, CONSUMER, *scan_modes.OPTIONS}
    if unknown := sorted(set(call.options) - known):
        raise DbtRuntimeError(
            f"{what}: unknown option {', '.join(unknown)}. The options for a Paimon table are "
            f"{', '.join(sorted(known))}."
        )
    numbers = []
    for name in (ranges.MAX_ROWS, ranges.MAX_SNAPSHOTS):
        text = str(call.options.get(name, "")).strip()
        if text and (not text.isdecimal() or not int(text)):
            raise DbtRuntimeError(f"{what}: {name}='{text}' is not a number above 0.")
        numbers.append(int(text or 0))
    return Limits(*numbers), str(call.options.get(CONSUMER, ""))


def _watermark(call: StreamCall, begins: Beginning, table: SourceTable, what: str) -> Watermark | None:
    if call.watermark is None:
        return None
    if call.row_kind is not None or begins.mode is not ScanMode.FULL:
        raise DbtRuntimeError(
            f"{what}: a window returns all its rows, so use watermark without row_kind and scan_mode."
        )
    try:
        return Watermark.of(call.watermark, table.columns)
    except DbtRuntimeError as exc:
        raise DbtRuntimeError(f"{what}: {exc.msg}") from None
