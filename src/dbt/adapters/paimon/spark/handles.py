"""Base classes of the connection methods: a `Handle` for each dbt thread, and a `Cursor` over it.

The defaults of `Handle` need only SQL, as for a Spark in a server. The handle of the embedded Spark overrides them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.credentials import STATIC_CONF
from dbt.adapters.paimon.metadata import commits, procedures, snapshots
from dbt.adapters.paimon.metadata.procedures import ProcedureResult
from dbt.adapters.paimon.metadata.snapshots import SnapshotRange
from dbt.adapters.paimon.spark import scans
from dbt.adapters.paimon.sql import predicates
from dbt.adapters.paimon.sql.text import statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName
    from dbt.adapters.paimon.spark.embedded import EmbeddedSpark
    from dbt.adapters.paimon.spark.job_metrics import JobMetrics, Progress
    from dbt.adapters.paimon.spark.server_clients import Writer

# Seconds; a job that starts after Ctrl-C is cancelled within this time.
_CANCEL_EVERY: Final = 0.2


def session_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """The Spark settings among these that can be set for a session."""
    return {key: value for key, value in conf.items() if key.startswith("spark.sql.") and key not in STATIC_CONF}


@contextmanager
def with_conf(
    conf: Mapping[str, str], read: Callable[[str], str | None], write: Callable[[str, str | None], None]
) -> Iterator[None]:
    """Set Spark settings inside the block, and restore the old values afterwards, also after an error.

    `read` returns None for a setting without a value, and `write` unsets a setting whose value is None.
    """
    before = {key: read(key) for key in conf}

    def restore() -> None:
        for key, old in before.items():
            write(key, old)

    try:
        for key, value in conf.items():
            write(key, value)
        yield
    except BaseException:
        # If Spark has ended, this fails too: report the statement's own error instead.
        with suppress(Exception):
            restore()
        raise
    restore()


class Cursor(ABC):
    """A DB-API-like cursor; rows stay in Spark until they are fetched."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement; a query runs when its rows are fetched, or by `drain`.

        Args:
            sql: a statement or a script, for example an SQL header before a model's query. The cursor has the rows of
                the last statement; all others run to their end.
            bindings: values for the `?` markers of the last statement.
        """
        *before, last = statements(sql.strip())
        for statement in before:
            self._run(statement)
            self.drain()
        self._run(last, bindings)

    @abstractmethod
    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        """Create the views that a statement mentions, send it, and forget the rows of the one before."""

    @abstractmethod
    def drain(self) -> None:
        """Run a query for its effects and errors, without fetching rows."""

    @property
    @abstractmethod
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as in DB-API 2.0."""

    @abstractmethod
    def fetchall(self) -> list[Any]:
        """All rows, or the remaining ones."""

    @abstractmethod
    def fetchmany(self, size: int) -> list[Any]:
        """The next `size` rows; no more than these leave Spark."""

    @abstractmethod
    def fetchone(self) -> Any:
        """The next row, or None."""

    @abstractmethod
    def close(self) -> None:
        """Forget the last result."""


class Handle(ABC):
    """A dbt thread's connection: a Spark session that no other thread uses."""

    # Whether an answer was lost, so that its statement may still run in the server. Never for an embedded Spark.
    is_lost = False

    def __init__(self) -> None:
        self._closed = Event()
        self._cancelled = Event()

    # -- session ----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def session(self) -> SparkSession:
        """The session, for Python models; Thrift has none and raises a DbtRuntimeError."""

    @abstractmethod
    def cursor(self) -> Cursor:
        """A cursor over this session."""

    def rows_of(self, sql: str) -> list[Any]:
        """The rows of a statement."""
        cursor = self.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    @abstractmethod
    def load(self, name: str) -> DataFrame:
        """The data frame of a rendered relation, even if it is a view that this session has not created yet."""

    @abstractmethod
    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        """Create a temporary view of this session from a query with `?` markers."""

    def references(self, expression: str) -> list[predicates.Reference]:
        """The column names in an SQL expression, without those in subqueries; raises if it cannot be parsed."""
        return predicates.by_sqlglot(expression)

    def close(self) -> None:
        """End the connection; an embedded Spark keeps running."""
        self._closed.set()

    def rollback(self) -> None:  # noqa: B027 - every statement is its own commit
        """Do nothing."""

    # -- settings ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def _value_of(self, key: str) -> str | None:
        """The session's value of a Spark setting; None if it has none."""

    @abstractmethod
    def _set(self, key: str, value: str | None) -> None:
        """Set a Spark setting of this session, or unset it if the value is None."""

    def configured(self, conf: Mapping[str, str]) -> AbstractContextManager[None]:
        def write(key: str, value: str | None) -> None:
            # A lost session is not used again.
            if not self.is_lost:
                self._set(key, value)

        return with_conf(conf, self._value_of, write)

    def setting(self, key: str) -> str | None:
        """The session's value of a Spark setting; None if it has none, or if reading it takes a statement."""
        return self._value_of(key)

    @abstractmethod
    def knows(self, key: str) -> bool:
        """Whether a setting is one of Spark's own that a session may change."""

    # -- results ----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def statement_id(self) -> str:
        """The id of this thread's last statement in Spark or its server; '' if there is none."""

    @abstractmethod
    def describe(self, node: str, text: str) -> None:
        """Show a node and a description on Spark's pages for all that this thread runs from now on."""

    def committed(self, table: TableName, user: str, since: float, whole: bool) -> commits.Committed | None:
        """The newest commit to a table by a user (see `commits`); None if there is none.

        `user` is a prefix of the commit user. `since`, in seconds since the epoch, is for the embedded Spark only.
        `whole`: whether the statement replaced all rows.
        """
        return commits.by_sql(self.rows_of, table, user, whole)

    def kept(self, table: TableName) -> SnapshotRange:
        """The table snapshots that a table has; raises if the table or its catalog cannot be read."""
        return snapshots.range_by_sql(self.rows_of, table)

    def effect(self, table: TableName, before: SnapshotRange) -> ProcedureResult:
        """The changes to a table since it had these table snapshots; raises if its catalog cannot be read."""
        return procedures.effect_by_sql(self.rows_of, table, before)

    def work_of(self, statement_id: str) -> JobMetrics | None:
        """Spark's job metrics of a statement; None if they are not available."""
        return None

    def embedded(self) -> EmbeddedSpark | None:
        """The features of an embedded Spark; None if Spark is in a server."""
        return None

    def scans(self, sql: str) -> tuple[scans.Scan, ...]:
        """What a query would read from Paimon tables (see `scans`), without running it."""
        return scans.explained(row[0] for row in self.rows_of(f"explain cost {sql}"))

    def progress(self, since: float) -> Progress | None:
        """Progress of this thread's work since a time in epoch seconds; None if unknown. Called by another thread."""
        return None

    # -- cancellation -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _cancel_running(self) -> None:
        """Cancel what runs now."""

    def cancel(self) -> None:
        """Cancel what this thread runs, including the jobs that its statement starts later.

        Statements without a job continue, so that the two renames of a swap are not separated.
        """
        self._cancelled.set()
        # Spark 3.5 only cancels the jobs of a tag that run now, no later ones.
        Thread(target=self._cancel_until_closed, name="cancel", daemon=True).start()

    def _cancel_until_closed(self) -> None:
        while not self._closed.is_set():
            with suppress(Exception):
                self._cancel_running()
            self._closed.wait(_CANCEL_EVERY)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def begins(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Called on this thread when a statement begins that `interrupt` may end."""

    def ends(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Called on this thread when an interrupted statement has ended."""

    def is_busy(self) -> bool:
        """Whether Spark works for this thread, as far as the client can see; called by another thread."""
        return True

    def interrupt(self) -> None:
        """End the statement of this thread, even if it waits outside of a Spark job; called by another thread."""
        self._cancel_running()

    # -- server -----------------------------------------------------------------------------------------------------

    def notice(self, error: BaseException) -> None:  # noqa: B027 - only a server can be lost
        """Set `is_lost` if an error of a statement says that the server's answer was lost."""

    def writer(self) -> Writer | None:
        """This client, for a table's note in the server; None for an embedded Spark, which ends with dbt."""
        return None

    def beside(self, sql: str) -> list[Any]:
        """The rows of a short statement that runs parallel to the current one; called by another thread."""
        return self.rows_of(sql)

    def end(self, writer: Writer, remember: Callable[[tuple[str, ...]], object]) -> None:  # noqa: B027 - see `writer`
        """End the statements of a client that died or lost its connection, and wait until they have ended.

        `remember` is called with the ids of its statements before the wait.
        """
