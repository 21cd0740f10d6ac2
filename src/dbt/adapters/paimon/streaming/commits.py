"""Marks the commits of each batch in their commit user, to find out which batches a table contains.

Structured Streaming repeats a batch whose end it did not record. Paimon stores `commit.user-prefix` in the snapshot of
a commit (CoreOptions.createCommitUser), so a batch that was committed is recognized and not written again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.state.kinds import Kind, refuse_newer_mark

_PREFIX: Final = Kind.BATCH_MARK.value
# Seconds by which the clocks of the file system and of this machine may differ.
_CLOCK_SKEW: Final = 120


def mark(stream: str, batch: int) -> str:
    """The commit user of a batch."""
    return f"{_PREFIX}-{stream}.{batch}"


def newest_batch(commits: Sequence[Commit], stream: str) -> int:
    """The batch that a stream wrote last, or -1. `commits`: of the table, the oldest first."""
    own = re.compile(rf"{re.escape(f'{_PREFIX}-{stream}.')}(\d+)_")
    # Not the greatest number: a stream whose older checkpoint was restored wrote some numbers twice.
    return next((int(found[1]) for commit in reversed(commits) if (found := own.match(commit.user))), -1)


def is_written(
    commits: Sequence[Commit], stream: str, batch: int, begun_ago: float, *, table: object, may_repeat: bool
) -> bool:
    """Whether a batch is in a table.

    Args:
        commits: the table's commits, the oldest first.
        begun_ago: seconds since the batch began. No commit since then has expired if the table still has its first
            commit, one older than the batch, or one of an earlier batch.
        table: the table, for messages.
        may_repeat: whether writing the batch twice has the same result as writing it once.

    Raises:
        NewerStateError: a newer adapter has written batches.
        DbtRuntimeError: it is unknown whether the batch was written, and it must not be written twice.
    """
    for commit in commits:
        refuse_newer_mark(Kind.BATCH_MARK, commit.user, table)
    if any(commit.user.startswith(f"{mark(stream, batch)}_") for commit in commits):
        return True
    all_known = not commits or commits[0].snapshot == 1 or commits[0].age > begun_ago + _CLOCK_SKEW
    # The oldest table snapshots expire first. If a commit of an earlier batch is left, no later one has expired.
    if all_known or may_repeat or 0 <= newest_batch(commits, stream) < batch:
        return False
    raise DbtRuntimeError(
        f"It is unknown whether batch {batch} is in {table}: the run that wrote it was killed, and table "
        "snapshots since then have expired. Writing it again could duplicate its rows. Run the model once "
        "with --full-refresh, and keep table snapshots for longer than the stream may be down (snapshot_retention)."
    )
