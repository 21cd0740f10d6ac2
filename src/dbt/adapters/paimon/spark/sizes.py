"""Size and bucket count of a table, by Paimon's own classes in this process: no Spark job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

# Rows per bucket below which a table needs no more buckets. The total is in the table snapshot, sizes in manifests.
_FEW_ROWS: Final = 100_000


@dataclass(frozen=True)
class Size:
    """A table with fixed buckets: buckets per partition, and bytes of its largest partition."""

    buckets: int
    largest_partition: int


def of_table(table: Any) -> Size | None:
    """The size of a table (Paimon's object); None if it has no fixed buckets, or is small."""
    buckets = int(table.coreOptions().bucket())
    snapshot = table.snapshotManager().latestSnapshot()
    if buckets < 1 or snapshot is None or (snapshot.totalRecordCount() or 0) < _FEW_ROWS * buckets:
        return None
    return Size(buckets, largest_partition(table) or 0)


def largest_partition(table: Any) -> int | None:
    """Bytes of a table's largest partition, or of all its files; None without files."""
    entries = table.store().newScan().readPartitionEntries()
    return max((int(entry.fileSizeInBytes()) for entry in entries if entry.fileCount() > 0), default=None)
