"""What a query would read from Paimon tables, from Spark's optimized plan, without reading data files.

In an embedded Spark, the plan's scans return their splits, which Paimon has pruned by partition and by the statistics
of files and buckets. A server only returns row counts, in EXPLAIN COST.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.formatting import counted, size
from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The scan of an aggregate that Paimon answers from metadata.
_LOCAL: Final = "PaimonLocalScan"
# A leaf of the plan in EXPLAIN COST; row counts are rounded to three digits: 1.23E+6.
_EXPLAINED: Final = re.compile(
    r"RelationV2\[.*\] (?P<table>.+?), Statistics\([^)]*?(?:rowCount=(?P<rows>[0-9.E+]+))?\)"
)


@dataclass(frozen=True)
class Scan:
    """What a query reads from one table; None where unknown.

    Attributes:
        table: its name as in Spark's plan. EXPLAIN COST prints it with the catalog only from Spark 4.1.
        rows: rows in the data files, before keys are merged.
        partitions: partitions that contain these files.
        bytes: size of the data files, including columns that the query does not read.
    """

    table: str
    rows: int | None = None
    partitions: int | None = None
    files: int | None = None
    bytes: int | None = None

    def __str__(self) -> str:
        """`raw.flights: 3 partitions, 12 files, 40.0 MiB, 12,408 rows`."""
        if self.files == 0:
            return f"{self.table}: nothing"
        parts = []
        if self.partitions is not None and self.partitions > 1:
            parts.append(f"{self.partitions} partitions")
        if self.files is not None:
            parts.append(counted(self.files, "file"))
        if self.bytes is not None:
            parts.append(size(self.bytes))
        if self.rows is not None:
            parts.append(counted(self.rows, "row"))
        return f"{self.table}: {', '.join(parts) or 'size unknown'}"


def by_plan(frame: DataFrame) -> tuple[Scan, ...]:
    """The scans of a query's plan in an embedded Spark; a repeated scan counts once."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    found: dict[tuple[str, str], Scan] = {}
    for scan, table in _scans(plan):
        found.setdefault((table, scan.description()), _read(scan, table))
    return tuple(found.values())


def _scans(plan: Any) -> Iterator[tuple[Any, str]]:
    """Paimon's scans, including those in subqueries, and their tables."""
    for each in (plan, *elements(plan.subqueriesAll())):
        for leaf in elements(each.collectLeaves()):
            if leaf.getClass().getSimpleName() != "DataSourceV2ScanRelation":
                continue
            scan = leaf.scan()
            if scan.getClass().getName().startswith("org.apache.paimon.spark."):
                yield scan, str(leaf.relation().name())


def _read(scan: Any, table: str) -> Scan:
    from py4j.protocol import Py4JError, Py4JJavaError

    rows = files = total = 0
    partitions = set()
    if scan.getClass().getSimpleName() == _LOCAL:
        return Scan(table, 0, 0, 0, 0)
    try:
        for part in scan.toBatch().planInputPartitions():
            for split in elements(part.splits()):
                partitions.add(split.partition().hashCode())
                for file in split.dataFiles():
                    files += 1
                    total += file.fileSize()
                    rows += file.rowCount()
    except Py4JJavaError:
        raise
    except Py4JError:
        # No such method: the splits of system tables have no data files.
        return Scan(table)
    return Scan(table, rows, len(partitions), files, total)


def by_explain(lines: Iterable[str]) -> tuple[Scan, ...]:
    """The scans in the output of EXPLAIN COST; a repeated scan counts once."""
    found: dict[str, Scan] = {}
    for line in "\n".join(lines).splitlines():
        for match in _EXPLAINED.finditer(line):
            rows = match["rows"]
            found[match[0]] = Scan(match["table"], None if rows is None else round(float(rows)))
    return tuple(found.values())
