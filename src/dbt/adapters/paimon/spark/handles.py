"""Protocols that each connection method implements: a `Handle` for each dbt thread, and a `Cursor` over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from dbt.adapters.paimon.credentials import STATIC_CONF

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.spark.commits import Committed
    from dbt.adapters.paimon.spark.in_process import InProcess
    from dbt.adapters.paimon.spark.scans import Scan
    from dbt.adapters.paimon.spark.server_clients import Writer
    from dbt.adapters.paimon.spark.table_name import TableName
    from dbt.adapters.paimon.spark.upkeep import Effect, Kept
    from dbt.adapters.paimon.spark.work import Progress, Work
    from dbt.adapters.paimon.sql.predicates import Reference


def session_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """The Spark settings among these that can be set for a session."""
    return {
        key: value for key, value in conf.items() if key.startswith("spark.sql.") and key not in STATIC_CONF
    }


@contextmanager
def with_conf(
    conf: Mapping[str, str],
    read: Callable[[str], str | None],
    write: Callable[[str, str | None], None],
) -> Iterator[None]:
    """Set Spark settings inside the block, and restore the old values afterwards, also after an error.

    Args:
        conf: the settings.
        read: returns the value of a setting, None if it is not set.
        write: sets a setting, or unsets it if the value is None.
    """
    before = {key: read(key) for key in conf}

    def put_back() -> None:
        for key, old in before.items():
            write(key, old)

    try:
        for key, value in conf.items():
            write(key, value)
        yield
    except BaseException:
        # If Spark has ended, this fails too: report the statement's own error instead.
        with suppress(Exception):
            put_back()
        raise
    put_back()


class Cursor(Protocol):
    """A DB-API-like cursor; rows stay in Spark until they are fetched."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement, or a script whose last statement has the rows; a query runs when its rows are fetched.

        Args:
            sql: the text.
            bindings: values for the `?` markers of the last statement.
        """

    def drain(self) -> None:
        """Run a query for its effects and errors, without fetching rows."""

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as DB-API 2.0 lays them out."""

    def fetchall(self) -> list[Any]:
        """All rows, or the remaining ones."""

    def fetchmany(self, size: int) -> list[Any]:
        """The first `size` rows; no more than these are fetched."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def close(self) -> None:
        """Forget the last result."""


class Handle(Protocol):
    """A dbt thread's connection: a Spark session that no other thread uses."""

    @property
    def session(self) -> SparkSession:
        """The session, for Python models.

        Raises:
            DbtRuntimeError: this connection method has no PySpark session.
        """

    def cursor(self) -> Cursor:
        """A cursor over this session."""

    def load(self, name: str) -> DataFrame:
        """The data frame of a rendered relation, even if it is a view that this session has not created yet."""

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        """Create a temporary view of this session from a query with `?` markers."""

    def references(self, expression: str) -> list[Reference]:
        """The column names in an SQL expression, without those in subqueries.

        Raises:
            Exception: the text is not an expression.
        """

    def configured(self, conf: Mapping[str, str]) -> AbstractContextManager[None]:
        """Set Spark settings inside the block, and restore the old values afterwards, also after an error."""

    def setting(self, key: str) -> str | None:
        """The session's value of a Spark setting; None if it has none, or if asking for it would be a statement."""

    def knows(self, key: str) -> bool:
        """Whether a setting is one of Spark's own that a session may change."""

    @property
    def statement_id(self) -> str:
        """The id of this thread's last statement, by which Spark or its server knows it; '' if there is none."""

    def describe(self, node: str, text: str) -> None:
        """Name the node, and say what it is, on Spark's own pages for all that this thread runs from now on."""

    def committed(self, table: TableName, user: str, since: float, whole: bool) -> Committed | None:
        """The newest commit to a table by a user since a time (see `commits`); None if there is none.

        Args:
            table: the table.
            user: what the commit user begins with.
            since: seconds since the epoch.
            whole: whether the statement replaced all rows.
        """

    def kept(self, table: TableName) -> Kept:
        """The table snapshots that a table has.

        Raises:
            Exception: there is no such table, or its catalog cannot be asked.
        """

    def effect(self, table: TableName, before: Kept) -> Effect:
        """What became of a table since it had these table snapshots.

        Raises:
            Exception: its catalog cannot be asked.
        """

    def work_of(self, statement_id: str) -> Work | None:
        """What Spark did for a statement; None if that cannot be seen from here."""

    def in_process(self) -> InProcess | None:
        """What only a Spark in this process can be asked; None if it is in a server."""

    def scans(self, sql: str) -> tuple[Scan, ...]:
        """What a query would read from Paimon tables (see `scans`); nothing runs."""

    def progress(self, since: float) -> Progress | None:
        """How far this thread's work since a time is; None if that cannot be seen from here.

        Called by another thread.

        Args:
            since: seconds since the epoch.

        Raises:
            Exception: of py4j or Spark.
        """

    def cancel(self) -> None:
        """Cancel what this thread runs, also jobs that its statement has not started yet."""

    def begins(self) -> None:
        """Called when a statement begins on this thread, the one that `interrupt` is for."""

    def ends(self) -> None:
        """Called when a statement that was interrupted has ended."""

    def is_busy(self) -> bool:
        """Whether Spark works for this thread, as far as the client can see; called by another thread."""

    def interrupt(self) -> None:
        """Make the statement of this thread end, wherever it waits; called by another thread."""

    @property
    def is_lost(self) -> bool:
        """Whether an answer was lost, so that its statement may go on in the server."""

    def notice(self, error: BaseException) -> None:
        """Remember what the error of a statement says of the server: whether its answer was lost."""

    def writer(self) -> Writer | None:
        """This client, as a table's note in the server says it; None for an embedded Spark, which ends with dbt."""

    def beside(self, sql: str) -> list[Any]:
        """The rows of a short statement beside the one that runs; called by another thread."""

    def end(self, writer: Writer, remember: Callable[[tuple[str, ...]], object]) -> None:
        """End the statements of a client that died or lost its connection, and wait until they have ended.

        Args:
            writer: the client.
            remember: gets the ids of its statements before they are waited for.

        Raises:
            Exception: the server does not answer.
        """

    def close(self) -> None:
        """Release the session."""

    def rollback(self) -> None:
        """Nothing to do: every statement is its own commit."""
