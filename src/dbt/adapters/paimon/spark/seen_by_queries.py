"""What a handle sees of a Spark that runs in a server: what a query says, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.spark import commits, scans, upkeep

if TYPE_CHECKING:
    from dbt.adapters.paimon.spark.commits import Committed
    from dbt.adapters.paimon.spark.handles import Cursor
    from dbt.adapters.paimon.spark.in_process import InProcess
    from dbt.adapters.paimon.spark.scans import Scan
    from dbt.adapters.paimon.spark.server_clients import Writer
    from dbt.adapters.paimon.spark.table_name import TableName
    from dbt.adapters.paimon.spark.upkeep import Effect, Kept
    from dbt.adapters.paimon.spark.work import Progress, Work


class SeenByQueries(ABC):
    """A part of a handle (see `handles.Handle`); an embedded Spark says more than this."""

    @abstractmethod
    def cursor(self) -> Cursor:
        """A cursor over the handle's session."""

    def _rows_of(self, sql: str) -> list[Any]:
        cursor = self.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    def committed(self, table: TableName, user: str, since: float, whole: bool) -> Committed | None:
        """The newest commit to a table by a user, by a query."""
        return commits.by_sql(self._rows_of, table, user, whole)

    def kept(self, table: TableName) -> Kept:
        """The table snapshots that a table has, by a query."""
        return upkeep.kept_by_sql(self._rows_of, table)

    def effect(self, table: TableName, before: Kept) -> Effect:
        """What became of a table since it had these table snapshots, by a query."""
        return upkeep.effect_by_sql(self._rows_of, table, before)

    def work_of(self, statement_id: str) -> Work | None:
        """None: what a server did cannot be seen from here."""
        return None

    def in_process(self) -> InProcess | None:
        """None: the Spark of this handle is in a server."""
        return None

    def scans(self, sql: str) -> tuple[Scan, ...]:
        """What a query would read, as EXPLAIN COST says it."""
        return scans.by_explain(self._rows_of, sql)

    def progress(self, since: float) -> Progress | None:
        """None: what a server does cannot be seen from here."""
        return None

    def begins(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Nothing to do."""

    def ends(self) -> None:  # noqa: B027 - only an embedded Spark needs it
        """Nothing to do."""

    # An embedded Spark ends with dbt, and what it answers is not lost.
    is_lost = False

    def notice(self, error: BaseException) -> None:  # noqa: B027 - only a server can be lost
        """Nothing to do."""

    def writer(self) -> Writer | None:
        """None: what an embedded Spark runs ends with dbt."""
        return None

    def beside(self, sql: str) -> list[Any]:
        """The rows of a statement."""
        return self._rows_of(sql)

    def end(self, writer: Writer, remember: Callable[[tuple[str, ...]], object]) -> None:  # noqa: B027 - see `writer`
        """Nothing to do."""

    def is_busy(self) -> bool:
        """Always true: what a server does for a statement cannot be seen from here."""
        return True
