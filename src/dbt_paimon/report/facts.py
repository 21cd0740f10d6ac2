"""What Paimon's metadata says of a table, as read: piles of files, table snapshots, tags, consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.paimon.maintenance.plan import partition_values


@dataclass(frozen=True)
class FileGroup:
    """The data files of one level in one bucket of a partition.

    Attributes:
        partition: as the reader names it; '' without partitions.
        bucket, level: their numbers.
        files: how many.
        small_files: those of them that a compaction would merge.
        rows: before merging.
        bytes: their size.
    """

    partition: str
    bucket: int
    level: int
    files: int
    small_files: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class TableSnapshot:
    """A commit of a table; rows are those in its data files, before merging, and None where Paimon did not count.

    Attributes:
        number: its id.
        kind: APPEND, OVERWRITE, COMPACT or ANALYZE.
        user: the commit user.
        at: seconds since the epoch.
        total, added, changelog: rows of the table, of the commit, and of its changelog.
    """

    number: int
    kind: str
    user: str
    at: float
    total: int | None = None
    added: int | None = None
    changelog: int | None = None


@dataclass(frozen=True)
class Facts:
    """All that is read of a table.

    Attributes:
        primary_key, partition_by, options, comment: of its newest schema.
        piles: its data files.
        snapshots: oldest first.
        tags: name -> table snapshot.
        consumers: name -> the table snapshot that it reads next.
        statements: how many were sent to Spark to read this.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    piles: tuple[FileGroup, ...] = ()
    snapshots: tuple[TableSnapshot, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)
    consumers: Mapping[str, int] = field(default_factory=dict)
    statements: int = 0


def partition_name(text: str, partition_by: Sequence[str], types: Mapping[str, str]) -> str:
    """A partition in every version and way of reading alike: `day=2024-01-01/hour=1`; '' without partitions.

    Args:
        text: as Paimon writes it.
        partition_by: the columns.
        types: column -> type, in lower case.
    """
    if not partition_by:
        return ""
    values = partition_values(text, partition_by, types)
    return "/".join(f"{name}={value}" for name, value in values.items()) if values else text
