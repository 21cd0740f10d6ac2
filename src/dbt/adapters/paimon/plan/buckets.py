"""The number of buckets of a table with `bucket: auto`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.metadata import files
from dbt.adapters.paimon.run_flags import is_empty_run
from dbt.adapters.paimon.spec import auto_buckets
from dbt.adapters.paimon.sql import size_estimates
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.table_properties import set_options, unset_options
from dbt.adapters.paimon.writing.bucket_tasks import PARTITIONS

if TYPE_CHECKING:
    from dbt.adapters.paimon.maintenance.api import Maintenance
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.existing import ExistingTable
    from dbt.adapters.paimon.writing.model_query import ModelQuery

logger = AdapterLogger("Paimon")

# Used if the session's number of tasks is unknown.
_DEFAULT_TASKS = 16


class Buckets:
    """Chooses the number of buckets at the first build, and keeps it afterwards."""

    def __init__(self, adapter: AdapterProtocol, maintenance: Maintenance) -> None:
        self._adapter = adapter
        self._maintenance = maintenance

    def estimate(self, spec: TableSpec, source: ModelQuery) -> TableSpec:
        """A new table's spec with buckets for Spark's size estimate; with `--empty`, a later run sets their number."""
        if not spec.auto_buckets or not auto_buckets.may_fix(spec, self._adapter.versions):
            return spec
        if is_empty_run():
            return auto_buckets.undecided(spec)
        return auto_buckets.with_buckets(spec, self._number_for(spec, source))

    def correct(self, spec: TableSpec, relation: PaimonRelation) -> None:
        """Check the estimated number against the size of a new table's rows, before the table gets its final name.

        If the number is far off, the rows are written again. If there are no rows, a later run chooses the number.
        """
        if not spec.auto_buckets or spec.bucket < 1 or auto_buckets.BUCKET_STATE_OPTION in spec.options:
            return
        largest = self._largest(relation)
        if largest is None:
            undecided = {auto_buckets.BUCKET_STATE_OPTION: auto_buckets.UNDECIDED}
            self._alter(relation, set_options(relation.render(), undecided))
        elif auto_buckets.is_off(spec.bucket, largest, self._tasks):
            number = auto_buckets.bucket_count(largest, self._tasks)
            logger.debug(f"{relation}: {largest} bytes in one partition need {number} buckets, not {spec.bucket}")
            self._maintenance.rescale(relation, number)

    def resolve(
        self, spec: TableSpec, relation: PaimonRelation, current: ExistingTable, source: ModelQuery
    ) -> TableSpec:
        """Prepare the buckets of an existing table for a write, and return the spec with their number.

        Repeats a rescale that was killed. A table without rows gets a new number, and stays marked until a run finds
        rows in it, because this run's query may return no rows either.
        """
        mark = current.options.get(auto_buckets.BUCKET_STATE_OPTION)
        if mark is None or is_empty_run():
            return spec
        if auto_buckets.is_rescaling(current.options):
            logger.info(f"{relation}: an earlier rescale did not finish; repeating it")
            self._maintenance.rescale(relation)
            return spec
        if not spec.auto_buckets:
            return spec
        if self._largest(relation) is not None:
            self._alter(relation, unset_options(relation.render(), auto_buckets.BUCKET_STATE_OPTION))
            return spec
        decided = auto_buckets.with_buckets(spec, self._number_for(spec, source))
        if decided.bucket != spec.bucket:
            self._alter(relation, set_options(relation.render(), {"bucket": decided.bucket}))
        return decided

    def _number_for(self, spec: TableSpec, source: ModelQuery) -> int:
        estimated = None
        try:
            estimated = self._estimated(f"select * from {source}")
        except Exception as exc:  # noqa: BLE001 - from py4j; the statement that writes the rows reports the error
            logger.debug(f"Spark's estimate of a query's size failed: {exc}")
        return auto_buckets.first_bucket_count(estimated, self._tasks, partitioned=bool(spec.partition_by))

    def _estimated(self, query: str) -> float | None:
        if (embedded := self._adapter.handle.embedded()) is not None:
            return size_estimates.estimated_size(embedded.explained(query))
        ((explained,),) = self._adapter.query(f"explain cost {query}")
        return size_estimates.estimated_size(str(explained))

    def _largest(self, relation: PaimonRelation) -> int | None:
        """The size of the largest partition in bytes; None if the table has no data files."""
        if (embedded := self._adapter.handle.embedded()) is not None:
            try:
                return embedded.largest_partition(table_name(relation))
            except Exception as exc:  # noqa: BLE001 - from py4j; the query below is the fallback
                logger.debug(f"{relation}: size unknown: {exc}")
        return files.totals(self._adapter.query, relation).largest_partition

    def _alter(self, relation: PaimonRelation, sql: str) -> None:
        self._adapter.connections.execute(Statement(sql, "alter table", target=relation.parts))

    @property
    def _tasks(self) -> int:
        known = self._adapter.handle.setting(PARTITIONS)
        return int(known) if known and known.isdigit() else _DEFAULT_TASKS
