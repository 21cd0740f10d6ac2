"""Plans the actions of a maintenance policy from the state of a table. Runs no statement."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.maintenance import times
from dbt.adapters.paimon.metadata.upkeep import Figures, Partition, TableState
from dbt.adapters.paimon.options.table_options import lookup, parse_duration
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.maintenance_policy import (
    Compact,
    ExpirePartitions,
    ExpireSnapshots,
    MaintenancePolicy,
    RemoveOrphanFiles,
    Rescale,
)
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.sql.data_types import type_name
from dbt.adapters.paimon.sql.procedures import partition_literal
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted

_NULLS: Final = ("null", "__DEFAULT_PARTITION__")
# Fields of fixed width in Java's date patterns -> in strptime.
_STRPTIME: Final = {"yyyy": "%Y", "uuuu": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_NO_CALL: Final = Statement("")


@dataclass(frozen=True)
class MaintenanceAction:
    """An action of a policy, with its CALL. A rescale has only `buckets`, the new number."""

    name: str
    due: bool
    why: str
    statement: Statement = _NO_CALL
    buckets: int = 0


def figures(policy: MaintenancePolicy) -> Figures:
    """The figures that `actions` needs for a policy."""
    compact, expire = policy.compact or Compact(small_files=0), policy.expire_snapshots
    partitions = policy.expire_partitions is not None or bool(compact.newest)
    return Figures(
        snapshots=expire is not None or bool(compact.every_commits),
        consumers=expire is not None,
        young=_seconds(expire.older_than) if expire and expire.older_than else None,
        sorts=bool(compact.order),
        files=partitions or policy.rescale is not None or bool(compact.small_files),
        partitions=partitions,
        idle=_seconds(compact.idle) if compact.idle else None,
    )


def actions(
    table: PaimonRelation,
    policy: MaintenancePolicy,
    state: TableState,
    spec: TableSpec,
    versions: Versions,
    *,
    force: bool = False,
) -> list[MaintenanceAction]:
    """Every action of a policy, due or not, in the order to run them; with `force`, a compaction is always due."""
    planner = _Planner(table.parts, state, spec, versions)
    found: list[MaintenanceAction] = []
    if policy.expire_partitions:
        found.append(planner.expire_partitions(policy.expire_partitions))
    if policy.compact:
        found.append(planner.compact(policy.compact, force=force))
    if policy.expire_snapshots:
        # Each earlier action that is due makes a table snapshot, too.
        commits = sum(action.due for action in found)
        found.append(planner.expire_snapshots(policy.expire_snapshots, commits))
    if policy.remove_orphan_files:
        found.append(planner.remove_orphans(policy.remove_orphan_files))
    if policy.rescale:
        found.append(planner.rescale(policy.rescale))
    return found


@dataclass(frozen=True)
class _Planner:
    table: procedures.NameParts
    state: TableState
    spec: TableSpec
    versions: Versions

    def expire_partitions(self, expire: ExpirePartitions) -> MaintenanceAction:
        state = self.state
        by_file = expire.expire_strategy == "update-time"
        now = state.wall_clock if by_file else state.now
        before = now - timedelta(seconds=_seconds(expire.expiration_time))
        moments = [each.written_at if by_file else _time_of(each, expire) for each in state.partitions]
        dated = zip(state.partitions, moments, strict=True)
        expired = [str(partition) for partition, moment in dated if moment and moment < before]
        unknown = moments.count(None)
        ahead = round((state.wall_clock - now).total_seconds())
        arguments = {
            "expiration_time": times.expiration_time(expire.expiration_time, ahead),
            "timestamp_formatter": expire.timestamp_formatter,
            "timestamp_pattern": expire.timestamp_pattern,
            "expire_strategy": expire.expire_strategy,
        }
        # Only Paimon can parse with a formatter that _strptime does not support, so call the procedure every time.
        due = bool(expired) or (unknown > 0 and _strptime(expire.timestamp_formatter) is None)
        why = self._why_expired(expire, expired, unknown)
        return self._action("expire_partitions", due, why, arguments)

    def _why_expired(self, expire: ExpirePartitions, expired: Sequence[str], unknown: int) -> str:
        why = f"{len(expired)} of {len(self.state.partitions)} partitions are older than {expire.expiration_time}"
        if expired:
            why += f": {', '.join(expired[:10])}{', …' if len(expired) > 10 else ''}"
        if unknown:
            why += f"; timestamp_formatter and timestamp_pattern find no time in {unknown}"
        return why

    def compact(self, compact: Compact, *, force: bool) -> MaintenanceAction:
        part = _part_to_compact(compact, self.state)
        if part is None:
            return MaintenanceAction("compact", due=False, why="there are no partitions yet")
        arguments: dict[str, Any] = {
            "where": part.where,
            "order_strategy": compact.order,
            "order_by": list(compact.order_by),
            "partition_idle_time": compact.idle,
        }
        # Versions without this parameter always do a full compaction (CompactProcedure).
        if not compact.order and self.versions.supports(Capability.COMPACT_STRATEGY):
            arguments["compact_strategy"] = compact.strategy
        if not compact.order and not self.spec.primary_key:
            arguments["options"] = self._files_per_merge(compact, part.small_files)
        by_files = 0 < compact.small_files <= part.small_files
        commits = compact.every_commits if self.state.commits is None else self.state.commits
        by_commits = 0 < compact.every_commits <= commits
        return self._action("compact", by_files or by_commits or force, self._why_compacted(compact, part), arguments)

    def _why_compacted(self, compact: Compact, part: _Part) -> str:
        reasons = []
        if compact.small_files:
            reasons.append(f"{part.small_files} small files in a bucket{part.shown} (due from {compact.small_files})")
        if compact.every_commits:
            commits = "the last compaction is older than the kept table snapshots"
            if self.state.commits is not None:
                commits = f"{self.state.commits} commits since the last compaction"
            reasons.append(f"{commits} (due from {compact.every_commits})")
        return "; ".join(reasons)

    def _files_per_merge(self, compact: Compact, small: int) -> dict[str, int]:
        """How many files to merge, as options: all small files if one partition is compacted, else `small_files`."""
        # Paimon 0.9's default is 50 (UnawareAppendTableCompactionCoordinator.FileBin).
        one = not self.spec.partition_by or compact.newest == 1 or not compact.small_files
        number = max(small if one else compact.small_files, 2)
        names = ("compaction.min.file-num", "compaction.max.file-num")
        return {name: number for name in names if lookup(name, self.versions.paimon)}

    def expire_snapshots(self, expire: ExpireSnapshots, commits: int) -> MaintenanceAction:
        """Count the expiring table snapshots like ExpireSnapshotsImpl.expire, after `commits` more commits."""
        state = self.state
        first, last = state.first_snapshot, state.last_snapshot + commits
        end = last - expire.retain_min + 1
        if state.next_read is not None:
            end = min(end, state.next_read)
        beyond = first if expire.retain_max is None else last - expire.retain_max + 1
        young: int | None = first
        older_than = datetime.fromisoformat("1970-01-02")  # older than all snapshots, so only their number counts
        if expire.older_than:
            young = state.first_young_snapshot
            if young and self.versions.supports(Capability.EXPIRE_SNAPSHOTS_KEEPS_THE_STATE_THEN):
                young -= 1
            by_jvm = times.reads_the_jvms_clock("expire_snapshots", self.versions)
            now = state.wall_clock if by_jvm else state.now
            older_than = now - timedelta(seconds=_seconds(expire.older_than))
        end = min(end, max(beyond, end if young is None else young))
        count, total = (max(end - first, 0), last - first + 1) if state.last_snapshot else (0, 0)
        arguments = {
            "retain_max": 2**31 - 1 if expire.retain_max is None else expire.retain_max,
            "retain_min": expire.retain_min,
            "older_than": older_than,
            "max_deletes": max(count, 1),
        }
        why = f"{count} of {total} table snapshots are due to expire"
        return self._action("expire_snapshots", count > 0, why, arguments)

    def remove_orphans(self, orphans: RemoveOrphanFiles) -> MaintenanceAction:
        older_than = self.state.wall_clock - timedelta(seconds=_seconds(orphans.older_than))
        arguments = {"older_than": older_than, "dry_run": False}
        return self._action("remove_orphan_files", True, f"orphan files older than {older_than}", arguments)

    def rescale(self, rescale: Rescale) -> MaintenanceAction:
        state = self.state
        # The next run would refuse a table whose number of buckets differs from its config.
        if not self.spec.auto_buckets:
            return MaintenanceAction("rescale", due=False, why="the config does not have bucket: auto")
        if not state.fixed_buckets:
            return MaintenanceAction("rescale", due=False, why="the table has no fixed buckets, or no rows")
        limit = rescale.max_bucket_size
        why = f"the largest bucket has {state.largest_bucket} bytes (due above {limit})"
        # Fill the buckets only to half the limit, so that the next rescale is far off.
        number = max(math.ceil(2 * state.largest_partition / limit), state.fixed_buckets + 1)
        due = state.largest_bucket > limit
        if due:
            why += f": {state.fixed_buckets} -> {number} buckets"
        return MaintenanceAction("rescale", due, why, buckets=number)

    def _action(self, name: str, due: bool, why: str, arguments: Mapping[str, Any]) -> MaintenanceAction:
        given = {key: value for key, value in arguments.items() if value not in ("", [])}
        return MaintenanceAction(name, due, why, procedures.statement(name, self.table, given, self.versions))


class _Part(NamedTuple):
    """The part of a table to compact: its small files, its WHERE condition and its name ('' for the whole table)."""

    small_files: int
    where: str
    shown: str = ""


def _part_to_compact(compact: Compact, state: TableState) -> _Part | None:
    if compact.newest:
        newest = newest_partitions(state, compact.newest)
        where = " OR ".join(_condition(partition, state.types) for partition in newest)
        small = max((partition.small_files for partition in newest), default=0)
        return _Part(small, where, f" in {', '.join(map(str, newest))}") if where else None
    idle = f" in partitions not written for {compact.idle}" if compact.idle else ""
    return _Part(state.small_files, compact.where, idle)


def newest_partitions(state: TableState, count: int) -> list[Partition]:
    """The `count` partitions with the greatest values, newest last; partitions with a NULL are left out."""

    def rank(partition: Partition) -> list[tuple[int, str]]:
        values = partition.values or {}
        return [
            (int(text), "") if type_name(state.types.get(name, "")).endswith("int") else (0, text)
            for name, text in values.items()
        ]

    known = [p for p in state.partitions if p.values and not set(p.values.values()) & set(_NULLS)]
    return sorted(known, key=rank)[-count:]


def _condition(partition: Partition, types: Mapping[str, str]) -> str:
    values = (partition.values or {}).items()
    parts = (f"{quoted(name)} = {partition_literal(text, types.get(name, ''))}" for name, text in values)
    return f"({' AND '.join(parts)})"


def _time_of(partition: Partition, expire: ExpirePartitions) -> datetime | None:
    """The time of a partition, parsed like PartitionTimeExtractor.extract; None if there is no time."""
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
    """Java's date pattern as a strptime format; None if it is not supported."""
    parts = []
    for match in re.finditer(r"([A-Za-z])\1*|'[^']*'|[^A-Za-z']+", formatter):
        part = match[0]
        if not match[1]:
            parts.append(part.strip("'").replace("%", "%%"))
        elif part in _STRPTIME:
            parts.append(_STRPTIME[part])
        else:
            return None
    return "".join(parts)


def _seconds(duration: str) -> int:
    return parse_duration(duration) // 10**9 if duration else 0


def lines(actions: Sequence[MaintenanceAction], *, dry_run: bool) -> Iterator[str]:
    """The log line of each action."""
    for action in actions:
        verb = ("would run" if dry_run else "runs") if action.due else "not due"
        yield f"{action.name}: {verb}: {action.why}"
