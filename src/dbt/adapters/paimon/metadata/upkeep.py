"""Reads what a maintenance policy needs to know about a table, with one statement."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from dbt.adapters.paimon.metadata import schemas
from dbt.adapters.paimon.metadata.health import bucket_files_sql
from dbt.adapters.paimon.metadata.partitions import partition_values
from dbt.adapters.paimon.metadata.table_name import Query
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import clocks

_NO_SNAPSHOTS: Final = "(select 0 as first, 0 as last, null as young, null as next_read, 0 as commits)"
_NO_FILES: Final = (
    "(select 0 as small_files, '[]' as partitions, 0 as largest_bucket, 0 as largest_partition, 0 as fixed_buckets)"
)


@dataclass(frozen=True)
class Figures:
    """Which figures to read; the others are 0 or empty in `TableState`.

    Attributes:
        snapshots: the table snapshots and commits.
        consumers: the next table snapshot that a consumer reads.
        young: the age in seconds up to which a table snapshot is young; None: not read.
        sorts: whether compactions sort, so that they commit an OVERWRITE or a COMPACT (see
            `spark.sorted_compaction`).
        files: the number and sizes of files.
        idle: count small files only in partitions not written for this many seconds; None: in all.
    """

    snapshots: bool = False
    consumers: bool = False
    young: int | None = None
    sorts: bool = False
    files: bool = False
    partitions: bool = False
    idle: int | None = None


@dataclass(frozen=True)
class Partition:
    """A partition: its values as strings by column (None: unknown), and its buckets' maximum number of small files."""

    values: Mapping[str, str] | None
    small_files: int
    written_at: datetime

    def __str__(self) -> str:
        return "/".join(f"{name}={text}" for name, text in (self.values or {"?": "?"}).items())


@dataclass(frozen=True)
class TableState:
    """The state of a table; figures that were not requested are 0 or empty."""

    now: datetime  # on the session's wall clock
    wall_clock: datetime  # the same moment on the JVM's wall clock
    types: Mapping[str, str]
    first_snapshot: int = 0
    last_snapshot: int = 0
    first_young_snapshot: int | None = None
    next_read: int | None = None
    # Commits since the last compaction that was not part of a write; None if it is older than the kept table snapshots.
    commits: int | None = 0
    small_files: int = 0
    partitions: tuple[Partition, ...] = ()
    largest_bucket: int = 0  # bytes
    largest_partition: int = 0  # bytes
    fixed_buckets: int = 0


def read(query: Query, table: PaimonRelation, figures: Figures) -> TableState:
    """Read the state of a table with one query; its result is the same with every connection method."""
    sources = {
        "c": f"(select {clocks.as_seconds('now()')} as now, "
        f"{clocks.as_seconds(clocks.now_on_jvms_clock())} as wall_clock from {clocks.ONE_ROW})",
        "d": f"({schemas.current_sql(table)})",
        "s": _snapshots_sql(table, figures) if figures.snapshots else _NO_SNAPSHOTS,
        "f": _files_sql(table, figures) if figures.files else _NO_FILES,
    }
    (row,) = query(
        f"select now, wall_clock, s.*, f.*, {schemas.COLUMNS}\nfrom "
        + "\ncross join ".join(f"{source} as {alias}" for alias, source in sources.items())
    )
    now, clock, first, last, young, next_read, commits, *others = row
    small_files, partitions, largest_bucket, largest_partition, fixed_buckets, *schema_row = others
    schema = schemas.Schema.of_row(schema_row)
    types = schema.type_names
    return TableState(
        now=datetime.fromisoformat(now),
        wall_clock=datetime.fromisoformat(clock),
        types=types,
        first_snapshot=int(first),
        last_snapshot=int(last),
        first_young_snapshot=None if young is None else int(young),
        next_read=None if next_read is None else int(next_read),
        commits=None if commits is None else int(commits),
        small_files=int(small_files),
        partitions=tuple(
            Partition(
                partition_values(entry["partition"], schema.partition_keys, types),
                int(entry["small_files"]),
                datetime.fromisoformat(entry["written_at"]),
            )
            for entry in json.loads(partitions or "[]")
        ),
        largest_bucket=int(largest_bucket),
        largest_partition=int(largest_partition),
        fixed_buckets=int(fixed_buckets),
    )


def _snapshots_sql(table: PaimonRelation, figures: Figures) -> str:
    # The subquery computes the age, because an aggregate cannot contain an expression that reads the JVM's time zone.
    age, young = "0", "null"
    if figures.young is not None:
        age = clocks.age_in_seconds("commit_time")
        young = f"min(case when age <= {figures.young} then snapshot_id end)"
    kinds = "'OVERWRITE', 'COMPACT'" if figures.sorts else "'COMPACT'"
    next_read = "cast(null as bigint)"
    if figures.consumers:
        next_read = f"(select min(next_snapshot_id) from {table.system_table('consumers')})"
    # A compaction that is part of a write does not count, because it merges only some files. It has the same user as
    # the commit of the rows, which may have expired if the compaction is the oldest table snapshot.
    whole = f"commit_kind in ({kinds}) and not (commit_kind = 'COMPACT' and (writes or snapshot_id = oldest))"
    return (
        f"(select coalesce(min(snapshot_id), 0) as first, coalesce(max(snapshot_id), 0) as last, {young} as young,\n"
        f"  {next_read} as next_read,\n"
        "  case when max(compacted) is not null or min(snapshot_id) = 1 or count(*) = 0 then count(\n"
        "    case when commit_kind <> 'COMPACT' and snapshot_id > coalesce(compacted, 0) then 1 end) end as commits\n"
        f"  from (select *, max(case when {whole} then snapshot_id end) over () as compacted\n"
        f"    from (select snapshot_id, commit_kind, {age} as age, min(snapshot_id) over () as oldest,\n"
        f"        max(commit_kind <> 'COMPACT') over (partition by commit_user) as writes\n"
        f"      from {table.system_table('snapshots')})))"
    )


def _files_sql(table: PaimonRelation, figures: Figures) -> str:
    idle = f" and age > {figures.idle}" if figures.idle is not None else ""
    age = clocks.age_in_seconds("written_at") if idle else "0"
    listed = "'[]'"
    if figures.partitions:
        listed = (
            "to_json(collect_list(named_struct('partition', partition, 'small_files', small_files, "
            f"'written_at', {clocks.as_seconds('written_at')})))"
        )
    return (
        f"(select coalesce(max(case when true{idle} then small_files end), 0) as small_files, {listed} as partitions,\n"
        "    coalesce(max(largest_bucket), 0) as largest_bucket, coalesce(max(bytes), 0) as largest_partition,\n"
        "    coalesce(max(fixed_buckets), 0) as fixed_buckets\n"
        f"  from (select *, {age} as age\n"
        "    from (select partition, max(case when files > 1 then small_files else 0 end) as small_files,\n"
        "      max(written_at) as written_at, max(byte_count) as largest_bucket, sum(byte_count) as bytes,\n"
        f"      max(fixed_buckets) as fixed_buckets from ({bucket_files_sql(table)}) group by partition)))"
    )
