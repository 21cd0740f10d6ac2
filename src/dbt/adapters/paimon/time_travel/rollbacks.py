"""Losses by a rollback: data files in use, and tags. Runs no statement.

RollbackHelper.cleanSnapshotsDataFiles (0.9.0 to 1.1.1) deletes every file that a later table snapshot added. A
compaction that only changes a file's level (DataFileMeta.upgrade) adds it again under its old name. So a rollback
deletes the file, and rows of the state to which it rolls back [ran, 0.9.0].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.paimon.changes.reading import TAG
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.time_travel import audits

_COMPACT = "COMPACT"


@dataclass(frozen=True)
class Commit:
    """A table snapshot."""

    number: int
    kind: str


def commits_sql(relation: PaimonRelation) -> str:
    """The query of the table snapshots as (number, kind), oldest first."""
    return f"select snapshot_id, commit_kind from {relation.system_table('snapshots')} order by snapshot_id"


def tagged_sql(relation: PaimonRelation, tag: str) -> str:
    """The query of the number of a tag's table snapshot."""
    return f"select snapshot_id from {relation.system_table('tags')} where tag_name = {string_literal(tag)}"


def states(version: str, number: int, commits: Sequence[Commit]) -> list[tuple[str, int]]:
    """The states with the rows of `version`, each with its number: itself, and the last compaction right after it."""
    found = [(version, number)]
    for commit in commits:
        if commit.number == found[-1][1] + 1 and commit.kind == _COMPACT:
            found.append((str(commit.number), commit.number))
    return [found[0], *found[1:][-1:]]


def lost_files_sql(relation: PaimonRelation, version: str, number: int, commits: Sequence[Commit]) -> str:
    """The query of the number of a state's files that a rollback to it would delete; '' without a later compaction."""
    later = [commit.number for commit in commits if commit.number > number and commit.kind == _COMPACT]
    if not later:
        return ""
    files = relation.system_table("files")
    lifted = "\n  union all ".join(f"select file_path, level from {files} version as of {n}" for n in later)
    state = version if version == str(number) else string_literal(version)
    return (
        "select count(distinct kept.file_path)\n"
        f"from (select file_path, level from {files} version as of {state}) as kept\n"
        f"join (\n  {lifted}\n) as lifted on lifted.file_path = kept.file_path and lifted.level <> kept.level"
    )


def later_tags_sql(relation: PaimonRelation, version: str) -> str:
    """The query of the tags on later table snapshots, which a rollback deletes (RollbackHelper.cleanTags)."""
    tags = relation.system_table("tags")
    number = version
    if not version.isdigit():
        number = f"(select snapshot_id from {tags} where tag_name = {string_literal(version)})"
    return f"select tag_name from {tags} where snapshot_id > {number} order by snapshot_id, tag_name"


def lost_tags(relation: PaimonRelation, version: str, tags: Sequence[str]) -> str:
    """The error message about tags of users that a rollback would delete; empty if there are none."""
    if not (users := [tag for tag in tags if tag != audits.BRANCH and not tag.startswith(f"{TAG}_")]):
        return ""
    return (
        f"rollback_to({relation}, '{version}'): would delete these tags, which are on later table snapshots: "
        f"{', '.join(users)}. Nothing was done. To delete them, add drop_tags: true to the arguments; to keep their "
        f"rows, copy them first: create table … as select * from {relation} version as of {string_literal(users[0])}"
    )


def refusal(relation: PaimonRelation, version: str, files: int) -> str:
    """The error message about a rollback that would lose rows."""
    state = version if version.isdigit() else string_literal(version)
    return (
        f"rollback_to({relation}, '{version}'): a compaction came after it, and this version of Paimon (before 1.2) "
        f"would delete {files} data file(s) that it shares with that compaction, and their rows. Nothing was done. "
        f"Write its rows again (insert overwrite {relation} select * from {relation} version as of {state}), or use "
        "Paimon 1.2."
    )
