"""Features that need Spark in dbt's own process: its plans, its settings, and Paimon's own classes (py4j)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import files, snapshots, table_versions
from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.spark import analysis, branch_schemas, row_writer, sorted_compaction
from dbt.adapters.paimon.spark.copied_renames import CopiedRenames

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName

_PAIMON: Final = "spark.paimon."


class EmbeddedSpark:
    """Metadata and commits of an embedded Spark; only `write_rows` and `sort` run Spark jobs.

    Methods raise if a query is invalid, a table does not exist, or this Spark or catalog does not support the call.
    """

    def __init__(
        self,
        session: SparkSession,
        configured: Callable[[Mapping[str, str]], AbstractContextManager[None]],
        frame_of: Callable[[str], DataFrame],
    ) -> None:
        self._session = session
        self._configured = configured
        self._frame_of = frame_of

    def _table(self, name: TableName) -> Any:
        return paimon_table(self._session, name)

    @property
    def spark_version(self) -> str:
        return str(self._session.version)

    def analyzed(self, sql: str) -> analysis.Analyzed:
        """Analyze a query (see `analysis`)."""
        with self._configured(analysis.UNTRUNCATED):
            return analysis.by_plan(self._frame_of(sql))

    def reads_alike(self, sql: str) -> bool:
        """Whether a query that is run twice returns the same rows (see `analysis.reads_alike`)."""
        return analysis.reads_alike(self._frame_of(sql))

    def explained(self, sql: str) -> str:
        """A query's plans with Spark's estimates, as EXPLAIN COST prints them."""
        jvm: Any = self._session._jvm
        plans = self._frame_of(sql)._jdf.queryExecution()
        return str(jvm.PythonSQLUtils.explainString(plans, "cost"))

    def table_version(self, table: TableName) -> table_versions.TableVersion:
        """A table's latest snapshot, and the latest one that changed rows (see `table_versions`)."""
        return table_versions.table_version_of(self._session._jvm, self._table(table))

    def commits(self, table: TableName) -> tuple[snapshots.Commit, ...]:
        """The commits of a table, oldest first."""
        return snapshots.by_classes(self._table(table))

    def schema(self, table: TableName) -> Schema:
        return Schema.of_json(str(self._table(table).schema().toString()))

    def write_rows(self, query: str, table: TableName) -> None:
        """Write the rows of a query, each with its row kind, in one commit (see `row_writer`)."""
        # For a statement, SparkCatalog.loadTable passes these settings to the table.
        settings = self.settings().items()
        options = {key.removeprefix(_PAIMON): value for key, value in settings if key.startswith(_PAIMON)}
        row_writer.write(self._frame_of(query), self._table(table), options)

    def fixed_buckets(self, table: TableName) -> tuple[int, int] | None:
        """A table's number of buckets, and the bytes of its largest partition (see `files.fixed_buckets`)."""
        return files.fixed_buckets(self._table(table))

    def largest_partition(self, table: TableName) -> int | None:
        """The size of a table's largest partition in bytes; None without files."""
        return files.largest_partition(self._table(table))

    def copied_renames(self, table: TableName) -> CopiedRenames:
        """The unfinished renames of a table, on a store that renames by copying."""
        return CopiedRenames(self._session, table)

    def commit_nothing(self, table: TableName, mark: str) -> None:
        """Commit a table snapshot without rows (see `row_writer.commit_nothing`)."""
        row_writer.commit_nothing(self._session._jvm, self._table(table), mark)

    def complete_branch(self, statement: str) -> None:
        """Copy a table's older schemas to the branch that a statement created (see `branch_schemas`)."""
        branch_schemas.complete(self._session, statement)

    def sort(self, statement: str) -> bool:
        """Run a CALL of `compact` with an order, without losing rows; False if not run (see `sorted_compaction`)."""
        return sorted_compaction.sort(self._session, statement)

    def settings(self) -> dict[str, str]:
        """All explicit settings of the session, and its time zone."""
        session: Any = self._session._jsparkSession
        lines = str(session.conf().getAll().mkString("\0")).split("\0")
        found = dict(line.split(" -> ", 1) for line in lines if " -> " in line)
        return {**found, "spark.sql.session.timeZone": str(session.sessionState().conf().sessionLocalTimeZone())}
