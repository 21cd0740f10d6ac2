"""The figures of a table, computed from its facts, and the data model of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dbt.adapters.paimon.metadata.facts import Facts
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit
from dbt.adapters.paimon.options.table_options import parse_duration
from dbt.adapters.paimon.spec.maintenance_policy import RETAIN_MIN
from dbt_paimon.report.advice import LIMITS, Advice, Condition

_USUAL_TRIGGER: Final = 5


@dataclass(frozen=True)
class TableSnapshot:
    """A table snapshot in a report.

    Attributes:
        kind: APPEND, OVERWRITE, COMPACT or ANALYZE.
        at: in seconds since the epoch.
        total, added, changelog: rows in the data files, before merging, of the table, the commit and its changelog.
    """

    number: int
    kind: str
    user: str
    at: float
    total: int = 0
    added: int = 0
    changelog: int = 0

    @classmethod
    def of(cls, commit: Commit) -> TableSnapshot:
        return cls(commit.snapshot, commit.kind, commit.user, commit.at, commit.rows, commit.delta, commit.changelog)


@dataclass(frozen=True)
class Bucket:
    """A bucket of a partition; `levels`: level -> (files, bytes); `skew`: its rows divided by the partition's mean."""

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
    """A reader of a table, and how far it has read.

    Attributes:
        kind: consumer, incremental model or stream; `name` is its name.
        source: schema and name of the table, folder or topic.
        position: the last table snapshot that was read; for other sources, their own offsets.
        behind: number of table snapshots not yet read; None if unknown.
        rows_behind: the number of rows in them.
        state: further state, such as an unfinished batch.
    """

    name: str
    kind: str
    source: str
    position: str
    behind: int | None = None
    rows_behind: int | None = None
    state: str = ""


@dataclass(frozen=True)
class ColumnEnd:
    """The other end of an edge of a column's lineage.

    Attributes:
        node, name: unique id and name of its node; a relation that is no node has only a name.
        column: its column in lower case; `*` for all columns.
        kind: value or row.
    """

    node: str
    name: str
    column: str
    kind: str


@dataclass(frozen=True)
class Column:
    """A column, the columns that it is computed from, and those that read it; the name `*` stands for all columns."""

    name: str
    reads: tuple[ColumnEnd, ...] = ()
    readers: tuple[ColumnEnd, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, or why it could not be read.

    Attributes:
        node: unique id in the manifest.
        name: schema and name.
        kind: materialization, or `source`.
        said: the node's name, for `--select`.
        by: how it was read: Paimon's classes, or SQL.
        keeps: what keeps table snapshots, one sentence each.
        reads: how far this table's model or stream has read other tables.
        readers: how far others have read this table.
        columns: with their direct lineage.
        columns_unknown: why lineage of columns is missing, one sentence each.
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
    columns: tuple[Column, ...] = ()
    columns_unknown: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True)
class NodeRun:
    """A node in a run of dbt. `begins`: seconds since the run's start. What the adapter does not report is None."""

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
    """A node in the lineage, and the ids of the nodes that it reads."""

    node: str
    name: str
    kind: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cost:
    """The cost of the report itself."""

    statements: int = 0
    by_classes: int = 0
    by_sql: int = 0
    reading_seconds: float = 0
    seconds: float = 0
    threads: int = 1


@dataclass(frozen=True)
class Report:
    """The data of a report. `at`: seconds since the epoch; `versions`: those of Paimon, Spark and the adapter."""

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
        return tuple((table, each) for table in self.tables for each in table.advice)

    @property
    def unread(self) -> tuple[Table, ...]:
        return tuple(table for table in self.tables if table.problem)


def figures(facts: Facts) -> dict[str, Any]:
    """The fields of a `Table` that are computed from its facts."""
    buckets = tuple(_buckets(facts))
    levels: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for group in facts.groups:
        levels[group.level][0] += group.files
        levels[group.level][1] += group.bytes
    return {
        "statements": facts.statements,
        "comment": facts.schema.comment,
        "primary_key": facts.schema.primary_keys,
        "partition_by": facts.schema.partition_keys,
        "columns": tuple(Column(each.name) for each in facts.schema.fields),
        "layout": _layout(facts),
        **_sums(facts.groups, "rows", "bytes", "files"),
        "small_files": sum(each.small_files for each in buckets if each.files > 1),
        "partitions": len({each.partition for each in buckets}),
        "levels": {level: (files, size) for level, (files, size) in sorted(levels.items())},
        "buckets": buckets,
        "skew": max((each.skew for each in buckets), default=0.0),
        "sorted_runs": max((each.sorted_runs for each in buckets), default=0),
        "compaction_trigger": int(facts.schema.options.get("num-sorted-run.compaction-trigger", _USUAL_TRIGGER)),
        "level_0_bytes": levels[0][1] if facts.schema.primary_keys else 0,
        **_of_commits(facts.snapshots),
        "tags": dict(facts.tags),
        "changelog": facts.schema.options.get("changelog-producer", "none"),
        "keeps": tuple(keeps(facts)),
    }


def _sums(groups: Iterable[Any], *names: str) -> dict[str, int]:
    return {name: sum(getattr(group, name) for group in groups) for name in names}


def _of_commits(commits: Sequence[Commit]) -> dict[str, Any]:
    compacted = [each for each in commits if each.kind == COMPACT]
    since = compacted[-1].snapshot if compacted else 0
    return {
        "commits_since_compaction": sum(each.kind != COMPACT and each.snapshot > since for each in commits),
        "last_compaction": compacted[-1].at if compacted else None,
        "snapshots": tuple(map(TableSnapshot.of, commits)),
        "changelog_rows": sum(each.changelog for each in commits),
    }


def _fixed_buckets(facts: Facts) -> int:
    return max(int(facts.schema.options.get("bucket", "-1")), 0)


def _buckets(facts: Facts) -> Iterable[Bucket]:
    rows: Counter[str] = Counter()
    there: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for group in facts.groups:
        rows[group.partition] += group.rows
        there[group.partition, group.bucket].append(group)
    number = Counter(partition for partition, _ in there)
    for (partition, bucket), groups in there.items():
        mean = rows[partition] / max(number[partition], _fixed_buckets(facts))
        sums = _sums(groups, "files", "small_files", "rows", "bytes")
        yield Bucket(
            partition,
            bucket,
            **sums,
            # Each file of level 0 is a sorted run; each other level is one.
            sorted_runs=sum(group.files if group.level == 0 else 1 for group in groups),
            skew=sums["rows"] / mean if mean else 0.0,
            levels={group.level: (group.files, group.bytes) for group in groups},
        )


def _layout(facts: Facts) -> dict[str, str]:
    options = facts.schema.options
    dynamic = "dynamic" if facts.schema.primary_keys else "unaware"
    number = options.get("bucket", "-1")
    found = {
        "primary key": ", ".join(facts.schema.primary_keys),
        "partitioned by": ", ".join(facts.schema.partition_keys),
        "buckets": {"-1": dynamic, "-2": "postpone"}.get(number, number),
        "bucket key": options.get("bucket-key", ""),
        "merge engine": options.get("merge-engine", "deduplicate") if facts.schema.primary_keys else "",
        "sequence field": options.get("sequence.field", ""),
        "file format": options.get("file.format", ""),
        "deletion vectors": options.get("deletion-vectors.enabled", ""),
        "write only": options.get("write-only", ""),
    }
    return {name: value for name, value in found.items() if value}


def keeps(facts: Facts) -> Iterable[str]:
    """What keeps table snapshots, one sentence per reason."""
    options = facts.schema.options
    least = options.get("snapshot.num-retained.min", str(RETAIN_MIN))
    most = options.get("snapshot.num-retained.max")
    young = options.get("snapshot.time-retained", "1 h")
    yield (
        f"A commit expires table snapshots older than {young} (snapshot.time-retained), but keeps at least {least} "
        "(snapshot.num-retained.min)" + (f" and at most {most} (snapshot.num-retained.max)." if most else ".")
    )
    if options.get("write-only", "").lower() == "true":
        yield "With write-only, commits expire nothing; use expire_snapshots or a maintenance policy."
    for name, number in sorted(facts.consumers.items()):
        yield f"The consumer {name} reads table snapshot {number} next: it and later ones stay."
    for name, number in sorted(facts.tags.items(), key=lambda tag: tag[1]):
        yield f"The tag {name} keeps the rows of table snapshot {number}."


def condition(facts: Facts, table: Mapping[str, Any], node: str, name: str, has_policy: bool, now: float) -> Condition:
    """The input of the rules. `table`: the result of `figures`; the others are attributes of `Condition`."""
    buckets: Sequence[Bucket] = table["buckets"]
    rows, sizes = _by_partition(buckets, "rows"), _by_partition(buckets, "bytes")
    enough = float(LIMITS["bucket_skew"]["min_rows"])
    first = next(iter(facts.snapshots), None)
    return Condition(
        node=node,
        table=name,
        has_policy=has_policy,
        is_keyed=bool(facts.schema.primary_keys),
        files=table["files"],
        small_files=table["small_files"],
        most_small_files=max((each.small_files for each in buckets if each.files > 1), default=0),
        sorted_runs=table["sorted_runs"],
        largest_bucket=max((each.bytes for each in buckets), default=0),
        skew=max((each.skew for each in buckets if rows[each.partition] >= enough), default=0.0),
        partitions=table["partitions"],
        fixed_buckets=_fixed_buckets(facts),
        largest_partition=max(sizes.values(), default=0),
        snapshots=len(facts.snapshots),
        oldest_snapshot=now - first.at if first else 0,
        time_retained=_seconds(facts.schema.options.get("snapshot.time-retained", "")),
        now=now,
        least_snapshots=int(facts.schema.options.get("snapshot.num-retained.min", RETAIN_MIN)),
        consumers=tuple(sorted(each for each, number in facts.consumers.items() if first and number <= first.snapshot)),
    )


def _seconds(duration: str) -> float:
    try:
        return parse_duration(duration) / 10**9
    except ValueError:
        return 0


def _by_partition(buckets: Iterable[Bucket], figure: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in buckets:
        found[each.partition] += getattr(each, figure)
    return found


def consumers(facts: Facts, name: str) -> tuple[Reader, ...]:
    """A table's consumers as readers."""
    known = tuple(map(TableSnapshot.of, facts.snapshots))
    return tuple(
        Reader(each, "consumer", name, str(number - 1), *behind(known, number - 1))
        for each, number in sorted(facts.consumers.items())
    )


def behind(snapshots: Sequence[TableSnapshot], read: int) -> tuple[int, int]:
    """The number of row-changing table snapshots after `read`, and the number of their rows."""
    new = [each for each in snapshots if each.number > read and each.kind in ("APPEND", "OVERWRITE")]
    return len(new), sum(abs(each.added) for each in new)


def connected(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Compute how far readers are behind, and add each of them to the table that it reads."""
    snapshots = {table.name: table.snapshots for table in tables}
    known = {table.node: tuple(_placed(each, snapshots.get(each.source)) for each in table.reads) for table in tables}
    readers: dict[str, list[Reader]] = defaultdict(list)
    for table in tables:
        for each in known[table.node]:
            readers[each.source].append(each)
    return tuple(
        replace(table, reads=known[table.node], readers=(*table.readers, *readers[table.name])) for table in tables
    )


def _placed(reader: Reader, snapshots: Sequence[TableSnapshot] | None) -> Reader:
    if snapshots is None or not reader.position.isdecimal():
        return reader
    missing, rows = behind(snapshots, int(reader.position))
    return replace(reader, behind=missing, rows_behind=rows)
