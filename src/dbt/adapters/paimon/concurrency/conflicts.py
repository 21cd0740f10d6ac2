"""Commit conflicts: how to recognize them, and which statements may be repeated after one.

On commit, Paimon checks that the files which a statement replaces still exist (FileStoreCommitImpl,
noConflictsOrFail); if not, it writes nothing of that commit. But a statement whose writers compact while they write
commits its rows first, and only the second commit may have failed. So only idempotent statements are repeated.
"""

from __future__ import annotations

import random
import re
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

# Kinds of statements of the other materializations, in addition to the incremental strategies.
REBUILD: Final = "rebuild"
SNAPSHOT: Final = "snapshot"
REFRESH: Final = "refresh"
# Procedures that only clean up.
REPEATED_PROCEDURES: Final = frozenset({"compact", "expire_snapshots", "expire_partitions", "remove_orphan_files"})


def is_conflict(text: str) -> bool:
    """Whether a Spark error, with all its causes, means that another writer committed first."""
    return SIGNS.search(text) is not None


def pause(seconds: float) -> float:
    """One of the seconds in BACK_OFF with random jitter."""
    return seconds * (1 + random.random() / 2)  # noqa: S311 - not used for security
