"""What only a Spark in dbt's own process can be asked: its plans, its settings, and Paimon's own classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.spark import (
    analysis,
    branch_schemas,
    row_writer,
    sizes,
    sorted_compaction,
    table_versions,
)
from dbt.adapters.paimon.sql import predicates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.spark.analysis import Analyzed
    from dbt.adapters.paimon.spark.sizes import Size
    from dbt.adapters.paimon.spark.table_name import TableName
    from dbt.adapters.paimon.spark.table_versions import TableVersion

# Otherwise the text of a wide plan leaves out columns.
_WHOLE_TEXT: Final = {"spark.sql.debug.maxToStringFields": str(2**31 - 1)}

_PAIMON: Final = "spark.paimon."


class EmbeddedSpark:
    """Asks the Spark of a handle; none of it runs a Spark job.

    Args:
        session: a session of the embedded Spark.
        frame_of: gives the data frame of a query, with the views that it mentions.
        configured: sets Spark settings of the session inside a block.
    """

    def __init__(
        self,
        session: SparkSession,
        frame_of: Callable[[str], DataFrame],
        configured: Callable[[Mapping[str, str]], AbstractContextManager[None]],
    ) -> None:
        self._session = session
        self._frame_of = frame_of
        self._configured = configured

    @property
    def spark_version(self) -> str:
        """Spark's version."""
        return str(self._session.version)

    def analyzed(self, sql: str) -> Analyzed:
        """What a query reads and calls (see `analysis`).

        Raises:
            Exception: the query is invalid, or this Spark cannot be asked in this way.
        """
        with self._configured(_WHOLE_TEXT):
            return analysis.by_plan(self._frame_of(sql))

    def reads_alike(self, sql: str) -> bool:
        """Whether a query that is read twice gives the same rows both times (see `analysis.reads_alike`).

        Raises:
            Exception: the query is invalid, or this Spark cannot be asked in this way.
        """
        return analysis.reads_alike(self._frame_of(sql))

    def explained(self, sql: str) -> str:
        """A query's plans with Spark's estimates, as EXPLAIN COST prints them.

        Raises:
            Exception: the query is invalid, or this Spark cannot be asked in this way.
        """
        jvm: Any = self._session._jvm
        return str(jvm.PythonSQLUtils.explainString(self._frame_of(sql)._jdf.queryExecution(), "cost"))

    def stand(self, table: TableName) -> TableVersion:
        """Where a table stands (see `heads`).

        Raises:
            Exception: there is none, or its catalog cannot be asked in this way.
        """
        return table_versions.table_version_of(
            self._session._jvm, table_versions.paimon_table(self._session, table)
        )

    def commits(self, table: TableName) -> list[tuple[int, str, str, int | None, int | None, int]]:
        """The commits of a table (see `table_versions.commits_of`).

        Raises:
            Exception: there is no such table, or its catalog cannot be asked in this way.
        """
        return table_versions.commits_of(table_versions.paimon_table(self._session, table))

    def schema(self, table: TableName) -> str:
        """A table's current schema, as Paimon's JSON.

        Raises:
            Exception: there is no such table, or its catalog cannot be asked in this way.
        """
        return str(table_versions.paimon_table(self._session, table).schema().toString())

    def write_rows(self, query: str, table: TableName) -> None:
        """Write the rows of a query, each with its row kind, in one commit (see `row_writer`).

        Raises:
            Exception: of Spark or Paimon; nothing is committed.
        """
        # As SparkCatalog.loadTable does for a statement.
        options = {
            key.removeprefix(_PAIMON): value
            for key, value in self.settings().items()
            if key.startswith(_PAIMON)
        }
        row_writer.write(self._frame_of(query), table_versions.paimon_table(self._session, table), options)

    def size(self, table: TableName) -> Size | None:
        """How large a table is (see `sizes`); None if it has no fixed buckets, or is small.

        Raises:
            Exception: its catalog cannot be asked in this way.
        """
        return sizes.of_table(table_versions.paimon_table(self._session, table))

    def largest_partition(self, table: TableName) -> int | None:
        """Bytes of a table's largest partition (see `sizes`); None without files.

        Raises:
            Exception: its catalog cannot be asked in this way.
        """
        return sizes.largest_partition(table_versions.paimon_table(self._session, table))

    def commit_nothing(self, table: TableName, mark: str) -> None:
        """Commit a table snapshot without rows (see `table_versions.commit_nothing`).

        Raises:
            Exception: it could not be committed.
        """
        table_versions.commit_nothing(
            self._session._jvm, table_versions.paimon_table(self._session, table), mark
        )

    def complete_branch(self, statement: str) -> None:
        """Give a branch that a statement has created the older schemas of its table (see `branch_schemas`).

        Raises:
            Exception: they cannot be copied.
        """
        branch_schemas.complete(self._session, statement)

    def sort(self, statement: str) -> bool:
        """Run a CALL of `compact` with an order so that it loses no rows (see `sorted_compaction`); whether it was one.

        Raises:
            Exception: another writer replaced a file that was read.
        """
        return sorted_compaction.sort(
            self._session, statement, lambda text: predicates.by_spark(self._session, text)
        )

    def settings(self) -> dict[str, str]:
        """All settings of the session that are set, and its time zone."""
        session: Any = self._session._jsparkSession
        lines = str(session.conf().getAll().mkString("\0")).split("\0")
        found = dict(line.split(" -> ", 1) for line in lines if " -> " in line)
        zone = str(session.sessionState().conf().sessionLocalTimeZone())
        return {**found, "spark.sql.session.timeZone": zone}
