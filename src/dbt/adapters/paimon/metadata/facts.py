"""All metadata of a table: its schema, files, table snapshots, tags and consumers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import schemas, snapshots
from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.metadata.health import small_below
from dbt.adapters.paimon.metadata.partitions import partition_name
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import Query, Table, TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each file takes four calls into the JVM, about half a millisecond; for more files a Spark query is faster.
MOST_FILES: Final = 3000
_FILES, _SNAPSHOTS, _TAGS, _CONSUMERS = "files", "snapshots", "tags", "consumers"


@dataclass(frozen=True)
class FileGroup:
    """The data files of one level in one bucket of a partition.

    Attributes:
        partition: in the form of `partition_name`.
        small_files: files that a compaction would merge.
        rows: rows before merging.
    """

    partition: str
    bucket: int
    level: int
    files: int
    small_files: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class Facts:
    """The metadata of a table; `schema` is its newest schema.

    Attributes:
        snapshots: oldest first.
        tags: name -> table snapshot.
        consumers: name -> the next table snapshot that it reads.
        statements: the number of statements sent to Spark to read the metadata.
    """

    schema: Schema
    groups: tuple[FileGroup, ...] = ()
    snapshots: tuple[Commit, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)
    consumers: Mapping[str, int] = field(default_factory=dict)
    statements: int = 0


def by_classes(session: SparkSession, table: TableName) -> Facts:
    """Read a table's facts with Paimon's own classes; raises if they lack a method, or for over MOST_FILES files."""
    jvm: Any = session._jvm
    paimon = paimon_table(session, table)
    schema = Schema.of_json(str(paimon.schema().toString()))
    consumers = jvm.org.apache.paimon.consumer.ConsumerManager(paimon.fileIO(), paimon.location())
    return Facts(
        schema,
        tuple(_file_groups(paimon, schema)),
        snapshots.by_classes(paimon),
        {pair.getValue(): pair.getKey().id() for pair in paimon.tagManager().tagObjects()},
        {str(each): int(number) for each, number in dict(consumers.consumers()).items()},
    )


def _file_groups(paimon: Any, schema: Schema) -> Iterable[FileGroup]:
    """Group the files that a batch read opens; `$files` lists the same files."""
    files = [(split, split.dataFiles()) for split in paimon.newScan().plan().splits()]
    if sum(found.size() for _, found in files) > MOST_FILES:
        raise NotImplementedError(f"more than {MOST_FILES} files")
    paths, small = paimon.store().pathFactory(), small_below(schema)
    groups: dict[tuple[str, int, int], list[int]] = {}
    for split, found in files:
        where = partition_name(str(paths.getPartitionString(split.partition())).strip("/"), schema)
        for file in found:
            size = file.fileSize()
            group = groups.setdefault((where, split.bucket(), file.level()), [0, 0, 0, 0])
            for index, number in enumerate((1, int(size < small), file.rowCount(), size)):
                group[index] += number
    return (FileGroup(*place, *sums) for place, sums in sorted(groups.items()))


def by_sql(query: Query, table: Table) -> Facts:
    """Read a table's facts with two statements, for servers and for tables with many files."""
    schema = schemas.newest_first(query, table)[0]
    found: dict[str, list[list[Any]]] = {_FILES: [], _SNAPSHOTS: [], _TAGS: [], _CONSUMERS: []}
    for what, row in query(_sql(table, small_below(schema))):
        found[what].append(json.loads(row))
    return Facts(
        schema,
        tuple(
            FileGroup(partition_name(row[0] or "", schema), *map(int, row[1:]))
            for row in sorted(found[_FILES], key=lambda row: (row[0] or "", int(row[1]), int(row[2])))
        ),
        snapshots.of_rows(found[_SNAPSHOTS]),
        {row[0]: int(row[1]) for row in found[_TAGS]},
        {row[0]: int(row[1]) for row in found[_CONSUMERS]},
        statements=2,
    )


def _sql(table: Table, small: float) -> str:
    """One statement over four system tables; each row has a system table's name and one of its rows as a JSON array."""
    files = (
        *("partition", "bucket", "level", "count(*)"),
        f"sum(case when file_size_in_bytes < {small:.1f} then 1 else 0 end)",
        *("sum(record_count)", "sum(file_size_in_bytes)"),
    )
    parts = (
        (_FILES, files, " group by partition, bucket, level"),
        (_SNAPSHOTS, snapshots.COLUMNS, ""),
        (_TAGS, ("tag_name", "snapshot_id"), ""),
        (_CONSUMERS, ("consumer_id", "next_snapshot_id"), ""),
    )
    return "\nunion all\n".join(
        f"select '{name}' as what, to_json(array({', '.join(f'cast({each} as string)' for each in columns)})) as row "
        f"from {table.system_table(name)}{then}"
        for name, columns, then in parts
    )
