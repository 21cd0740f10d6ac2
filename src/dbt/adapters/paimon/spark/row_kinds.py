"""Inserts apart from updates, where a commit's changelog tells them.

An upsert knows neither. With `changelog-producer` `lookup` or `full-compaction` Paimon compares each key with its old
row, and writes `+I` for a new key and `-U`, `+U` for an old one; a changelog file says how many of its rows retract
(DataFileMeta.deleteRowCount, from Paimon 0.9). In this process no rows are read, only manifests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_COMPARING: Final = frozenset({"lookup", "full-compaction"})
# An update without a change is no row of the changelog.
_DEDUPLICATES: Final = "changelog-producer.row-deduplicate"
_MOST_FILES: Final = 1000
# Kinds of statements that are a MERGE.
_MERGES: Final = frozenset({"merge", "snapshot"})


@dataclass(frozen=True)
class RowKinds:
    """The rows of a commit by what became of their keys; None where it is not known.

    Attributes:
        inserted: keys that were not there.
        updated: keys that were there.
    """

    inserted: int | None = None
    updated: int | None = None


UNKNOWN: Final = RowKinds()


def by_changelog(
    jvm: Any, paimon: Any, snapshots: Any, snapshot: Any, rows: int | None, deleted: int | None
) -> RowKinds:
    """Read the changelog of a commit, or of the compaction in the same write, which has it.

    Args:
        jvm: the JVM.
        paimon: Paimon's own object of the table.
        snapshots: its snapshot manager.
        snapshot: its own object of the commit's table snapshot.
        rows: rows in the data files that the commit added.
        deleted: of these, the rows that delete a key.
    """
    if rows is None or deleted != 0:
        return UNKNOWN
    options = paimon.coreOptions()
    if options.changelogProducer().toString() not in _COMPARING:
        return UNKNOWN
    holder = _with_changelog(snapshots, snapshot)
    if holder is None:
        return UNKNOWN
    kind = jvm.org.apache.paimon.table.source.ScanMode.CHANGELOG
    entries = paimon.store().newScan().withSnapshot(holder.id()).withKind(kind).plan().files()
    if entries.size() > _MOST_FILES:
        return UNKNOWN
    changes = retracting = 0
    for entry in entries:
        retracts = entry.file().deleteRowCount()
        if not retracts.isPresent():
            return UNKNOWN
        changes += entry.file().rowCount()
        retracting += retracts.get()
    deduplicates = str(paimon.options().get(_DEDUPLICATES)).lower() == "true"
    return counted(changes, retracting, rows, may_be_less=deduplicates)


def counted(changes: int, retracting: int, rows: int, *, may_be_less: bool) -> RowKinds:
    """The kinds of a commit that deletes no key.

    Args:
        changes: rows of its changelog.
        retracting: of these, `-U`: there is no `-D`.
        rows: rows in the data files that it added.
        may_be_less: whether the changelog leaves out updates that change nothing.

    Returns:
        Unknown if the changelog is of other commits too, or a key came several times.
    """
    updated = retracting
    inserted = changes - 2 * retracting
    keys = inserted + updated
    if inserted < 0 or keys > rows or (keys < rows and not may_be_less):
        return UNKNOWN
    return RowKinds(inserted, updated)


def grows_by_inserts(kind: str, properties: Mapping[str, str], *, deletes: bool) -> bool:
    """Whether a table grows by exactly what a statement inserts: a MERGE without deletes, on a table without keys.

    Args:
        kind: the kind of statement.
        properties: the table's, by Paimon's names. Deletion vectors leave the old rows of updates in their files.
        deletes: whether the statement may delete rows.
    """
    rewrites = "primary-key" not in properties and properties.get("deletion-vectors.enabled") != "true"
    return kind in _MERGES and rewrites and not deletes


def _with_changelog(snapshots: Any, snapshot: Any) -> Any:
    """Of a commit and the compaction that the same write committed after it, the one that has a changelog."""
    if snapshot.changelogRecordCount():
        return snapshot
    follows = snapshot.id() + 1
    if follows > snapshots.latestSnapshotId():
        return None
    after = snapshots.snapshot(follows)
    same = after.commitUser() == snapshot.commitUser() and after.commitKind().toString() == "COMPACT"
    return after if same and after.changelogRecordCount() else None
