"""Commit conflicts: how to recognize them, and which statements may be repeated after one.

When it commits, Paimon checks that the files which a statement replaces still exist (FileStoreCommitImpl,
noConflictsOrFail). If not, nothing of that commit is written. But a statement whose writers compact while they write
commits twice, its rows first, and the second commit may be the one that failed. So only statements that give the same
result when they run twice are repeated.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Seconds between attempts; each is randomly stretched by up to half, so that two writers do not collide again.
BACK_OFF: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

# Source: FileStoreCommitImpl.createConflictException, tryCommit (from 1.0); PaimonCommand.createNewRelation, because
# MERGE, UPDATE and DELETE list a table's files twice; FileUtils for a file that expired while it was read;
# StrictModeChecker (see `spark.sorted_compaction`).
SIGNS: Final = re.compile(
    r"conflicts detected! Give up committing|Commit failed after \d+ millis with \d+ retries"
    r"|RuntimeException: Missing file: |snapshot expires too fast|Giving up committing as commit\.strict-mode"
)

# Merge engines and aggregate functions for which writing the same row again changes nothing.
_IDEMPOTENT_ENGINES: Final = frozenset({"deduplicate", "first-row", "partial-update"})
# Source: the aggregators of org.apache.paimon.mergetree.compact.aggregate; the others count or collect.
_IDEMPOTENT_AGGREGATES: Final = frozenset(
    {
        *("max", "min", "bool_and", "bool_or", "last_value", "last_non_null_value"),
        *(
            "first_value",
            "first_non_null_value",
            "primary-key",
            "hll_sketch",
            "theta_sketch",
            "rbm32",
            "rbm64",
        ),
    }
)

# Kinds of statements: the strategies of incremental models, and what the other materializations write.
REBUILD: Final = "rebuild"
SNAPSHOT: Final = "snapshot"
_BY_KIND: Final[Mapping[str, bool]] = MappingProxyType(
    {
        REBUILD: True,  # INSERT OVERWRITE
        SNAPSHOT: True,  # MERGE by dbt_scd_id
        "merge": True,  # by unique_key
        "delete+insert": True,
        "insert_overwrite": True,
        "microbatch": True,
        "apply_changes": True,  # like upsert on deduplicate
        "append": False,  # would add the rows twice
    }
)
# Procedures that only clean up.
REPEATED_PROCEDURES: Final = frozenset(
    {"compact", "expire_snapshots", "expire_partitions", "remove_orphan_files"}
)


def is_conflict(text: str) -> bool:
    """Whether a Spark error, with all its causes, says that another writer committed first."""
    return SIGNS.search(text) is not None


def may_repeat(kind: str, merge_engine: str, options: Mapping[str, str]) -> bool:
    """Whether a statement may be repeated after a conflict.

    Args:
        kind: a strategy, REBUILD or SNAPSHOT; an unknown kind may not.
        merge_engine: that of the target table; empty without a primary key.
        options: the table's options, by Paimon's names.
    """
    if kind in ("upsert", "partial_update"):
        return _upserts_alike(merge_engine, options)
    return _BY_KIND.get(kind, False)


def pause(seconds: float) -> float:
    """One of the seconds in BACK_OFF, randomly stretched."""
    return seconds * (1 + random.random() / 2)  # noqa: S311 - not used for security


def _upserts_alike(merge_engine: str, options: Mapping[str, str]) -> bool:
    if merge_engine not in (*_IDEMPOTENT_ENGINES, "aggregation"):
        return False
    aggregates = {value for name, value in options.items() if name.endswith("aggregate-function")}
    return aggregates <= _IDEMPOTENT_AGGREGATES
