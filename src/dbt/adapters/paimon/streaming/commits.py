"""Marks the commits of each batch in their commit user, to find out which batches a table has.

Structured Streaming repeats a batch that it did not see finish. Paimon writes `commit.user-prefix` into the snapshot
of a commit (CoreOptions.createCommitUser): a committed batch is recognized and not written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.spark.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.marks import newest_mark_sql, refuse_newer_version

_WORD: Final = Kind.BATCH_MARK.value
# The greatest difference between the clocks of a file system and of this machine, in seconds.
_CLOCKS_DIFFER: Final = 120


def commit_conf(stream: str, batch: int) -> dict[str, str]:
    """The Spark setting that marks a batch's commits."""
    return {COMMIT_USER_CONF: f"{_WORD}-{stream}.{batch}"}


def commits_sql(snapshots: str, stream: str, batch: int, begun_ago: float) -> str:
    """The query that finds the commits of a batch in a table's `$snapshots`; it began `begun_ago` seconds ago.

    It returns one row: the number of the batch's commits; whether all commits since the batch began still exist, which
    is so if the first commit or one older than the batch exists; the highest version of a newer adapter's mark.
    """
    user = string_literal(f"{_WORD}-{stream}.{batch}_")
    age = clocks.age_in_seconds("min(commit_time)")
    return (
        f"select count_if(startswith(commit_user, {user})),\n"
        f"  coalesce(min(snapshot_id) = 1 or {age} > {begun_ago + _CLOCKS_DIFFER:.0f}, true),\n"
        f"  {newest_mark_sql(Kind.BATCH_MARK, 'commit_user')}\n"
        f"from {snapshots}"
    )


def is_written(row: Sequence[object], table: str, batch: int, may_repeat: bool) -> bool:
    """Whether a batch is in a table.

    Args:
        row: the row of `commits_sql`.
        may_repeat: whether writing the batch twice has the same result as writing it once.

    Raises:
        NewerStateError: a newer adapter has written batches.
        DbtRuntimeError: it is unknown, and the batch must not be written twice.
    """
    count, all_known, newest = row
    refuse_newer_version(Kind.BATCH_MARK, None if newest is None else int(str(newest)), table)
    if count:
        return True
    if all_known or may_repeat:
        return False
    raise DbtRuntimeError(
        f"It is unknown whether batch {batch} is in {table}: the run that wrote it was killed, and table "
        "snapshots since then have expired. Writing it again could duplicate its rows. Run the model once "
        "with --full-refresh, and keep table snapshots for longer than a stream is down (snapshot_retention)."
    )
