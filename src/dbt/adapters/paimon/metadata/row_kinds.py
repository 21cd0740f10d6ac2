"""Counts the keys that an upsert inserted and updated, from its commit's changelog.

With the changelog producers `lookup` and `full-compaction` Paimon looks up each key's old row, and writes `+I` for a
new key, or `-U` and `+U` for an existing one. The metadata of a changelog file has the number of its retractions
(DataFileMeta.deleteRowCount, from Paimon 0.9), so only manifests are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.metadata.classes import deleting_rows, manifest_entries
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit

# With this option the changelog omits updates that change nothing.
_DEDUPLICATES: Final = "changelog-producer.row-deduplicate"
_MAX_FILES: Final = 1000
# Kinds of statements that run a MERGE.
_MERGES: Final = frozenset({"merge", "snapshot"})


@dataclass(frozen=True)
class RowKinds:
    """Inserted and updated keys of a commit; None where unknown."""

    inserted: int | None = None
    updated: int | None = None


UNKNOWN: Final = RowKinds()


def by_changelog(
    jvm: Any, paimon: Any, commit: Commit, after: Commit | None, rows: int | None, deleted: int | None
) -> RowKinds:
    """Count the keys that a commit inserted and updated, from its changelog.

    The changelog may be in the compaction of the same write instead.

    Args:
        paimon: Paimon's Table object.
        after: the next commit.
        rows: rows in the data files that the commit added; `deleted` of them delete a key.
    """
    producer = paimon.coreOptions().changelogProducer().toString()
    holder = _with_changelog(commit, after)
    if rows is None or deleted != 0 or producer not in ("lookup", "full-compaction") or holder is None:
        return UNKNOWN
    entries = manifest_entries(jvm, paimon, holder.snapshot, "CHANGELOG")
    if entries.size() > _MAX_FILES:
        return UNKNOWN
    files = [entry.file() for entry in entries]
    if (retracting := deleting_rows(files)) is None:
        return UNKNOWN
    deduplicates = str(paimon.options().get(_DEDUPLICATES)).lower() == "true"
    return counted(sum(file.rowCount() for file in files), retracting, rows, may_be_less=deduplicates)


def counted(changes: int, retracting: int, rows: int, *, may_be_less: bool) -> RowKinds:
    """The inserted and updated keys of a commit without deletes.

    Unknown if the changelog covers other commits, or a key occurred twice.

    Args:
        changes: rows of its changelog.
        retracting: the number of `-U` among `changes`; there is no `-D`.
        rows: rows in the added data files.
        may_be_less: whether the changelog omits updates that change nothing.
    """
    inserted = changes - 2 * retracting
    keys = inserted + retracting
    if inserted < 0 or keys > rows or (keys < rows and not may_be_less):
        return UNKNOWN
    return RowKinds(inserted, updated=retracting)


def grows_by_inserts(kind: str, properties: Mapping[str, str], *, deletes: bool) -> bool:
    """Whether a table grows by exactly the inserted rows: true for a MERGE without deletes into a table without a key.

    False with deletion vectors (in the table's `properties`), because files then keep the old versions of updated rows.
    """
    rewrites = "primary-key" not in properties and properties.get("deletion-vectors.enabled") != "true"
    return kind in _MERGES and rewrites and not deletes


def _with_changelog(commit: Commit, after: Commit | None) -> Commit | None:
    """The commit that has the changelog: this one, or the compaction that the same write committed next."""
    if commit.changelog:
        return commit
    same = after is not None and after.user == commit.user and after.kind == COMPACT
    return after if same and after is not None and after.changelog else None
