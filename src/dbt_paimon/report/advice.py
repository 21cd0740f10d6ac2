"""Advice on tables: the rules of the data tests in macros/monitoring, with the command that fixes the table.

No command deletes rows, or table snapshots that the table's options keep.

The limits are the tests' defaults (checked by `tests/unit/test_report.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

from dbt.adapters.paimon.formatting import size
from dbt.adapters.paimon.options.table_options import parse_duration
from dbt.adapters.paimon.spec.maintenance_policy import RETAIN_MIN

# Data test -> the defaults of its arguments.
LIMITS: Final[Mapping[str, Mapping[str, float | str]]] = {
    "small_files": {"max_files": 20},
    "compaction_needed": {"max_sorted_runs": 5, "max_small_files": 50},
    "snapshot_count": {"max_snapshots": 100, "min_snapshots": 1},
    "snapshot_age": {"max_age": "7 d"},
    "bucket_skew": {"max_skew": 3, "min_rows": 1000},
    "bucket_size": {"max_gb": 5},
    "partition_count": {"max_partitions": 1000},
}
# Spark reads `older_than` in the session's time zone. The report does not know it; it differs from UTC by at most 14 h.
_ZONES: Final = 14 * 3600
_DAY: Final = 86_400
# Text that YAML reads as text without quotes.
_PLAIN: Final = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Condition:
    """The input of the rules.

    Attributes:
        node: the name for dbt's selectors; empty for a source.
        table: the name for operations.
        has_policy: whether `maintain` compacts the table by the policy of its model.
        files, small_files: in all buckets; a bucket's only file does not count as small.
        most_small_files, sorted_runs, largest_bucket: the greatest value of any bucket; the last in bytes.
        skew: the greatest skew of any bucket in a partition with enough rows (see `LIMITS`).
        fixed_buckets: the fixed number of buckets, or 0.
        largest_partition: its size in bytes.
        oldest_snapshot: its age in seconds.
        time_retained: the option `snapshot.time-retained` in seconds, or 0.
        now: the time of the report, in seconds since 1970.
        least_snapshots: how many table snapshots are kept at any age.
        consumers: the consumers that prevent the oldest table snapshot from expiring.
    """

    node: str
    table: str
    has_policy: bool = False
    is_keyed: bool = False
    files: int = 0
    small_files: int = 0
    most_small_files: int = 0
    sorted_runs: int = 0
    largest_bucket: int = 0
    skew: float = 0
    partitions: int = 0
    fixed_buckets: int = 0
    largest_partition: int = 0
    snapshots: int = 0
    oldest_snapshot: float = 0
    time_retained: float = 0
    now: float = 0
    least_snapshots: int = RETAIN_MIN
    consumers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advice:
    """A recommended action.

    Attributes:
        rule: the name of the data test, or `config`.
        command: empty if no command fixes the table.
        then: a further step or a remark.
    """

    rule: str
    reason: str
    command: str = ""
    then: str = ""


def advice(found: Condition) -> tuple[Advice, ...]:
    """All advice on a table."""
    return tuple(each for rule in _RULES for each in rule(found))


def _limit(test: str, argument: str) -> float:
    return float(LIMITS[test][argument])


def _operation(name: str, **arguments: object) -> str:
    parts = ", ".join(
        f"{key}: {value if isinstance(value, int) or _PLAIN.fullmatch(str(value)) else json.dumps(value)}"
        for key, value in arguments.items()
    )
    return f"dbt run-operation {name} --args '{{{parts}}}'"


def _compact(found: Condition) -> str:
    if found.has_policy:
        return _operation("maintain", select=found.node, force="true")
    return _operation("compact", relation=found.table)


def _files(found: Condition) -> Iterator[Advice]:
    runs = _limit("compaction_needed", "max_sorted_runs")
    small = _limit("compaction_needed", "max_small_files")
    if found.is_keyed and found.sorted_runs > runs:
        reason = f"A bucket has {found.sorted_runs} sorted runs, which every reader merges (more than {runs:.0f})."
        yield Advice("compaction_needed", reason, _compact(found))
    elif not found.is_keyed and found.most_small_files > small:
        reason = f"A bucket has {found.most_small_files:,} small files (more than {small:.0f})."
        yield Advice("compaction_needed", reason, _compact(found))
    elif found.small_files > (limit := _limit("small_files", "max_files")):
        reason = (
            f"{found.small_files:,} of {found.files:,} files are small enough to be merged (more than {limit:.0f})."
        )
        yield Advice("small_files", reason, _compact(found))


def _snapshots(found: Condition) -> Iterator[Advice]:
    most = max(int(_limit("snapshot_count", "max_snapshots")), found.least_snapshots)
    age = max(parse_duration(str(LIMITS["snapshot_age"]["max_age"])) / 10**9, found.time_retained)
    is_kept = bool(found.time_retained) and found.oldest_snapshot <= found.time_retained + 2 * _ZONES
    if found.snapshots > most and not is_kept:
        rule, reason = "snapshot_count", f"{found.snapshots:,} table snapshots (more than {most})."
        age = found.time_retained
    # The newest `least_snapshots` never expire.
    elif found.oldest_snapshot > age + 2 * _ZONES and found.snapshots > found.least_snapshots:
        days = found.oldest_snapshot / _DAY
        rule = "snapshot_age"
        reason = f"The oldest table snapshot is {days:.0f} days old (more than {age / _DAY:.0f})."
    else:
        return
    if age:
        until = datetime.fromtimestamp(found.now - age - _ZONES, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        command = _operation("expire_snapshots", relation=found.table, older_than=until)
    else:
        command = _operation("expire_snapshots", relation=found.table, retain_max=max(20, found.least_snapshots))
    remark = ""
    if found.consumers:
        names = ", ".join(found.consumers)
        remark = f"Consumers that keep the oldest table snapshot until they read on or are deleted: {names}."
    yield Advice(rule, reason, command, remark)


def _buckets(found: Condition) -> Iterator[Advice]:
    rebuild = f"dbt build --select {found.node} --full-refresh" if found.node else ""
    skew, rows = _limit("bucket_skew", "max_skew"), int(_limit("bucket_skew", "min_rows"))
    if found.skew > skew:
        reason = (
            f"The largest bucket of a partition has {found.skew:.1f} times the mean number of rows (more than "
            f"{skew:.0f}, in a partition with at least {rows:,} rows)."
        )
        yield Advice("bucket_skew", reason, rebuild, "First choose a bucket_key with many, evenly distributed values.")
    limit = _limit("bucket_size", "max_gb") * 1024**3
    if found.largest_bucket > limit:
        reason = f"A bucket holds {size(found.largest_bucket)} (more than {size(limit)})."
        if found.fixed_buckets:
            number = max(round(found.largest_partition / 1024**3), found.fixed_buckets * 2)
            command = _operation("rescale", relation=found.table, bucket_num=number)
            then = "Also set bucket to this number in the config, unless it is auto."
        else:
            command, then = rebuild, "First set bucket to a number."
        yield Advice("bucket_size", reason, command, then)


def _partitions(found: Condition) -> Iterator[Advice]:
    most = int(_limit("partition_count", "max_partitions"))
    if found.partitions > most:
        reason = f"{found.partitions:,} partitions (more than {most:,})."
        then = "Use coarser partitions, or let a policy with expire_partitions delete the rows that you no longer need."
        yield Advice("partition_count", reason, then=then)


_RULES: Final[tuple[Callable[[Condition], Iterator[Advice]], ...]] = (_files, _snapshots, _buckets, _partitions)
