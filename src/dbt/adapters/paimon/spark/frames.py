"""Base classes of handles and cursors over a PySpark session, embedded or over Spark Connect."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.capabilities import DEFAULT_PAIMON_VERSION, Capability, Versions
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.handles import with_conf
from dbt.adapters.paimon.spark.seen_by_queries import SeenByQueries
from dbt.adapters.paimon.sql import predicates
from dbt.adapters.paimon.sql.data_types import type_text
from dbt.adapters.paimon.sql.text import bound, quoted, statements
from dbt.adapters.paimon.sql.timestamps import on_session_clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Seconds; a job that starts after Ctrl-C is cancelled within this time.
_CANCEL_EVERY = 0.2
# What the tags of all handles begin with.
_OURS = "dbt-"


class Tags:
    """The tags of what a handle runs: `own` for all of it, one for each statement, and `node` if it is not ''."""

    def __init__(self) -> None:
        self.own = f"{_OURS}{uuid.uuid4().hex[:12]}"
        self.statement = ""
        self.node = ""
        self._statements = 0

    def next(self) -> None:
        """Begin a statement."""
        self._statements += 1
        self.statement = f"{self.own}-{self._statements}"

    def put_on(
        self, thread: Iterable[str], remove: Callable[[str], None], add: Callable[[str], None]
    ) -> None:
        """Tag what this thread runs from now on, and no longer with earlier statements or other handles.

        Args:
            thread: the tags that the thread has.
            remove: takes one off.
            add: puts one on.
        """
        for tag in [tag for tag in thread if tag.startswith(_OURS) and tag != self.own]:
            remove(tag)
        add(self.own)
        add(self.statement)
        if self.node:
            add(f"{_OURS}{self.node}")


@lru_cache(maxsize=1)
def _takes_parameters() -> bool:
    versions = Versions.of(DEFAULT_PAIMON_VERSION, spark=installation.spark_version())
    return versions.supports(Capability.STATEMENT_PARAMETERS)


class FrameCursor(ABC):
    """A cursor (see `handles.Cursor`) whose last statement is a PySpark data frame."""

    def __init__(self, session: SparkSession, tags: Tags) -> None:
        self._session = session
        self._tags = tags
        self._frame: DataFrame | None = None
        self._rows: list[Any] | None = None

    @abstractmethod
    def _tag_thread(self) -> None:
        """Put the tags of the statement on what this thread runs (see `Tags.put_on`)."""

    @abstractmethod
    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        """Send one statement; sets `_frame` and clears the rows of the last one."""

    @abstractmethod
    def _is_command(self) -> bool:
        """Whether the last statement was a command, which has run already."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement; a command runs at once, a query when `fetchall`, `fetchmany` or `drain` is called.

        Args:
            sql: one statement, or a script of several (a model's SQL header before its query): all but the last run to
            their end, and the cursor has the rows of the last.
            bindings: values for the `?` markers of the last statement.
        """
        self._tags.next()
        self._tag_thread()
        *before, last = statements(sql.strip())
        for statement in before:
            self._run(statement)
            self.drain()
        if bindings and not _takes_parameters():
            last, bindings = bound(last, bindings), None
        self._run(last, bindings)

    @property
    def frame(self) -> DataFrame:
        """The data frame of the last statement."""
        assert self._frame is not None
        return self._frame

    def drain(self) -> None:
        """Run a query for its effects and errors, without bringing rows to the driver."""
        if self._frame is not None and not self._is_command():
            self._frame.write.format("noop").mode("overwrite").save()

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as DB-API 2.0 lays them out."""
        if self._frame is None:
            return []
        return [
            (f.name, type_text(f.dataType), None, None, None, None, f.nullable)
            for f in self._frame.schema.fields
        ]

    def fetchall(self) -> list[Any]:
        """All rows, or the remaining ones."""
        if self._rows is None:
            self._rows = self._brought(lambda frame: frame.collect())
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        """The first `size` rows; no more than these are brought to the driver."""
        if self._rows is None and self._frame is not None:
            return self._brought(lambda frame: frame.take(size))
        rows = self._rows or []
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> Any:
        """The next row, or None."""
        if self._rows is None:
            self._rows = self._brought(lambda frame: frame.collect())
        return self._rows.pop(0) if self._rows else None

    def _brought(self, how: Callable[[DataFrame], list[Any]]) -> list[Any]:
        if self._frame is None:
            return []
        return [tuple(row) for row in how(on_session_clock(self._frame))]

    def close(self) -> None:
        """Forget the last result."""
        self._frame = self._rows = None


class FrameHandle(SeenByQueries):
    """A handle (see `handles.Handle`) over a session that no other thread uses."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._tags = Tags()
        self._closed = Event()
        self._cancelled = Event()

    @abstractmethod
    def cursor(self) -> FrameCursor:
        """A cursor over this session."""

    @abstractmethod
    def references(self, expression: str) -> list[predicates.Reference]:
        """The column names in an SQL expression."""

    @abstractmethod
    def _cancel_jobs(self) -> None:
        """Cancel the jobs that run now under this handle's tag."""

    def load(self, name: str) -> DataFrame:
        """The data frame of a rendered relation, even if it is a view that this session has not created yet."""
        cursor = self.cursor()
        cursor.execute(f"select * from {name}")
        return cursor.frame

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        """Create a temporary view of this session from a query with `?` markers."""
        cursor = self.cursor()
        cursor.execute(query, bindings)
        cursor.frame.createOrReplaceTempView(quoted(name))

    def configured(self, conf: Mapping[str, str]) -> AbstractContextManager[None]:
        """Set Spark settings inside the block, and restore the old values afterwards, also after an error."""
        settings = self.session.conf

        def write(key: str, value: str | None) -> None:
            if self.is_lost:
                # Nothing of this session is used again.
                return
            if value is None:
                settings.unset(key)
            else:
                settings.set(key, value)

        return with_conf(conf, lambda key: settings.get(key, None), write)

    def setting(self, key: str) -> str | None:
        """The session's value of a Spark setting; None if it has none."""
        value = self.session.conf.get(key, None)
        return None if value is None else str(value)

    def knows(self, key: str) -> bool:
        """Whether a setting is one of Spark's own that a session may change."""
        return bool(self.session.conf.isModifiable(key))

    @property
    def statement_id(self) -> str:
        """The tag of this thread's last statement."""
        return self._tags.statement

    @abstractmethod
    def describe(self, node: str, text: str) -> None:
        """Name the node, and say what it is (see `handles.Handle`)."""

    def cancel(self) -> None:
        """Cancel the Spark jobs of this thread, also those that its current statement has not started yet.

        Statements without a job continue, so that the two renames of a swap are not separated.
        """
        self._cancelled.set()
        # Spark 3.5 only cancels the jobs of a tag that run now, no later ones.
        Thread(target=self._cancel_until_closed, name="cancel", daemon=True).start()

    def interrupt(self) -> None:
        """Cancel the Spark jobs of this thread; a server also interrupts the statement itself."""
        self._cancel_jobs()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def _cancel_until_closed(self) -> None:
        with suppress(Exception):
            while not self._closed.is_set():
                self._cancel_jobs()
                self._closed.wait(_CANCEL_EVERY)

    def close(self) -> None:
        """Stop cancelling. The session is freed with its last reference, and its Spark keeps running."""
        self._closed.set()

    def rollback(self) -> None:
        """Nothing to do: every statement is its own commit."""
