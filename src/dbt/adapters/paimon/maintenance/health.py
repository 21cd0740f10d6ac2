"""SQL for the health of a table, from Paimon's system tables alone. Runs no statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import did_you_mean, parse_memory_size
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.text import string_literal

# SystemTableLoader.SYSTEM_TABLE_LOADERS at the release tags; None: every supported Paimon has it.
SYSTEM_TABLES: Final[Mapping[str, Capability | None]] = {
    "snapshots": None,
    "schemas": None,
    "options": None,
    "files": None,
    "partitions": None,
    "buckets": Capability.BUCKETS_TABLE,
    "tags": None,
    "branches": None,
    "consumers": None,
    "manifests": None,
    "audit_log": None,
    "binlog": Capability.BINLOG_TABLE,
    "ro": None,
    "statistics": None,
    "aggregation_fields": None,
    "table_indexes": Capability.TABLE_INDEXES_TABLE,
    "row_tracking": Capability.ROW_TRACKING,
    "file_key_ranges": Capability.FILE_KEY_RANGES_TABLE,
}

# CoreOptions.TARGET_FILE_SIZE: by default 128 MB, or 256 MB without a primary key; a compaction leaves files above 7/10
# of it alone (CoreOptions.compactionFileSize).
_SIZE: Final = "get_json_object(options, '$.target-file-size')"
_TARGET_SIZE: Final = f"""coalesce(
      cast(regexp_extract({_SIZE}, '([0-9]+)', 1) as bigint)
        * case lower(substring(regexp_extract({_SIZE}, '[0-9]+ *([A-Za-z]*)', 1), 1, 1))
          when 'k' then 1024L when 'm' then 1048576L when 'g' then 1073741824L when 't' then 1099511627776L else 1L end,
      case when primary_keys = '[]' then 268435456L else 134217728L end
    )"""


# The same for a table whose options are known.
_TARGET_FILE_SIZE: Final = "target-file-size"
_KEYED_FILE, _OTHER_FILE = 128 * 1024**2, 256 * 1024**2


def small_below(options: Mapping[str, str], is_keyed: bool) -> float:
    """The bytes below which a compaction merges a data file."""
    default = _KEYED_FILE if is_keyed else _OTHER_FILE
    return 0.7 * (parse_memory_size(options[_TARGET_FILE_SIZE]) if _TARGET_FILE_SIZE in options else default)


def system_table(relation: PaimonRelation, name: str, versions: Versions) -> str:
    """The rendered name of a system table.

    Raises:
        DbtRuntimeError: this version of Paimon does not have it, or the relation is a view.
    """
    if name not in SYSTEM_TABLES:
        hint = did_you_mean(name, SYSTEM_TABLES, 0.6)
        raise DbtRuntimeError(f"{relation}: there is no system table '{name}'. {hint}")
    needs = SYSTEM_TABLES[name]
    if needs is not None:
        versions.require(needs, f"the system table {name} of {relation}")
    if relation.is_view:
        raise DbtRuntimeError(
            f"{relation} is a view, which has no system tables: name the table that it reads, or materialize it."
        )
    return relation.system_table(name)


def bucket_files_sql(relation: PaimonRelation) -> str:
    """A query of `$files` with one row per bucket of each partition.

    small_files: those that a compaction would merge; sorted_runs: the files of level 0 plus the other levels;
    row_count: before merging; written_at: on the JVM's wall clock; fixed_buckets: 0 if not a fixed number.
    """
    return f"""
  select
    partition, bucket, count(*) as files,
    sum(case when file_size_in_bytes < small_below then 1 else 0 end) as small_files,
    sum(case when level = 0 then 1 else 0 end) + count(distinct case when level > 0 then level end) as sorted_runs,
    sum(record_count) as row_count, sum(file_size_in_bytes) as byte_count, max(creation_time) as written_at,
    max(fixed_buckets) as fixed_buckets, max(is_keyed) as is_keyed
  from {relation.system_table("files")}
  cross join ({_settings_sql(relation)})
  group by partition, bucket"""


def _settings_sql(relation: PaimonRelation) -> str:
    return f"""
    select
      {_TARGET_SIZE} * 0.7 as small_below,
      greatest(coalesce(cast(get_json_object(options, '$.bucket') as int), 0), 0) as fixed_buckets,
      primary_keys <> '[]' as is_keyed
    from (
      select max_by(options, schema_id) as options, max_by(primary_keys, schema_id) as primary_keys
      from {relation.system_table("schemas")}
    )"""


@dataclass(frozen=True)
class TableHealth:
    """The row of `health_sql`: rows before merging, ages in seconds, skew as largest bucket / mean of its partition."""

    table: str
    rows: int
    files: int
    small_files: int
    mean_file_bytes: int
    bytes: int
    levels: str
    partitions: int
    buckets: int
    skew: float
    sorted_runs: int
    snapshots: int
    oldest_snapshot: int | None
    newest_snapshot: int | None
    last_compaction: str | None
    commits_since_compaction: int
    tags: int


def health_sql(relation: PaimonRelation) -> str:
    """The query of a `TableHealth`."""
    oldest, newest = clocks.age_in_seconds("min(commit_time)"), clocks.age_in_seconds("max(commit_time)")
    # Not count(distinct partition), which is 2 for one partition of two buckets under adaptive execution [ran, 3.5.7].
    return f"""
select
  {string_literal(".".join(filter(None, (relation.schema, relation.identifier))))} as table_name,
  f.row_count, f.files, f.small_files, f.mean_file_bytes, f.byte_count, l.levels, f.partitions, f.buckets, f.skew,
  f.sorted_runs, s.snapshots, s.oldest_snapshot, s.newest_snapshot, s.last_compaction, s.commits_since_compaction,
  t.tags
from (
  select
    coalesce(sum(row_count), 0) as row_count, coalesce(sum(files), 0) as files,
    coalesce(sum(case when files > 1 then small_files else 0 end), 0) as small_files,
    coalesce(cast(sum(byte_count) / sum(files) as bigint), 0) as mean_file_bytes,
    coalesce(sum(byte_count), 0) as byte_count, size(collect_set(partition)) as partitions, count(*) as buckets,
    cast(coalesce(max(skew), 0) as double) as skew, coalesce(max(sorted_runs), 0) as sorted_runs
  from ({bucket_skew_sql(relation)})
) as f
cross join (
  select coalesce(array_join(array_sort(collect_list(concat(level, ':', files))), ' '), '') as levels
  from (select level, count(*) as files from {relation.system_table("files")} group by level)
) as l
cross join (
  select
    count(*) as snapshots, {oldest} as oldest_snapshot, {newest} as newest_snapshot,
    {clocks.as_seconds(clocks.in_utc("max(case when commit_kind = 'COMPACT' then commit_time end)"))}
      as last_compaction,
    count(case when commit_kind <> 'COMPACT' and snapshot_id > coalesce(compacted, 0) then 1 end)
      as commits_since_compaction
  from (
    select *, max(case when commit_kind = 'COMPACT' then snapshot_id end) over () as compacted
    from {relation.system_table("snapshots")}
  )
) as s
cross join (select count(*) as tags from {relation.system_table("tags")}) as t"""


def bucket_skew_sql(relation: PaimonRelation) -> str:
    """`bucket_files_sql` with partition_rows, mean_rows (empty buckets count) and skew."""
    return f"""
  select *, case when mean_rows > 0 then row_count / mean_rows else 0 end as skew
  from (
    select
      *, sum(row_count) over (partition by partition) as partition_rows,
      sum(row_count) over (partition by partition)
        / greatest(count(*) over (partition by partition), fixed_buckets) as mean_rows
    from ({bucket_files_sql(relation)})
  )"""


_SIZES: Final = (("TB", 1024**4), ("GB", 1024**3), ("MB", 1024**2), ("kB", 1024))
_AGES: Final = (("d", 86400), ("h", 3600), ("min", 60))
_HEADINGS: Final[Mapping[str, str]] = {
    "mean_file_bytes": "mean file",
    "bytes": "size",
    "levels": "files by level",
}


def report(tables: Sequence[TableHealth]) -> str:
    """Format the tables as text, one line per table."""
    names = [field.name for field in fields(TableHealth)]
    rows = [[_HEADINGS.get(name, name.replace("_", " ")) for name in names]]
    rows += [[_shown(name, getattr(table, name)) for name in names] for table in tables]
    widths = [max(len(row[position]) for row in rows) for position in range(len(names))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if name in ("table", "levels") else text.rjust(width)
            for name, text, width in zip(names, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in ("bytes", "mean_file_bytes"):
        return next((f"{value / size:.1f} {unit}" for unit, size in _SIZES if value >= size), f"{value} B")
    if name in ("oldest_snapshot", "newest_snapshot"):
        return next((f"{value // size} {unit}" for unit, size in _AGES if value >= size), f"{value} s")
    return f"{value:.1f}" if name == "skew" else str(value)
