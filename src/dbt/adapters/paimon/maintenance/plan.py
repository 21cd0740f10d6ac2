"""Plans the actions of a maintenance policy: one query of the table's system tables says what is due.

Runs no statement itself. A run whose table needs nothing pays for that one query only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.maintenance import times
from dbt.adapters.paimon.maintenance.health import bucket_files_sql
from dbt.adapters.paimon.options.table_options import lookup, parse_duration
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.column_rules import type_name
from dbt.adapters.paimon.spec.maintenance_policy import (
    Compact,
    ExpirePartitions,
    ExpireSnapshots,
    MaintenancePolicy,
    RemoveOrphanFiles,
    Rescale,
)
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import clocks, procedures
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted, string_literal

_NULLS: Final = ("null", "__DEFAULT_PARTITION__")
# Letters of Java's date formatter that are numbers of a fixed width.
_TIME_LETTERS: Final[Mapping[str, str]] = {
    "yyyy": "%Y",
    "uuuu": "%Y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}


@dataclass(frozen=True)
class Partition:
    """A partition: its values as text by column (None: unknown), and the small files in its fullest bucket."""

    values: Mapping[str, str] | None
    small_files: int
    written_at: datetime

    def __str__(self) -> str:
        return "/".join(f"{name}={text}" for name, text in (self.values or {"?": "?"}).items())


@dataclass(frozen=True)
class TableState:
    """The answer to `state_sql`; what the policy does not need is 0 or empty."""

    now: datetime  # on the session's wall clock
    wall_clock: datetime  # on the JVM's
    types: Mapping[str, str]
    first_snapshot: int = 0
    last_snapshot: int = 0
    first_young_snapshot: int | None = None
    next_read: int | None = None
    commits: int = 0
    small_files: int = 0
    partitions: tuple[Partition, ...] = ()
    largest_bucket: int = 0  # bytes
    largest_partition: int = 0  # bytes
    fixed_buckets: int = 0


_NO_CALL: Final = Statement("")


@dataclass(frozen=True)
class Action:
    """One action of a policy: whether it is due, why or why not, and its CALL (an empty statement if it has none).

    A rescale has the new number of buckets instead, because it takes several statements.
    """

    name: str
    due: bool
    why: str
    statement: Statement = _NO_CALL
    buckets: int = 0


def state_sql(table: PaimonRelation, policy: MaintenancePolicy) -> str:
    """The query of everything that `plan` needs to know; `read_state` reads its row.

    Returns only counts and short texts, which are the same over every connection method.
    """
    sources = [
        f"(select {clocks.as_seconds('now()')} as now, "
        f"{clocks.as_seconds(clocks.now_on_jvms_clock())} as wall_clock from {clocks.ONE_ROW})",
        f"(select max_by(fields, schema_id) as fields from {table.system_table('schemas')})",
        _snapshots_sql(table, policy),
        _files_sql(table, policy),
    ]
    return "select now, wall_clock, fields, s.*, f.*\nfrom " + "\ncross join ".join(
        f"{source} as {alias}" for source, alias in zip(sources, "cdsf", strict=True)
    )


def _snapshots_sql(table: PaimonRelation, policy: MaintenancePolicy) -> str:
    compact, expire = policy.compact, policy.expire_snapshots
    if expire is None and not (compact and compact.every_commits):
        return "(select 0 as first, 0 as last, null as young, null as next_read, 0 as commits)"
    # An aggregate cannot contain an expression that reads the JVM's time zone: the subquery computes the age.
    with_age = bool(expire and expire.older_than)
    young = (
        f"min(case when age <= {_seconds(expire.older_than)} then snapshot_id end)"
        if with_age and expire
        else "null"
    )
    age = clocks.age_in_seconds("commit_time") if with_age else "0"
    # Sorting replaces files with an OVERWRITE, or with a COMPACT (see `spark.sorted_compaction`).
    kinds = "'OVERWRITE', 'COMPACT'" if compact and compact.order else "'COMPACT'"
    next_read = (
        f"(select min(next_snapshot_id) from {table.system_table('consumers')})"
        if expire
        else "cast(null as bigint)"
    )
    return (
        f"(select coalesce(min(snapshot_id), 0) as first, coalesce(max(snapshot_id), 0) as last, {young} as young,\n"
        f"  {next_read} as next_read,\n"
        "  count(case when commit_kind <> 'COMPACT' and snapshot_id > coalesce(compacted, 0) then 1 end) as commits\n"
        f"  from (select *, max(case when commit_kind in ({kinds}) then snapshot_id end) over () as compacted\n"
        f"    from (select snapshot_id, commit_kind, {age} as age from {table.system_table('snapshots')})))"
    )


def _files_sql(table: PaimonRelation, policy: MaintenancePolicy) -> str:
    compact, expire, rescale = policy.compact, policy.expire_partitions, policy.rescale
    if expire is None and rescale is None and not (compact and (compact.small_files or compact.newest)):
        return (
            "(select 0 as small_files, '[]' as partitions, 0 as largest_bucket, 0 as largest_partition, "
            "0 as fixed_buckets)"
        )
    idle = f" and age > {_seconds(compact.idle)}" if compact and compact.idle else ""
    age = clocks.age_in_seconds("written_at") if idle else "0"
    listed = "'[]'"
    if expire or (compact and compact.newest):
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


def read_state(row: Sequence[Any], partition_by: Sequence[str]) -> TableState:
    """The row of `state_sql` as a TableState."""
    now, clock, fields, first, last, young, next_read, commits, small_files, partitions, *sizes = row
    largest_bucket, largest_partition, fixed_buckets = map(int, sizes)
    types = {field["name"]: str(field["type"]).split(" NOT NULL")[0].lower() for field in json.loads(fields)}
    partition_by = tuple(map(speller(types), partition_by))
    return TableState(
        now=datetime.fromisoformat(now),
        wall_clock=datetime.fromisoformat(clock),
        types=types,
        first_snapshot=int(first),
        last_snapshot=int(last),
        first_young_snapshot=None if young is None else int(young),
        next_read=None if next_read is None else int(next_read),
        commits=int(commits),
        small_files=int(small_files),
        partitions=tuple(
            Partition(
                partition_values(entry["partition"], partition_by, types),
                int(entry["small_files"]),
                datetime.fromisoformat(entry["written_at"]),
            )
            for entry in json.loads(partitions or "[]")
        ),
        largest_bucket=largest_bucket,
        largest_partition=largest_partition,
        fixed_buckets=fixed_buckets,
    )


def partition_values(
    text: str, partition_by: Sequence[str], types: Mapping[str, str]
) -> dict[str, str] | None:
    """The values in the `partition` column of a system table, by column; None if they cannot be told apart.

    Paimon has written it in three ways, which their form tells apart: '[a, 1]' with dates as a number of days, '{a, 1}'
    and 'dt=a/hh=1' (PartitionsTable.toRow, FilesTable.toRow).
    """
    if text[:1] in ("[", "{") and text[-1:] in ("]", "}"):
        inner = text[1:-1]
        parts = [inner] if len(partition_by) == 1 else inner.split(", ")
    else:
        named = "/".join(f"{re.escape(name)}=(.*)" for name in partition_by)
        found = re.fullmatch(named, text, re.DOTALL)
        parts = list(found.groups()) if found else []
    if len(parts) != len(partition_by):
        return None
    values = dict(zip(partition_by, parts, strict=True))
    for name, value in values.items():
        if types.get(name) == "date" and re.fullmatch(r"-?\d+", value):
            values[name] = (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    return values


def plan(
    table: PaimonRelation,
    policy: MaintenancePolicy,
    state: TableState,
    spec: TableSpec,
    versions: Versions,
    *,
    force: bool = False,
) -> list[Action]:
    """Every action of a policy, due or not, in the order in which they have to run.

    `force`: whether a compaction is due whatever the policy's thresholds. Raises DbtRuntimeError if a value cannot be
    passed to a procedure (see `procedures.render`).
    """
    name = table.parts
    actions: list[Action] = []
    if policy.expire_partitions:
        actions.append(_expire_partitions(name, policy.expire_partitions, state, versions))
    if policy.compact:
        actions.append(_compact(name, policy.compact, state, spec, versions, force=force))
    if policy.expire_snapshots:
        # Actions that run before it commit, too.
        commits = sum(action.due for action in actions)
        actions.append(_expire_snapshots(name, policy.expire_snapshots, state, commits, versions))
    if policy.remove_orphan_files:
        actions.append(_remove_orphans(name, policy.remove_orphan_files, state, versions))
    if policy.rescale:
        actions.append(_rescale(policy.rescale, state, spec))
    return actions


def _rescale(rescale: Rescale, state: TableState, spec: TableSpec) -> Action:
    # With a number in the config the next run would be refused, because the table has another one.
    if not spec.auto_buckets:
        return Action(
            "rescale", due=False, why="the config does not leave the number to the adapter (bucket: auto)"
        )
    if not state.fixed_buckets:
        return Action("rescale", due=False, why="the table has no fixed buckets, or no rows")
    limit = rescale.max_bucket_size
    why = f"the largest bucket has {state.largest_bucket} bytes (due above {limit})"
    # Half full, so that it does not come again soon.
    number = max(math.ceil(2 * state.largest_partition / limit), state.fixed_buckets + 1)
    due = state.largest_bucket > limit
    if due:
        why += f": {state.fixed_buckets} -> {number} buckets"
    return Action("rescale", due, why, buckets=number)


def _compact(
    table: procedures.TableName,
    compact: Compact,
    state: TableState,
    spec: TableSpec,
    versions: Versions,
    *,
    force: bool,
) -> Action:
    part = _chosen(compact, state)
    if part is None:
        return Action("compact", due=False, why="there are no partitions yet")
    # `full` is what CompactProcedure does in versions without that parameter.
    strategy = compact.strategy if versions.supports(Capability.COMPACT_STRATEGY) else None
    arguments = {
        "where": part.where or None,
        "order_strategy": compact.order or None,
        "order_by": list(compact.order_by) or None,
        "partition_idle_time": compact.idle or None,
        "compact_strategy": None if compact.order else strategy,
        "options": None
        if compact.order or spec.primary_key
        else _bins(compact, part.small_files, spec, versions),
    }
    statement = procedures.statement("compact", table, arguments, versions)
    by_files = bool(compact.small_files) and part.small_files >= compact.small_files
    by_commits = bool(compact.every_commits) and state.commits >= compact.every_commits
    due = by_files or by_commits or force
    return Action("compact", due, _why_compact(compact, state, part), statement)


def _why_compact(compact: Compact, state: TableState, part: _Part) -> str:
    """The figures that decide whether a compaction is due, and from what they are."""
    reasons = []
    if compact.small_files:
        reasons.append(
            f"{part.small_files} small files in a bucket{part.shown} (due from {compact.small_files})"
        )
    if compact.every_commits:
        reasons.append(f"{state.commits} commits since the last one (due from {compact.every_commits})")
    return "; ".join(reasons)


class _Part(NamedTuple):
    """The part of a table to compact: its small files, its condition, and how it is shown (both empty: all)."""

    small_files: int
    where: str
    shown: str = ""


def _chosen(compact: Compact, state: TableState) -> _Part | None:
    """The part of the table that a policy compacts; None if there is none yet."""
    if compact.newest:
        newest = newest_partitions(state, compact.newest)
        where = " OR ".join(_condition(partition, state.types) for partition in newest)
        small = max((partition.small_files for partition in newest), default=0)
        return _Part(small, where, f" in {', '.join(map(str, newest))}") if where else None
    idle = f" in partitions not written for {compact.idle}" if compact.idle else ""
    return _Part(state.small_files, compact.where, idle)


def _bins(compact: Compact, small: int, spec: TableSpec, versions: Versions) -> dict[str, int]:
    """The number of small files that Paimon merges into one, as options; for a table without a primary key.

    Paimon's default on 0.9 is 50 (UnawareAppendTableCompactionCoordinator.FileBin); here it is all of them if one
    partition is compacted, else as many as make the compaction due.
    """
    one = not spec.partition_by or compact.newest == 1 or not compact.small_files
    number = max(small if one else compact.small_files, 2)
    names = ("compaction.min.file-num", "compaction.max.file-num")
    return {name: number for name in names if lookup(name, versions.paimon)}


def newest_partitions(state: TableState, count: int) -> list[Partition]:
    """The `count` partitions with the greatest values, newest last; leaves out partitions with a NULL."""

    def rank(partition: Partition) -> list[tuple[int, str]]:
        values = partition.values or {}
        return [
            (int(text), "") if type_name(state.types.get(name, "")).endswith("int") else (0, text)
            for name, text in values.items()
        ]

    known = [p for p in state.partitions if p.values and not set(p.values.values()) & set(_NULLS)]
    return sorted(known, key=rank)[-count:]


def _condition(partition: Partition, types: Mapping[str, str]) -> str:
    """A partition as a condition over literals of its columns' types: Paimon does not accept casts [ran, 0.9.0]."""
    parts = []
    for name, text in (partition.values or {}).items():
        kind = type_name(types.get(name, ""))
        literal = string_literal(text)
        if kind == "date":
            literal = f"DATE {literal}"
        elif kind.endswith("int"):
            literal = text
        parts.append(f"{quoted(name)} = {literal}")
    return f"({' AND '.join(parts)})"


def _expire_snapshots(
    table: procedures.TableName,
    expire: ExpireSnapshots,
    state: TableState,
    commits: int,
    versions: Versions,
) -> Action:
    # ExpireSnapshotsImpl.expire
    last = state.last_snapshot + commits
    end = last - expire.retain_min + 1
    if state.next_read is not None:
        end = min(end, state.next_read)
    beyond = last - expire.retain_max + 1 if expire.retain_max is not None else state.first_snapshot
    young = state.first_young_snapshot if expire.older_than else state.first_snapshot
    if young and expire.older_than and versions.supports(Capability.EXPIRE_SNAPSHOTS_KEEPS_THE_STATE_THEN):
        young -= 1
    end = min(end, max(beyond, young if young is not None else end))
    count = max(end - state.first_snapshot, 0) if state.last_snapshot else 0
    has = last - state.first_snapshot + 1 if state.last_snapshot else 0
    older_than = datetime.fromisoformat("1970-01-02")  # no snapshot is that old: only the number counts
    if expire.older_than:
        older_than = _clock_of(state, versions) - timedelta(seconds=_seconds(expire.older_than))
    arguments = {
        "retain_max": expire.retain_max if expire.retain_max is not None else 2**31 - 1,
        "retain_min": expire.retain_min,
        "older_than": older_than,
        "max_deletes": max(count, 1),
    }
    statement = procedures.statement("expire_snapshots", table, arguments, versions)
    return Action(
        "expire_snapshots", count > 0, f"{count} of {has} table snapshots are due to expire", statement
    )


def _clock_of(state: TableState, versions: Versions) -> datetime:
    """Now, in the time zone in which ExpireSnapshotsProcedure reads its `older_than`: a TIMESTAMP or a text."""
    return state.wall_clock if times.reads_the_jvms_clock("expire_snapshots", versions) else state.now


def _expire_partitions(
    table: procedures.TableName, expire: ExpirePartitions, state: TableState, versions: Versions
) -> Action:
    by_file = expire.expire_strategy == "update-time"
    before = (state.wall_clock if by_file else state.now) - timedelta(
        seconds=_seconds(expire.expiration_time)
    )
    ahead = 0 if by_file else round((state.wall_clock - state.now).total_seconds())
    expired, unknown = [], 0
    for partition in state.partitions:
        moment = partition.written_at if by_file else _time_of(partition, expire)
        if moment is None:
            unknown += 1
        elif moment < before:
            expired.append(partition)
    formatter_is_known = _strptime(expire.timestamp_formatter) is not None
    why = f"{len(expired)} of {len(state.partitions)} partitions are older than {expire.expiration_time}"
    if expired:
        why += f": {', '.join(map(str, expired[:10]))}{', …' if len(expired) > 10 else ''}"
    if unknown:
        why += f"; timestamp_formatter and timestamp_pattern find no time in {unknown}"
    arguments = {
        "expiration_time": times.expiration_time(expire.expiration_time, ahead),
        "timestamp_formatter": expire.timestamp_formatter or None,
        "timestamp_pattern": expire.timestamp_pattern or None,
        "expire_strategy": expire.expire_strategy,
    }
    statement = procedures.statement("expire_partitions", table, arguments, versions)
    # If the formatter is not fully understood here, Paimon is called every time.
    return Action(
        "expire_partitions", bool(expired) or (not formatter_is_known and unknown > 0), why, statement
    )


def _time_of(partition: Partition, expire: ExpirePartitions) -> datetime | None:
    """The time that PartitionTimeExtractor.extract reads from a partition; None if it has none."""
    if not partition.values:
        return None
    text = expire.timestamp_pattern or next(iter(partition.values.values()))
    for name in sorted(partition.values, key=len, reverse=True):
        text = text.replace(f"${name}", partition.values[name])
    if not expire.timestamp_formatter:
        found = re.fullmatch(r"(\d+)-(\d+)-(\d+)(?: (\d+):(\d+):(\d+)(?:\.\d+)?)?", text)
        text = "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*map(int, found.groups("0"))) if found else ""
    formatted = _strptime(expire.timestamp_formatter or "yyyy-MM-dd HH:mm:ss")
    try:
        return datetime.strptime(text, formatted) if formatted else None  # noqa: DTZ007 - the session's wall clock
    except ValueError:
        return None


def _strptime(formatter: str) -> str | None:
    """Java's date formatter as a strptime format; None if it is not supported. An empty one is Paimon's default."""
    parts = []
    for part in re.findall(r"[A-Za-z]+|'[^']*'|[^A-Za-z']+", formatter):
        if part[0].isalpha():
            letters = _in_letters(part)
            if letters is None:
                return None
            parts.append(letters)
        else:
            parts.append(part.strip("'").replace("%", "%%"))
    return "".join(parts)


def _in_letters(run: str) -> str | None:
    """'%Y%m%d' for 'yyyyMMdd'."""
    pieces = [match[0] for match in re.finditer(r"(.)\1*", run)]
    if not all(piece in _TIME_LETTERS for piece in pieces):
        return None
    return "".join(_TIME_LETTERS[piece] for piece in pieces)


def _remove_orphans(
    table: procedures.TableName, orphans: RemoveOrphanFiles, state: TableState, versions: Versions
) -> Action:
    older_than = state.wall_clock - timedelta(seconds=_seconds(orphans.older_than))
    arguments = {"older_than": older_than, "dry_run": False}
    statement = procedures.statement("remove_orphan_files", table, arguments, versions)
    return Action("remove_orphan_files", True, f"orphan files older than {older_than}", statement)


def _seconds(duration: str) -> int:
    return parse_duration(duration) // 10**9 if duration else 0


def lines(actions: Sequence[Action], *, dry_run: bool) -> Iterator[str]:
    """The log lines about a table's actions, one each."""
    for action in actions:
        verb = ("would run" if dry_run else "runs") if action.due else "not due"
        yield f"{action.name}: {verb}: {action.why}"
