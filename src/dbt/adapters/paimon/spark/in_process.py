"""What only a Spark in dbt's own process can be asked: its plans, its settings, and Paimon's own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.spark import analysis, heads

if TYPE_CHECKING:
    from dbt.adapters.paimon.spark.analysis import Analyzed
    from dbt.adapters.paimon.spark.commits import TableName
    from dbt.adapters.paimon.spark.frames import FrameHandle
    from dbt.adapters.paimon.spark.heads import Stand

# Otherwise the text of a wide plan leaves out columns.
_WHOLE_TEXT: Final = {"spark.sql.debug.maxToStringFields": str(2**31 - 1)}


class InProcess:
    """Asks the Spark of a handle; none of it runs a Spark job.

    Args:
        handle: a handle of the embedded Spark.
    """

    def __init__(self, handle: FrameHandle) -> None:
        self._handle = handle
        self._session = handle.session

    @property
    def spark_version(self) -> str:
        """Spark's version."""
        return str(self._session.version)

    def analyzed(self, sql: str) -> Analyzed:
        """What a query reads and calls (see `analysis`).

        Raises:
            Exception: the query is invalid, or this Spark cannot be asked in this way.
        """
        with self._handle.configured(_WHOLE_TEXT):
            cursor = self._handle.cursor()
            cursor.execute(sql)
            return analysis.by_plan(
                cursor.frame, tuple((name, kind) for name, kind, *_ in cursor.description)
            )

    def stand(self, table: TableName) -> Stand:
        """Where a table stands (see `heads`).

        Raises:
            Exception: there is none, or its catalog cannot be asked in this way.
        """
        return heads.stand_of(self._session._jvm, heads.paimon_table(self._session, table))

    def commit_nothing(self, table: TableName, mark: str) -> None:
        """Commit a table snapshot without rows (see `heads.commit_nothing`).

        Raises:
            Exception: it could not be committed.
        """
        heads.commit_nothing(self._session._jvm, heads.paimon_table(self._session, table), mark)

    def settings(self) -> dict[str, str]:
        """All settings of the session that are set, and its time zone."""
        session: Any = self._session._jsparkSession
        lines = str(session.conf().getAll().mkString("\0")).split("\0")
        found = dict(line.split(" -> ", 1) for line in lines if " -> " in line)
        zone = str(session.sessionState().conf().sessionLocalTimeZone())
        return {**found, "spark.sql.session.timeZone": zone}
