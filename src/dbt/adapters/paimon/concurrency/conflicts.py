"""Commit conflicts: how to recognize them, and which statements may be retried after one.

On commit, Paimon checks that the files which a statement replaces still exist (FileStoreCommitImpl,
noConflictsOrFail); if not, it aborts the commit. But if the writers also compact, a statement commits its rows first
and the compaction second, and perhaps only the second commit failed. So only idempotent statements are retried, and
only if the table has no snapshot with the statement's commit user. A compaction does not count.
"""

from __future__ import annotations

import random
import re
from typing import Final

# Seconds between attempts. Random jitter of up to 50 % is added, so that two writers do not collide again.
BACK_OFF: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

CONFLICT_PATTERN: Final = re.compile(
    # FileStoreCommitImpl.createConflictException.
    r"conflicts detected! Give up committing"
    # FileStoreCommitImpl.tryCommit (from 1.0).
    r"|Commit failed after \d+ millis with \d+ retries"
    # PaimonCommand.createNewRelation. MERGE, UPDATE and DELETE list the files twice; a commit in between removes some.
    r"|RuntimeException: Missing file: "
    # FileUtils: a file expired while it was read.
    r"|snapshot expires too fast"
    # StrictModeChecker (see `spark.sorted_compaction`).
    r"|Giving up committing as commit\.strict-mode"
)

# Statement kinds other than the incremental strategies.
REBUILD: Final = "rebuild"
SNAPSHOT: Final = "snapshot"
REFRESH: Final = "refresh"
IDEMPOTENT_PROCEDURES: Final = frozenset({"compact", "expire_snapshots", "expire_partitions", "remove_orphan_files"})


def is_conflict(text: str) -> bool:
    """Whether a Spark error and its causes show a conflict with another writer, so that a retry may succeed."""
    return CONFLICT_PATTERN.search(text) is not None


def with_jitter(seconds: float) -> float:
    """Add random jitter to a delay from BACK_OFF."""
    return seconds * (1 + random.random() / 2)  # noqa: S311 - not used for security
