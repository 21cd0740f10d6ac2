"""Raw table metadata: file groups, snapshots, tags, consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.paimon.maintenance.plan import partition_values


@dataclass(frozen=True)
class FileGroup:
    """The data files of one level in one bucket of a partition.

    Attributes:
        partition: as `partition_name` writes it.
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
class TableSnapshot:
    """A commit of a table.

    Attributes:
        kind: APPEND, OVERWRITE, COMPACT or ANALYZE.
        at: seconds since the epoch.
        total, added, changelog: rows in data files, before merging, of the table, the commit and its changelog;
            None: not counted.
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
    """The metadata of a table, with its newest schema.

    Attributes:
        snapshots: oldest first.
        tags: name -> table snapshot.
        consumers: name -> the next table snapshot to read.
        statements: statements that were sent to Spark for this.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    groups: tuple[FileGroup, ...] = ()
    snapshots: tuple[TableSnapshot, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)
    consumers: Mapping[str, int] = field(default_factory=dict)
    statements: int = 0


def partition_name(text: str, partition_by: Sequence[str], types: Mapping[str, str]) -> str:
    """Normalize a partition of any Paimon version to `day=2024-01-01/hour=1`; `types` are in lower case."""
    if not partition_by:
        return ""
    values = partition_values(text, partition_by, types)
    return "/".join(f"{name}={value}" for name, value in values.items()) if values else text
