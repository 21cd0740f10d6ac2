"""What a rollback would lose: data files that are still needed, and tags. Runs no statement.

RollbackHelper.cleanSnapshotsDataFiles (0.9.0 to 1.1.1) deletes every file that a later table snapshot added. A
compaction that only moves a file to another level (DataFileMeta.upgrade) adds it again under its old name: the rollback
deletes the file, and with it rows of the table snapshot that it goes back to [ran, 0.9.0].
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
    """The query of the table snapshots: (number, kind), oldest first."""
    return f"select snapshot_id, commit_kind from {relation.system_table('snapshots')} order by snapshot_id"


def tagged_sql(relation: PaimonRelation, tag: str) -> str:
    """The query of the number of a tag's table snapshot; no row if there is no such tag."""
    return f"select snapshot_id from {relation.system_table('tags')} where tag_name = {string_literal(tag)}"


def states(version: str, number: int, commits: Sequence[Commit]) -> list[tuple[str, int]]:
    """The states with the wanted rows: (what to roll back to, its number).

    Args:
        version: the wanted table snapshot or tag.
        number: the number of its table snapshot.
        commits: the table's commits, in order.

    Returns:
        The wanted state, and then the last of the compactions that directly follow it, if any: they change no row.
    """
    found = [(version, number)]
    for commit in commits:
        if commit.number == found[-1][1] + 1 and commit.kind == _COMPACT:
            found.append((str(commit.number), commit.number))
    return [found[0], *found[1:][-1:]]


def lost_files_sql(relation: PaimonRelation, version: str, number: int, commits: Sequence[Commit]) -> str:
    """The query of how many files of a state a rollback to it would delete; empty without a later compaction."""
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
    """The query of the tags that a rollback deletes: those on later table snapshots (RollbackHelper.cleanTags)."""
    tags = relation.system_table("tags")
    number = version
    if not version.isdigit():
        number = f"(select snapshot_id from {tags} where tag_name = {string_literal(version)})"
    return f"select tag_name from {tags} where snapshot_id > {number} order by snapshot_id, tag_name"


def lost_tags(relation: PaimonRelation, version: str, tags: Sequence[str]) -> str:
    """The message about a rollback that would delete tags which users made; empty if there are none."""
    if not (users := [tag for tag in tags if tag != audits.BRANCH and not tag.startswith(f"{TAG}_")]):
        return ""
    return (
        f"rollback_to({relation}, '{version}'): would delete these tags, which are on later table snapshots: "
        f"{', '.join(users)}. Nothing was done. To delete them, add drop_tags: true to the arguments; to keep their "
        f"rows, copy them first: create table … as select * from {relation} version as of {string_literal(users[0])}"
    )


def refusal(relation: PaimonRelation, version: str, files: int) -> str:
    """The message about a rollback that would lose rows."""
    state = version if version.isdigit() else string_literal(version)
    return (
        f"rollback_to({relation}, '{version}'): a compaction came after it, and this version of Paimon (before 1.2) "
        f"would delete {files} data file(s) that it shares with that compaction, and their rows. Nothing was done. "
        f"Write its rows again (insert overwrite {relation} select * from {relation} version as of {state}), or use "
        "Paimon 1.2."
    )
