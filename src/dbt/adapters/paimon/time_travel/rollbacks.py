"""Checks what a rollback would lose: data files in use, and tags. Runs no statement.

RollbackHelper.cleanSnapshotsDataFiles (0.9.0 to 1.1.1) deletes every file that a later table snapshot added. A
compaction that only changes a file's level (DataFileMeta.upgrade) adds the file again under its old name. So a rollback
deletes that file, and with it rows of the state to which it rolls back [ran, 0.9.0].
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.paimon.changes.sources import TAG
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.time_travel import audits


def states(version: str, number: int, commits: Sequence[Commit]) -> list[tuple[str, int]]:
    """Each state with the rows of `version`, as (state, number).

    These are `version` itself, and the last of the compactions that directly follow it.
    """
    found = [(version, number)]
    for commit in commits:
        if commit.snapshot == found[-1][1] + 1 and commit.kind == COMPACT:
            found.append((str(commit.snapshot), commit.snapshot))
    return [found[0], *found[1:][-1:]]


def later_compactions(number: int, commits: Sequence[Commit]) -> list[int]:
    """The numbers of the compactions after a table snapshot."""
    return [commit.snapshot for commit in commits if commit.snapshot > number and commit.kind == COMPACT]


def lost_tags(relation: PaimonRelation, version: str, tags: Sequence[str]) -> str:
    """The error message about users' tags that a rollback would delete, or empty."""
    if not (users := [tag for tag in tags if tag != audits.BRANCH and not tag.startswith(f"{TAG}_")]):
        return ""
    return (
        f"rollback_to({relation}, '{version}') would delete these tags, which are on later table snapshots: "
        f"{', '.join(users)}. Nothing was done. To delete them, add drop_tags: true to the arguments. To keep their "
        f"rows, copy them first: create table … as select * from {relation} version as of {string_literal(users[0])}"
    )


def other_buckets(relation: PaimonRelation, version: str, then: int, now: int) -> str:
    """The error message about a state whose files have another number of buckets than the table, or empty.

    RollbackHelper (0.9.0 to 2.0.0) changes no schema, so the files would not fit the option `bucket`.
    """
    if then == now:
        return ""
    table = ".".join(relation.parts)
    return (
        f"rollback_to({relation}, '{version}'): this state has {then} bucket(s) and the table now has {now}, "
        "which a rollback does not change. Nothing was done. First give the table that number again, then roll it "
        f"back: dbt run-operation rescale --args '{{relation: {table}, bucket_num: {then}}}', and then "
        f"dbt run-operation rollback_to --args '{{relation: {table}, version: {version}}}'"
    )


def refusal(relation: PaimonRelation, version: str, files: int) -> str:
    """The error message about a rollback that would lose rows."""
    state = version if version.isdigit() else string_literal(version)
    return (
        f"rollback_to({relation}, '{version}'): a compaction followed, and this version of Paimon (before 1.2) would "
        f"delete {files} data file(s) that the compaction shares with this state, and their rows. Nothing was done. "
        f"Write the rows again (insert overwrite {relation} select * from {relation} version as of {state}), or use "
        "Paimon 1.2. If the table is a model that calls paimon_changes, run it with --full-refresh instead."
    )
