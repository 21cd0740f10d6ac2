"""What a connection method gives dbt: a handle for each thread, and cursors over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from dbt.adapters.paimon.credentials import STATIC_CONF

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.sql.predicates import Reference


def session_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """Those of some Spark settings that a session can have for itself."""
    return {
        key: value for key, value in conf.items() if key.startswith("spark.sql.") and key not in STATIC_CONF
    }


@contextmanager
def with_conf(
    conf: Mapping[str, str],
    read: Callable[[str], str | None],
    write: Callable[[str, str | None], None],
) -> Iterator[None]:
    """Set Spark settings for the statements inside, and put back what was there, also after an error.

    Args:
        conf: the settings.
        read: gives what a setting is, None where it is not set.
        write: sets it; takes it away for None.
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
        # Of a Spark that has ended this fails, too: the statement's own error is the one to tell.
        with suppress(Exception):
            put_back()
        raise
    put_back()


class Cursor(Protocol):
    """A DB-API-like cursor; rows stay in Spark until they are fetched."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement, or a script whose last statement gives the rows; a query runs when it is asked for them.

        Args:
            sql: the text.
            bindings: values of the last statement's `?` markers.
        """

    def drain(self) -> None:
        """Run a query for its effects and its errors, keeping no row of it."""

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as DB-API 2.0 lays them out."""

    def fetchall(self) -> list[Any]:
        """All rows, or those that are left."""

    def fetchmany(self, size: int) -> list[Any]:
        """The first `size` rows; no more than that is brought here."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def close(self) -> None:
        """Let go of the last result."""


class Handle(Protocol):
    """What dbt holds for a thread: a Spark session that no other thread uses."""

    @property
    def session(self) -> SparkSession:
        """The session, for Python models.

        Raises:
            DbtRuntimeError: this connection method has none on this side.
        """

    def cursor(self) -> Cursor:
        """A cursor over this session."""

    def load(self, name: str) -> DataFrame:
        """The frame of a rendered relation, also of a view that this session has not met yet."""

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        """Make a query with `?` markers a view of this session."""

    def references(self, expression: str) -> list[Reference]:
        """The names of columns in an SQL expression; none from within a subquery.

        Raises:
            Exception: it is no expression.
        """

    def configured(self, conf: Mapping[str, str]) -> AbstractContextManager[None]:
        """Set Spark settings for the statements inside, and put back what was there, also after an error."""

    def cancel(self) -> None:
        """Stop what this thread runs, also the jobs that its statement has yet to start."""

    def begins(self) -> None:
        """A statement begins on this thread; `interrupt` is for it."""

    def ends(self) -> None:
        """The statement, which was interrupted, has ended."""

    def is_busy(self) -> bool:
        """Whether Spark works for this thread, as far as can be seen from here; asked by another thread."""

    def interrupt(self) -> None:
        """Have the statement of this thread end, wherever it waits; called by another thread."""

    def close(self) -> None:
        """Let go of the session."""

    def rollback(self) -> None:
        """Nothing to do: every statement is a commit of its own."""
