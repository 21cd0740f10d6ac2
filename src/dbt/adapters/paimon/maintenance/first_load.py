"""Compaction right after a first load.

A load leaves its files in level 0. The next compaction, triggered by a small batch, would rewrite the whole level
(UniversalCompaction.createUnit). Right after the load, a compaction only changes the level of large files that do not
overlap (MergeTreeCompactTask.upgrade).
"""

from __future__ import annotations

from typing import Final

from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec

# With fewer bytes in level 0, the delay of a later batch would not be noticeable.
LEAST_BYTES: Final = 4 * 2**20


def may_settle(spec: TableSpec) -> bool:
    """Whether a first load leaves files in level 0 that a separate compaction should move.

    False if nothing is merged (no primary key), or if compaction is the task of a different job (`write-only`), makes
    rows visible (postpone buckets), writes a changelog, runs in each writer before its commit (lookup), or runs only
    while writing (see `compaction`).
    """
    return (
        bool(spec.primary_key)
        and spec.compact_after_build
        and spec.merge_engine != "first-row"
        and not spec.is_true("write-only")
        and not spec.is_true("deletion-vectors.enabled")
        and not spec.is_true("force-lookup")
        and spec.options.get("changelog-producer", "none") in ("none", "input")
        and spec.bucket != POSTPONE_BUCKET
        and not spec.moves_keys
    )
