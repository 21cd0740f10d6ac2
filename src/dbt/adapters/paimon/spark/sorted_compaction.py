"""Sorted compaction that keeps the rows that other writers append meanwhile.

Paimon's sys.compact with an order rewrites the files that it has read, and then overwrites the whole table, so that
rows appended in between are lost (CompactProcedure.sortCompactUnAwareBucketTable at 0.9.0 to 2.0.0) [ran]. From 1.4,
a setting makes the commit fail if another writer committed first. On 0.9, this module does the same work in an
embedded Spark, but commits a compaction, which replaces the files that were read and fails if one of them is gone.
Elsewhere dbt-paimon warns that rows may be lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.spark import parsed_calls, row_writer
from dbt.adapters.paimon.sql import predicates
from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName

# CompactProcedure.PARAMETERS in their order.
_ORDER: Final = ("table", "partitions", "order_strategy", "order_by", "where", "options")
# The commit fails if another writer committed to its partitions after this table snapshot (StrictModeChecker).
LAST_SAFE_SNAPSHOT: Final = "spark.paimon.commit.strict-mode.last-safe-snapshot"
# Result of a statement that `sort` replaced.
RESULT: Final = "select true as result"


def sort(session: SparkSession, statement: str) -> bool:
    """Run a CALL of `compact` with an order, and return whether it was run.

    Other statements are left to Spark. Calls that only Paimon's own procedure can run are left to it, although it may
    refuse them or lose rows (with deletion vectors).
    """
    call = parsed_calls.parsed(session, statement, "compact", _ORDER)
    if call is None or not call.arguments.get("order_strategy"):
        return False
    given = call.arguments
    table = paimon_table(session, call.table).copy({"write-only": "false", **_pairs(given.get("options", ""))})
    if table.coreOptions().deletionVectorsEnabled() or table.bucketMode().toString() != "BUCKET_UNAWARE":
        return False
    where = given.get("where") or _any_of(given.get("partitions", ""))
    keys = set(map(str, table.partitionKeys()))
    if where and any(parts[-1] not in keys for _, parts in predicates.by_spark(session, where)):
        return False
    _sort_files(session, call.table, table, given, where)
    session.catalog.refreshTable(call.table.rendered)
    return True


def _pairs(options: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in options.split(",") if "=" in pair)


def _any_of(partitions: str) -> str:
    """Turn a procedure's `partitions` argument, such as `dt='a',hh=1;dt='b'`, into a condition."""
    return " or ".join(f"({part.replace(',', ' and ')})" for part in partitions.split(";") if part)


def _sort_files(session: SparkSession, name: TableName, table: Any, given: Mapping[str, str], where: str) -> None:
    jvm: Any = session._jvm
    spark = jvm.org.apache.paimon.spark
    groups: dict[Any, list[Any]] = {}
    for split in table.newSnapshotReader().read().dataSplits():
        groups.setdefault(split.partition(), []).append(split)
    if not groups:
        return
    order = spark.sort.TableSorter.OrderType.of(given["order_strategy"])
    columns = [column.strip() for column in given["order_by"].split(",")]
    sorter = spark.sort.TableSorter.getSorter(table, order, columns)
    partitions = [sorter.sort(_rows(session, name, table, splits, where)) for splits in groups.values()]
    sorted_rows = reduce(lambda left, right: left.union(right), partitions)
    messages = jvm.java.util.ArrayList()
    rows_read = rows_written = 0
    for message in elements(spark.commands.PaimonSparkWriter(table).write(sorted_rows)):
        # A partition's new files replace all its files that were read.
        read = [file for split in groups.pop(message.partition(), ()) for file in split.dataFiles()]
        written = message.newFilesIncrement().newFiles()
        rows_read += _rows_in(read)
        rows_written += _rows_in(written)
        replaced = message.compactIncrement()
        replaced.compactBefore().addAll(read)
        while written:
            replaced.compactAfter().append(written.pop(0))
        messages.add(message)
    if rows_read != rows_written:
        raise DbtRuntimeError(
            f"{name.rendered}: {rows_read} rows were read but {rows_written} written, so nothing was committed."
        )
    _commit(table, messages)


def _rows_in(files: Iterable[Any]) -> int:
    return sum(file.rowCount() for file in files)


def _commit(table: Any, messages: Any) -> None:
    commit = table.newCommit(f"dbt-sort_{uuid.uuid4()}")
    try:
        commit.commit(row_writer.BATCH, messages)
    except Exception:
        commit.abort(messages)
        raise
    finally:
        commit.close()


def _rows(session: SparkSession, name: TableName, table: Any, splits: list[Any], where: str) -> Any:
    """The rows of these splits, as Paimon's procedure reads them."""
    jvm: Any = session._jvm
    gateway: Any = session.sparkContext._gateway
    array = gateway.new_array(jvm.org.apache.paimon.table.source.DataSplit, len(splits))
    for place, split in enumerate(splits):
        array[place] = split
    frame: Any = session.table(name.rendered)
    relation = frame._jdf.queryExecution().analyzed().collectLeaves().head()
    scan = jvm.org.apache.paimon.spark.PaimonSplitScan.apply(table, array)
    plan = jvm.org.apache.paimon.spark.catalyst.Compatibility.createDataSourceV2ScanRelation(
        relation, scan, relation.output()
    )
    rows = jvm.org.apache.spark.sql.PaimonUtils.createDataset(session._jsparkSession, plan)
    return rows.where(where) if where else rows
