"""The data files of a table's newest table snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.metadata.table_name import Query, Table
from dbt.adapters.paimon.sql.text import string_literal

# A table with fewer rows per bucket needs no more buckets. The snapshot has its row count, so no manifest is read.
_FEW_ROWS: Final = 100_000


@dataclass(frozen=True)
class FileTotals:
    """Totals of a table's files: sizes in bytes, rows before merging.

    Attributes:
        level_0: bytes in level 0.
        largest_partition: bytes of the largest partition; None without files.
    """

    rows: int
    bytes: int
    level_0: int
    largest_partition: int | None


def totals(query: Query, table: Table) -> FileTotals:
    """Read the totals of a table's files, with one statement."""
    ((rows, size, level_0, largest),) = query(
        "select cast(coalesce(sum(row_count), 0) as bigint), cast(coalesce(sum(byte_count), 0) as bigint), "
        "cast(coalesce(sum(level_0), 0) as bigint), cast(max(byte_count) as bigint)\n"
        "from (select sum(record_count) as row_count, sum(file_size_in_bytes) as byte_count, "
        "sum(if(level = 0, file_size_in_bytes, 0)) as level_0\n"
        f"  from {table.system_table('files')} group by partition)"
    )
    return FileTotals(int(rows), int(size), int(level_0), None if largest is None else int(largest))


def fixed_buckets(table: Any) -> tuple[int, int] | None:
    """The number of a table's buckets, and the bytes of its largest partition.

    None if the number is not fixed, or the table is small. `table` is Paimon's Table object.
    """
    buckets = int(table.coreOptions().bucket())
    snapshot = table.snapshotManager().latestSnapshot()
    if buckets < 1 or snapshot is None or (snapshot.totalRecordCount() or 0) < _FEW_ROWS * buckets:
        return None
    return buckets, largest_partition(table) or 0


def largest_partition(table: Any) -> int | None:
    """Bytes of a table's largest partition, read from Paimon's Table object; None without files."""
    entries = table.store().newScan().readPartitionEntries()
    return max((int(entry.fileSizeInBytes()) for entry in entries if entry.fileCount() > 0), default=None)


def schema_ids(query: Query, table: Table) -> set[int]:
    """The ids of the schemas with which a table's files were written."""
    return {int(row[0]) for row in query(f"select distinct schema_id from {table.system_table('files')}")}


def differing_partitions(query: Query, before: str, after: str) -> list[tuple[str, bool]]:
    """Each partition, as in `$files`, and whether its files differ between two states (see `state`)."""
    rows = query(
        "select `partition`, max(differs) from (\n"
        "  select `partition`, sum(sign) <> 0 as differs from (\n"
        f"    select `partition`, file_path, -1 as sign from {before}\n    union all\n"
        f"    select `partition`, file_path, 1 as sign from {after}\n"
        "  ) group by `partition`, file_path\n) group by `partition`"
    )
    return [(str(text), bool(differs)) for text, differs in rows]


def state(table: Table, travel: str) -> str:
    """`$files` of a table in some state, for a FROM clause; `travel` is a clause such as VERSION AS OF, or ''."""
    return f"{table.system_table('files')} {travel}"


def names(query: Query, state: str) -> set[str]:
    """The names of the files in a state (see `state`), without folders."""
    return {file_name(str(path)) for (path,) in query(f"select file_path from {state}")}


def file_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def lost_by_rollback(query: Query, table: Table, version: str | int, compactions: Sequence[int]) -> int:
    """Count the files of a state that a rollback to that state deletes, because a later compaction changed their level.

    Args:
        version: the state: a tag, or the ID of a table snapshot.
        compactions: the IDs of later table snapshots that are compactions; if it is empty, no query is sent.
    """
    if not compactions:
        return 0
    state_of = "select file_path, level from {} version as of {}".format
    files = table.system_table("files")
    lifted = "\n  union all ".join(state_of(files, number) for number in compactions)
    kept = state_of(files, version if isinstance(version, int) else string_literal(version))
    ((count,),) = query(
        f"select count(distinct kept.file_path)\nfrom ({kept}) as kept\n"
        f"join (\n  {lifted}\n) as lifted on lifted.file_path = kept.file_path and lifted.level <> kept.level"
    )
    return int(count)
