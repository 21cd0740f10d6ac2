"""Writes each micro-batch to the table exactly once, and messages that cannot be parsed to the dead letters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.metadata import snapshots
from dbt.adapters.paimon.metadata.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.sql.text import quoted, statements, string_literal
from dbt.adapters.paimon.streaming import commits
from dbt.adapters.paimon.streaming.formats.messages import PROBLEM, UNDECLARED
from dbt.adapters.paimon.streaming.inputs import FAULT_COLUMNS, Input, raw_view
from dbt.adapters.paimon.streaming.progress import Totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.relation import PaimonRelation

# Columns of the frame that combines the raw rows of several inputs.
_INPUT_INDEX: Final = "__dbt_input"
_RAW_PREFIX: Final = "__dbt_raw_"
# The text of the error with which Spark ends a statement at an unexpected message.
_UNEXPECTED: Final = "__dbt_unexpected_message"
_FAULT_COLUMNS: Final = ", ".join(quoted(name) for name, _ in FAULT_COLUMNS)


class UnexpectedMessageError(Exception):
    """A message of a batch is not a row, or has new columns (see `BatchWriter.in_one_pass`). No row was written."""


class NewColumnsError(DbtRuntimeError):
    """Messages have columns that are not described; their batch is not written."""

    def __init__(self, found: Mapping[str, Mapping[str, str]]) -> None:
        """`found`: name of the input's view -> column name -> data type."""
        listed = "; ".join(", ".join(columns) for columns in found.values())
        super().__init__(f"Messages have columns that are not described: {listed}")
        self.found = found


@dataclass(frozen=True)
class Sink:
    """Where the rows of a batch are written.

    Attributes:
        dead_letters: the table for messages that cannot be parsed; None if such a message ends the stream.
        write: the SQL script that writes a batch; it reads the views of the inputs.
        reads_once: whether the script reads each row of the inputs exactly once.
        conf: Spark settings for the script.
        may_repeat: whether writing a batch twice has the same result as writing it once.
        alone: returns a context in which this process holds a table's lock.
    """

    table: PaimonRelation
    write: str
    reads_once: bool
    conf: Mapping[str, str]
    may_repeat: bool
    dead_letters: PaimonRelation | None
    alone: Callable[[PaimonRelation], AbstractContextManager[None]]


@dataclass(eq=False)
class BatchWriter:
    """A stream's foreachBatch function; keeps the exception that it raises, because Spark reports only a stack trace.

    Attributes:
        inputs: in the order of `raw_rows`.
        unfinished: the batch that an earlier run did not finish (see `Checkpoint.unfinished_batch`).
        refuses_new_columns: whether columns that are not described end the query (`NewColumnsError`).
        in_one_pass: whether to write rows while they are parsed, which saves a cache and a query. A message that is not
            a row, or has new columns, ends the query with UnexpectedMessageError. Then set it to False, and run again.
    """

    stream: str
    inputs: Sequence[Input]
    sink: Sink
    checkpoint: str
    unfinished: tuple[int, float] | None
    refuses_new_columns: bool
    in_one_pass: bool = True
    written: Totals = field(default_factory=Totals)
    failure: Exception | None = None

    def __call__(self, frame: DataFrame, batch: int) -> None:
        try:
            self._write(frame, batch)
        except Exception as exc:
            self.failure = exc
            raise

    def _write(self, frame: DataFrame, batch: int) -> None:
        session = frame.sparkSession
        for index, each in enumerate(self.inputs):
            each.check_batch(session, self.checkpoint, index, batch)
        if self.in_one_pass and self.sink.reads_once and PROBLEM in frame.columns:
            self._write_in_one_pass(frame, batch)
        else:
            self._write_checked(frame, batch)
        self.written.batches += 1

    def _write_in_one_pass(self, frame: DataFrame, batch: int) -> None:
        session = frame.sparkSession
        unexpected = f"{PROBLEM} is not null"
        if self.refuses_new_columns and UNDECLARED in frame.columns:
            is_map = frame.schema[UNDECLARED].dataType.typeName() == "map"
            values = f"map_values({UNDECLARED})" if is_map else UNDECLARED
            unexpected += f" or coalesce(exists({values}, v -> v is not null), false)"
        # `rand` makes this filter nondeterministic, so Spark does not move the model's filters below it.
        frame = frame.where(f"case when {unexpected} then raise_error('{_UNEXPECTED}') else rand(0) >= 0 end")
        name_raw_rows(frame, self.inputs)
        name_rows(session, self.inputs, batch)
        try:
            with self.sink.alone(self.sink.table):
                self._insert(session, batch)
        except Exception as exc:
            if _UNEXPECTED in messages.error_text(exc):
                raise UnexpectedMessageError from exc
            raise

    def _write_checked(self, frame: DataFrame, batch: int) -> None:
        """Write dead letters and rows; raises NewColumnsError, or DbtRuntimeError if a message must not be skipped."""
        session = frame.sparkSession
        # Without persist, each query over the frame would read the sources again.
        read_twice = self.refuses_new_columns or len(self.inputs) > 1 or any(self._fault_queries())
        frame = frame.persist() if read_twice else frame
        try:
            name_raw_rows(frame, self.inputs)
            if self.refuses_new_columns:
                self._refuse_new_columns(session)
            name_rows(session, self.inputs, batch)
            self._write_dead_letters(session, batch)
            with self.sink.alone(self.sink.table):
                self._insert(session, batch)
        finally:
            if read_twice:
                frame.unpersist()

    def _insert(self, session: SparkSession, batch: int) -> None:
        sink = self.sink
        self._run_once(session, sink.table, batch, sink.conf, statements(sink.write), may_repeat=sink.may_repeat)

    def _fault_queries(self) -> list[str]:
        """One query per input whose messages may fail to parse."""
        return [
            f"select {string_literal(each.call.label)} as source, {_FAULT_COLUMNS} from ({sql})"
            for each in self.inputs
            if (sql := each.faults_sql(raw_view(each.call.name)))
        ]

    def _write_dead_letters(self, session: SparkSession, batch: int) -> None:
        """Write messages that cannot be parsed to the dead letters table, or raise an error with the first of them."""
        queries = self._fault_queries()
        if not queries:
            return
        faults = "\nunion all\n".join(queries)
        (count,) = session.sql(f"select count(*) from (\n{faults}\n)").first() or (0,)
        if not count:
            return
        for each in self.inputs:
            each.check_faults(session, raw_view(each.call.name))
        if not self.sink.dead_letters:
            first = session.sql(f"{faults}\nlimit 1").first()
            assert first is not None
            raise DbtRuntimeError(
                f"{count} message(s) of {first.source} cannot be read, the first at {first.place}: "
                f"{first.reason}. Correct the description of the source, or set on_bad_message='dead_letter' "
                "to write such messages to a separate table."
            )
        insert = (
            f"insert into {self.sink.dead_letters}\n"
            f"select source, {_FAULT_COLUMNS}, {string_literal(self.stream)}, {batch}L, now()\n"
            f"from (\n{faults}\n)"
        )
        with self.sink.alone(self.sink.dead_letters):
            self._run_once(session, self.sink.dead_letters, batch, {}, [insert], may_repeat=False)
        self.written.dead_letters += int(count)

    def _run_once(
        self,
        session: SparkSession,
        table: PaimonRelation,
        batch: int,
        conf: Mapping[str, str],
        script: Iterable[str],
        *,
        may_repeat: bool,
    ) -> None:
        """Run the statements that write a batch into a table, unless an earlier run has committed the batch."""
        if self.unfinished is not None and self.unfinished[0] == batch:
            ago = time.time() - self.unfinished[1]
            found = snapshots.by_sql(lambda sql: session.sql(sql).collect(), table)
            if commits.is_written(found, self.stream, batch, ago, table=table, may_repeat=may_repeat):
                return
        for key, value in {**conf, COMMIT_USER_CONF: commits.mark(self.stream, batch)}.items():
            session.conf.set(key, value)
        for statement in script:
            session.sql(statement)

    def _refuse_new_columns(self, session: SparkSession) -> None:
        found: dict[str, dict[str, str]] = {}
        for each in self.inputs:
            sql = each.new_columns_sql(raw_view(each.call.name))
            if sql and (rows := session.sql(sql).collect()):
                found[each.call.name] = {row[0]: row[1] for row in rows}
        if found:
            raise NewColumnsError(found)


def raw_rows(frames: Sequence[DataFrame]) -> DataFrame:
    """Combine the raw rows of all inputs into one frame: if there are several, in one struct column per input."""
    from pyspark.sql import functions

    if len(frames) == 1:
        return frames[0]
    parts = [
        frame.select(
            functions.lit(which).alias(_INPUT_INDEX),
            *(
                (functions.struct("*") if index == which else functions.lit(None).cast(other.schema)).alias(
                    f"{_RAW_PREFIX}{index}"
                )
                for index, other in enumerate(frames)
            ),
        )
        for which, frame in enumerate(frames)
    ]
    return reduce(lambda union, part: union.union(part), parts)


def name_raw_rows(frame: DataFrame, inputs: Sequence[Input]) -> None:
    """Register the raw rows of each input as a view of the frame's session; the frame comes from `raw_rows`."""
    from pyspark.sql import functions

    for index, each in enumerate(inputs):
        own = frame
        if len(inputs) > 1:
            own = frame.where(functions.col(_INPUT_INDEX) == index).select(f"{_RAW_PREFIX}{index}.*")
        own.createOrReplaceTempView(raw_view(each.call.name))


def name_rows(session: SparkSession, inputs: Sequence[Input], batch: int | None = None) -> None:
    """Register each input as the view that the model's SQL reads; without `batch`, only the columns are valid."""
    for each in inputs:
        raw = raw_view(each.call.name)
        sql = each.rows_sql(raw) if batch is None else each.batch_rows_sql(session, raw, batch)
        session.sql(sql).createOrReplaceTempView(quoted(each.call.name))
