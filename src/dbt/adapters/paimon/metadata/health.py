"""The health of a table: its files by bucket and level, its table snapshots, and its tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.table_name import Query
from dbt.adapters.paimon.options.table_options import parse_memory_size
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.text import string_literal

# CoreOptions.TARGET_FILE_SIZE: by default 128 MiB, or 256 MiB without a primary key. A compaction does not rewrite
# files above 7/10 of this size (CoreOptions.compactionFileSize).
_SIZE: Final = "get_json_object(options, '$.target-file-size')"
_TARGET_SIZE: Final = f"""coalesce(
      cast(regexp_extract({_SIZE}, '([0-9]+)', 1) as bigint)
        * case lower(substring(regexp_extract({_SIZE}, '[0-9]+ *([A-Za-z]*)', 1), 1, 1))
          when 'k' then 1024L when 'm' then 1048576L when 'g' then 1073741824L when 't' then 1099511627776L else 1L end,
      case when primary_keys = '[]' then 268435456L else 134217728L end
    )"""


# The same option and defaults, for `small_below`.
_TARGET_FILE_SIZE: Final = "target-file-size"
_KEYED_FILE, _OTHER_FILE = 128 * 1024**2, 256 * 1024**2


def small_below(schema: Schema) -> float:
    """The size in bytes below which a compaction merges a data file."""
    default = _KEYED_FILE if schema.primary_keys else _OTHER_FILE
    written = schema.options.get(_TARGET_FILE_SIZE)
    return 0.7 * (default if written is None else parse_memory_size(written))


def bucket_files_sql(relation: PaimonRelation) -> str:
    """A query of `$files` with one row per bucket of each partition.

    small_files: files that a compaction would merge; sorted_runs: the files of level 0 plus the number of other levels;
    row_count: rows before merging; written_at: on the JVM's wall clock; fixed_buckets: 0 if buckets are not fixed.
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
    """A row of `health_sql`: rows before merging, ages in seconds, skew as largest bucket / its partition's mean."""

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
    """The query for a `TableHealth`."""
    oldest, newest = clocks.age_in_seconds("min(commit_time)"), clocks.age_in_seconds("max(commit_time)")
    # With adaptive execution, count(distinct partition) would be 2 for one partition with two buckets [ran, 3.5.7].
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


def of_table(query: Query, relation: PaimonRelation) -> TableHealth:
    """Read the health of a table, with one statement."""
    (row,) = query(health_sql(relation))
    return TableHealth(*row)


def bucket_skew_sql(relation: PaimonRelation) -> str:
    """`bucket_files_sql` with the columns partition_rows, mean_rows (including empty buckets) and skew."""
    return f"""
  select *, case when mean_rows > 0 then row_count / mean_rows else 0 end as skew
  from (
    select
      *, sum(row_count) over (partition by partition) as partition_rows,
      sum(row_count) over (partition by partition)
        / greatest(count(*) over (partition by partition), fixed_buckets) as mean_rows
    from ({bucket_files_sql(relation)})
  )"""
