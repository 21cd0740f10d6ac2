"""Base classes of the connection methods: a `Handle` for each dbt thread, and a `Cursor` over it.

The default implementations of `Handle` use only SQL, for a Spark server. `SessionHandle` (embedded) overrides them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import commits, procedures, snapshots
from dbt.adapters.paimon.spark import scans
from dbt.adapters.paimon.sql import predicates, users_statement, views
from dbt.adapters.paimon.sql.text import statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName
    from dbt.adapters.paimon.spark.embedded import EmbeddedSpark
    from dbt.adapters.paimon.spark.job_metrics import JobMetrics, Progress
    from dbt.adapters.paimon.spark.server_clients import ClientRecord

# Seconds between attempts to cancel this thread's jobs after Ctrl-C.
_CANCEL_EVERY: Final = 0.2
# Settings that may change how Spark and Paimon analyze a query.
_OF_QUERIES: Final = ("spark.sql.", "spark.paimon.")


class Cursor(ABC):
    """A DB-API-like cursor; rows stay in Spark until they are fetched."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement; a query runs only when its rows are fetched or `drain` is called.

        Args:
            sql: a statement or a script, for example an SQL header before a model's query. The cursor has the rows of
                the last statement; all others run to completion.
            bindings: values for the `?` markers of the last statement.
        """
        *before, last = statements(sql.strip())
        for statement in before:
            self._refuse_loss(statement)
            self._run(statement)
            self.drain()
        self._refuse_loss(last, bindings)
        self._run(last, bindings)

    def _refuse_loss(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        """Refuse a statement that would lose a table's rows (see `users_statement.refuse_loss`)."""
        if users_statement.replaces_table(statement):
            self._run(f"explain extended {statement}", bindings)
            users_statement.refuse_loss("\n".join(str(row[0]) for row in self.fetchall()))

    @abstractmethod
    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        """Create the views that a statement mentions, send the statement, and discard earlier rows."""

    @abstractmethod
    def drain(self) -> None:
        """Run a query for its effects and errors, without fetching rows."""

    @property
    @abstractmethod
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type and nullability of each column, as in DB-API 2.0."""

    @abstractmethod
    def fetchall(self) -> list[Any]:
        """The remaining rows."""

    @abstractmethod
    def fetchmany(self, size: int) -> list[Any]:
        """The next `size` rows; no more than these leave Spark."""

    @abstractmethod
    def fetchone(self) -> Any:
        """The next row, or None."""

    @abstractmethod
    def close(self) -> None:
        """Discard the last result."""


class Handle(ABC):
    """A dbt thread's connection: a Spark session that no other thread uses."""

    # Whether the connection to a server was lost during a statement; the statement may still be running there.
    is_lost = False

    def __init__(self) -> None:
        self._closed = Event()
        self._cancelled = Event()
        # The settings that the session began with; None if they are not needed.
        self._begun_with: Mapping[str, str] | None = None

    # -- session ----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def session(self) -> SparkSession:
        """The session, for Python models; with Thrift it raises a DbtRuntimeError."""

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
        """The session's value of a Spark setting, or None."""

    @abstractmethod
    def _set(self, key: str, value: str | None) -> None:
        """Set a Spark setting of this session, or unset it if the value is None."""

    @abstractmethod
    def _settings(self) -> dict[str, str]:
        """All settings of the session that have a value of their own."""

    def remember_settings(self) -> None:
        """Called when the session begins, if views have to be created in it again (see `sql.views`)."""
        self._begun_with = self._settings()

    def changed_settings(self) -> dict[str, str | None]:
        """The settings that the node has changed (`spark_config`, hook, header); None for one without a value."""
        if self._begun_with is None:
            return {}
        now, before = self._settings(), self._begun_with
        return {
            key: now.get(key)
            for key in sorted(now.keys() | before.keys())
            if key.startswith(_OF_QUERIES) and now.get(key) != before.get(key)
        }

    @contextmanager
    def view_settings(self) -> Iterator[views.Settings]:
        """Yield a function for `create_mentioned`; its first call undoes the node's settings until the block ends."""
        with ExitStack() as block:

            @cache
            def undo() -> None:
                begun_with = self._begun_with or {}
                block.enter_context(self.configured({key: begun_with.get(key) for key in self.changed_settings()}))

            def settings(of_view: Mapping[str, str | None]) -> AbstractContextManager[None]:
                undo()
                return self.configured(of_view)

            yield settings

    @contextmanager
    def configured(self, conf: Mapping[str, str | None]) -> Iterator[None]:
        """Set Spark settings inside the block, and restore the old values afterwards, even after an error.

        The value None unsets a setting.
        """
        before = {key: self._value_of(key) for key in conf}
        try:
            self._set_all(conf)
            yield
        except BaseException:
            # If Spark has ended, this fails too: report the statement's own error instead.
            with suppress(Exception):
                self._set_all(before)
            raise
        self._set_all(before)

    def _set_all(self, conf: Mapping[str, str | None]) -> None:
        # A lost session is not used again.
        if not self.is_lost:
            for key, value in conf.items():
                self._set(key, value)

    def setting(self, key: str) -> str | None:
        """Like `_value_of`, but None if reading the setting would take a statement."""
        return self._value_of(key)

    @abstractmethod
    def is_session_setting(self, key: str) -> bool:
        """Whether Spark knows a setting and allows a session to change it."""

    # -- results ----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def statement_id(self) -> str:
        """Spark's or the server's id of this thread's last statement, or ''."""

    @abstractmethod
    def describe(self, node: str, description: str) -> None:
        """Label this thread's next jobs with a node and a description in the Spark UI."""

    def committed(self, table: TableName, user: str, since: float, whole: bool) -> commits.Committed | None:
        """The newest commit to a table by a user (see `commits`), or None.

        Args:
            user: a prefix of the commit user.
            since: epoch seconds; older commits are ignored. Only the embedded Spark uses this.
            whole: whether the statement replaced all rows.
        """
        return commits.by_sql(self.rows_of, table, user, whole)

    def snapshot_range(self, table: TableName) -> snapshots.SnapshotRange:
        """The range of a table's snapshots; raises if the table or its catalog cannot be read."""
        return snapshots.range_by_sql(self.rows_of, table)

    def changes_since(self, table: TableName, before: snapshots.SnapshotRange) -> procedures.ProcedureResult:
        """How a table has changed since it had the snapshots `before`; raises if its catalog cannot be read."""
        return procedures.effect_by_sql(self.rows_of, table, before)

    def statement_metrics(self, statement_id: str) -> JobMetrics | None:
        """Spark's job metrics of a statement; None if they are not available."""
        return None

    def embedded(self) -> EmbeddedSpark | None:
        """The features of the embedded Spark; None if Spark runs on a server."""
        return None

    def scanned_tables(self, sql: str) -> tuple[scans.Scan, ...]:
        """What a query would read from Paimon tables (see `scans`), without running it."""
        return scans.by_explain(row[0] for row in self.rows_of(f"explain cost {sql}"))

    def progress(self, since: float) -> Progress | None:
        """Progress of this thread's work since `since` (epoch seconds); None if unknown. Called by another thread."""
        return None

    # -- cancellation -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _cancel_running(self) -> None:
        """Cancel the running statement."""

    def cancel(self) -> None:
        """Cancel this thread's Spark jobs, including those that its statement starts later.

        A statement without a job continues, so that the two renames of a swap are not separated.
        """
        self._cancelled.set()
        # cancelJobsWithTag of Spark 3.5 cancels running jobs only, not those that start later.
        Thread(target=self._cancel_until_closed, name="cancel", daemon=True).start()

    def _cancel_until_closed(self) -> None:
        while not self._closed.is_set():
            with suppress(Exception):
                self._cancel_running()
            self._closed.wait(_CANCEL_EVERY)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def statement_begins(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Called on this thread before a statement that `interrupt` may end."""

    def statement_ended(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Called on this thread after an interrupted statement has ended."""

    def is_busy(self) -> bool:
        """Whether Spark is working for this thread, as far as the client can see; called by another thread."""
        return True

    def interrupt(self) -> None:
        """End this thread's statement, even if it waits outside a Spark job; called by another thread."""
        self._cancel_running()

    # -- server -----------------------------------------------------------------------------------------------------

    def detect_lost_server(self, error: BaseException) -> None:  # noqa: B027 - only a server can be lost
        """Set `is_lost` if a statement failed because the connection to the server was lost."""

    def client_record(self) -> ClientRecord | None:
        """This client's record, with which other clients can end its statements; None for an embedded Spark."""
        return None

    def query_concurrently(self, sql: str) -> list[Any]:
        """The rows of a short statement that runs alongside the current one; called by another thread."""
        return self.rows_of(sql)

    def end_statements_of(self, client: ClientRecord, remember: Callable[[tuple[str, ...]], object]) -> None:  # noqa: B027 - see `client_record`
        """End the statements of a client that died or lost its connection, and wait until they have ended.

        Before the wait, `remember` is called with the ids of the statements.
        """
