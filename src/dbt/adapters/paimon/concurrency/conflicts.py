"""Commit conflicts: how to recognize them, and which statements may be repeated after one.

On commit, Paimon checks that the files which a statement replaces still exist (FileStoreCommitImpl,
noConflictsOrFail); if not, it aborts the commit. But if the writers also compact, a statement commits its rows first
and the compaction second, and perhaps only the second commit failed. So only idempotent statements are repeated.
"""

from __future__ import annotations

import random
import re
from typing import Final

# Seconds between attempts. Random jitter of up to 50 % is added, so that two writers do not collide again.
BACK_OFF: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

# Sources: FileStoreCommitImpl.createConflictException and tryCommit (from 1.0); PaimonCommand.createNewRelation (MERGE,
# UPDATE and DELETE list a table's files twice); FileUtils (a file expired while it was read); StrictModeChecker (see
# `spark.sorted_compaction`).
SIGNS: Final = re.compile(
    r"conflicts detected! Give up committing|Commit failed after \d+ millis with \d+ retries"
    r"|RuntimeException: Missing file: |snapshot expires too fast|Giving up committing as commit\.strict-mode"
)

# Statement kinds other than the incremental strategies.
REBUILD: Final = "rebuild"
SNAPSHOT: Final = "snapshot"
REFRESH: Final = "refresh"
# Idempotent procedures.
REPEATED_PROCEDURES: Final = frozenset({"compact", "expire_snapshots", "expire_partitions", "remove_orphan_files"})


def is_conflict(text: str) -> bool:
    """Whether the text of a Spark error and its causes means that another writer committed first."""
    return SIGNS.search(text) is not None


def pause(seconds: float) -> float:
    """Add random jitter to a pause of BACK_OFF."""
    return seconds * (1 + random.random() / 2)  # noqa: S311 - not used for security
