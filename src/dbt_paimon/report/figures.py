"""The figures of a table, computed from its facts; and the whole of a report, as typed values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from dbt_paimon.report.advice import LEAST_SNAPSHOTS, LIMITS, Advice, Condition
from dbt_paimon.report.facts import Facts, TableSnapshot

_KEEPS_FOR: Final = "1 h"
_TRIGGER: Final = "num-sorted-run.compaction-trigger"
_USUAL_TRIGGER: Final = 5


@dataclass(frozen=True)
class Bucket:
    """A bucket of a partition; `levels`: level -> files and bytes; `skew`: its rows over the partition's mean."""

    partition: str
    bucket: int
    files: int
    small_files: int
    rows: int
    bytes: int
    sorted_runs: int
    skew: float
    levels: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Reader:
    """What reads a table, and how far it is.

    Attributes:
        name: of the consumer, model or stream.
        kind: consumer, incremental model, stream.
        source: schema and name of the table, folder or topic that is read.
        position: the last table snapshot read; as text for other sources.
        behind: table snapshots that it has not read; None if that is not known.
        rows_behind: rows in them.
        state: what else there is to say, such as an unfinished batch.
    """

    name: str
    kind: str
    source: str
    position: str
    behind: int | None = None
    rows_behind: int | None = None
    state: str = ""


@dataclass(frozen=True)
class Table:
    """A table, or why it could not be read.

    Attributes:
        node: unique id in the manifest.
        name: schema and name.
        kind: materialization, or `source`.
        said: what a run would call it in `--select`.
        problem: why there are no figures; '' if there are.
        by: how it was read: Paimon's classes, or SQL.
        seconds: how long that took.
        keeps: what keeps its table snapshots, one sentence each.
        reads: how far it has read its sources, if it reads their changes.
        readers: who reads its changes, and how far they are.
        advice: what to do about it.
    """

    node: str
    name: str
    kind: str
    said: str = ""
    problem: str = ""
    by: str = ""
    seconds: float = 0
    statements: int = 0
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    layout: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    bytes: int = 0
    files: int = 0
    small_files: int = 0
    partitions: int = 0
    levels: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    buckets: tuple[Bucket, ...] = ()
    skew: float = 0
    sorted_runs: int = 0
    compaction_trigger: int = _USUAL_TRIGGER
    level_0_bytes: int = 0
    commits_since_compaction: int = 0
    last_compaction: float | None = None
    snapshots: tuple[TableSnapshot, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)
    changelog: str = "none"
    changelog_rows: int = 0
    keeps: tuple[str, ...] = ()
    reads: tuple[Reader, ...] = ()
    readers: tuple[Reader, ...] = ()
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True)
class NodeRun:
    """A node in a run of dbt; what its response does not tell is None. Times are seconds since the run's start."""

    node: str
    name: str
    kind: str
    status: str
    thread: str
    begins: float
    seconds: float
    says: str = ""
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    snapshot: int | None = None


@dataclass(frozen=True)
class Run:
    """A run of dbt, from its `run_results.json`."""

    id: str
    command: str
    at: float
    seconds: float
    nodes: tuple[NodeRun, ...]


@dataclass(frozen=True)
class LineageNode:
    """A node in the lineage, and the ids of those that it reads."""

    node: str
    name: str
    kind: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cost:
    """What the report itself has cost."""

    statements: int = 0
    by_classes: int = 0
    by_sql: int = 0
    reading_seconds: float = 0
    seconds: float = 0
    threads: int = 1


@dataclass(frozen=True)
class Report:
    """All of a report. `at`: seconds since the epoch; `versions`: of Paimon, Spark, the adapter."""

    project: str
    target: str
    at: float
    versions: Mapping[str, str]
    tables: tuple[Table, ...]
    runs: tuple[Run, ...] = ()
    lineage: tuple[LineageNode, ...] = ()
    cost: Cost = field(default_factory=Cost)

    @property
    def advice(self) -> tuple[tuple[Table, Advice], ...]:
        """All advice, with its table."""
        return tuple((table, each) for table in self.tables for each in table.advice)

    @property
    def unread(self) -> tuple[Table, ...]:
        """Tables that could not be read."""
        return tuple(table for table in self.tables if table.problem)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def figures(facts: Facts) -> dict[str, Any]:
    """The fields of a `Table` that its facts decide."""
    buckets = tuple(_buckets(facts))
    levels: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for pile in facts.piles:
        levels[pile.level][0] += pile.files
        levels[pile.level][1] += pile.bytes
    compacted = [each for each in facts.snapshots if each.kind == "COMPACT"]
    since = compacted[-1].number if compacted else 0
    return {
        "statements": facts.statements,
        "comment": facts.comment,
        "primary_key": facts.primary_key,
        "partition_by": facts.partition_by,
        "layout": _layout(facts),
        "rows": sum(pile.rows for pile in facts.piles),
        "bytes": sum(pile.bytes for pile in facts.piles),
        "files": sum(pile.files for pile in facts.piles),
        "small_files": sum(each.small_files for each in buckets if each.files > 1),
        "partitions": len({each.partition for each in buckets}),
        "levels": {level: (files, size) for level, (files, size) in sorted(levels.items())},
        "buckets": buckets,
        "skew": max((each.skew for each in buckets), default=0.0),
        "sorted_runs": max((each.sorted_runs for each in buckets), default=0),
        "compaction_trigger": int(facts.options.get(_TRIGGER, _USUAL_TRIGGER)),
        "level_0_bytes": levels[0][1] if facts.primary_key else 0,
        "commits_since_compaction": sum(
            each.kind != "COMPACT" and each.number > since for each in facts.snapshots
        ),
        "last_compaction": compacted[-1].at if compacted else None,
        "snapshots": facts.snapshots,
        "tags": dict(facts.tags),
        "changelog": facts.options.get("changelog-producer", "none"),
        "changelog_rows": sum(each.changelog or 0 for each in facts.snapshots),
        "keeps": tuple(keeps(facts)),
    }


def _fixed_buckets(facts: Facts) -> int:
    return max(int(facts.options.get("bucket", "-1")), 0)


def _buckets(facts: Facts) -> Iterable[Bucket]:
    rows: Counter[str] = Counter()
    there: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for pile in facts.piles:
        rows[pile.partition] += pile.rows
        there[pile.partition, pile.bucket].append(pile)
    number = Counter(partition for partition, _ in there)
    for (partition, bucket), piles in there.items():
        mean = rows[partition] / max(number[partition], _fixed_buckets(facts))
        own = sum(pile.rows for pile in piles)
        yield Bucket(
            partition,
            bucket,
            files=sum(pile.files for pile in piles),
            small_files=sum(pile.small_files for pile in piles),
            rows=own,
            bytes=sum(pile.bytes for pile in piles),
            # Each file of level 0 is a sorted run, and each further level is one.
            sorted_runs=sum(pile.files if pile.level == 0 else 1 for pile in piles),
            skew=own / mean if mean else 0.0,
            levels={pile.level: (pile.files, pile.bytes) for pile in piles},
        )


def _layout(facts: Facts) -> dict[str, str]:
    """What the table is, in Paimon's words; options that look like secrets are not among these."""
    options = facts.options
    dynamic = "dynamic" if facts.primary_key else "unaware"
    number = options.get("bucket", "-1")
    found = {
        "primary key": ", ".join(facts.primary_key),
        "partitioned by": ", ".join(facts.partition_by),
        "buckets": {"-1": dynamic, "-2": "postpone"}.get(number, number),
        "bucket key": options.get("bucket-key", ""),
        "merge engine": options.get("merge-engine", "deduplicate") if facts.primary_key else "",
        "sequence field": options.get("sequence.field", ""),
        "file format": options.get("file.format", ""),
        "deletion vectors": options.get("deletion-vectors.enabled", ""),
        "write only": options.get("write-only", ""),
    }
    return {name: value for name, value in found.items() if value}


def keeps(facts: Facts) -> Iterable[str]:
    """What keeps the table's snapshots, a sentence each."""
    options = facts.options
    least = options.get("snapshot.num-retained.min", str(LEAST_SNAPSHOTS))
    most = options.get("snapshot.num-retained.max")
    young = options.get("snapshot.time-retained", _KEEPS_FOR)
    yield (
        f"A commit expires those older than {young} (snapshot.time-retained), but leaves {least} "
        "(snapshot.num-retained.min)"
        + (f" and never more than {most} (snapshot.num-retained.max)." if most else ".")
    )
    if options.get("write-only", "").lower() == "true":
        yield "With write-only, commits expire nothing: expire_snapshots or a maintenance policy does."
    for name, number in sorted(facts.consumers.items()):
        yield f"The consumer {name} reads table snapshot {number} next: it and later ones stay."
    for name, number in sorted(facts.tags.items(), key=lambda tag: tag[1]):
        yield f"The tag {name} keeps the rows of table snapshot {number}."


def condition(facts: Facts, table: Mapping[str, Any], name: str, has_policy: bool, now: float) -> Condition:
    """What the rules of advice look at.

    Args:
        facts: what was read.
        table: what `figures` made of it.
        name: of the node.
        has_policy: whether its config has `maintenance`.
        now: seconds since the epoch.
    """
    buckets: Sequence[Bucket] = table["buckets"]
    rows: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for each in buckets:
        rows[each.partition] += each.rows
        sizes[each.partition] += each.bytes
    enough = float(LIMITS["bucket_skew"]["min_rows"])
    several = [each for each in buckets if each.files > 1]
    first = facts.snapshots[0] if facts.snapshots else None
    return Condition(
        name=name,
        has_policy=has_policy,
        is_keyed=bool(facts.primary_key),
        files=table["files"],
        small_files=table["small_files"],
        most_small_files=max((each.small_files for each in several), default=0),
        sorted_runs=table["sorted_runs"],
        largest_bucket=max((each.bytes for each in buckets), default=0),
        skew=max((each.skew for each in buckets if rows[each.partition] >= enough), default=0.0),
        partitions=table["partitions"],
        fixed_buckets=_fixed_buckets(facts),
        largest_partition=max(sizes.values(), default=0),
        snapshots=len(facts.snapshots),
        oldest_snapshot=now - first.at if first else 0,
        least_snapshots=int(facts.options.get("snapshot.num-retained.min", LEAST_SNAPSHOTS)),
        consumers=tuple(
            sorted(each for each, number in facts.consumers.items() if first and number <= first.number)
        ),
    )


def consumers(facts: Facts, name: str) -> tuple[Reader, ...]:
    """A table's consumers as readers of it."""
    return tuple(
        Reader(each, "consumer", name, str(number - 1), *behind(facts.snapshots, number - 1))
        for each, number in sorted(facts.consumers.items())
    )


def behind(snapshots: Sequence[TableSnapshot], read: int) -> tuple[int, int]:
    """The table snapshots after one that change rows, and the rows in them."""
    new = [each for each in snapshots if each.number > read and each.kind in ("APPEND", "OVERWRITE")]
    return len(new), sum(abs(each.added or 0) for each in new)


def connected(tables: Sequence[Table]) -> tuple[Table, ...]:
    """The tables, with how far behind each reader of another one is, and with it among that one's readers."""
    snapshots = {table.name: table.snapshots for table in tables}
    known = {
        table.node: tuple(_placed(each, snapshots.get(each.source)) for each in table.reads)
        for table in tables
    }
    readers: dict[str, list[Reader]] = defaultdict(list)
    for table in tables:
        for each in known[table.node]:
            readers[each.source].append(each)
    return tuple(
        replace(table, reads=known[table.node], readers=(*table.readers, *readers[table.name]))
        for table in tables
    )


def _placed(reader: Reader, snapshots: Sequence[TableSnapshot] | None) -> Reader:
    if snapshots is None or not reader.position.isdecimal():
        return reader
    missing, rows = behind(snapshots, int(reader.position))
    return replace(reader, behind=missing, rows_behind=rows)
