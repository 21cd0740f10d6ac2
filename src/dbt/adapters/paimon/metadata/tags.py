"""The tags, branches and consumers of a table, which keep its snapshots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.paimon.metadata.snapshots import COMPACT
from dbt.adapters.paimon.metadata.table_name import Query, Table
from dbt.adapters.paimon.sql.text import string_literal


@dataclass(frozen=True)
class Tag:
    """A tag: its name, its table snapshot, and the id of the snapshot's schema."""

    name: str
    snapshot: int
    schema_id: int


@dataclass(frozen=True)
class Refs:
    """The names of a table's branches and tags."""

    branches: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LosableHistory:
    """The history that a table loses if it is recreated."""

    snapshots: int
    # How many table snapshots are not compactions.
    writes: int
    tags: Sequence[str] = ()
    branches: Sequence[str] = ()

    @property
    def is_worth_asking(self) -> bool:
        """Whether there is more to lose than a single write, whose rows the new table replaces anyway."""
        return self.writes > 1 or bool(self.tags or self.branches)

    def __str__(self) -> str:
        lost = [f"{self.snapshots} table snapshot{'s' if self.snapshots != 1 else ''}"]
        for one, many, names in (("tag", "tags", self.tags), ("branch", "branches", self.branches)):
            if names:
                lost.append(f"{len(names)} {one if len(names) == 1 else many} ({', '.join(names)})")
        return " and ".join(lost)


def tags(query: Query, table: Table) -> dict[str, Tag]:
    """The tags of a table by name, ordered by table snapshot."""
    rows = query(f"select tag_name, snapshot_id, schema_id from {table.system_table('tags')}")
    found = [Tag(str(name), int(snapshot), int(schema)) for name, snapshot, schema in rows]
    return {tag.name: tag for tag in sorted(found, key=lambda tag: (tag.snapshot, tag.name))}


def branches(query: Query, table: Table) -> list[str]:
    """The names of a table's branches."""
    return [str(row[0]) for row in query(f"select branch_name from {table.system_table('branches')}")]


def refs(query: Query, table: Table) -> Refs:
    """The names of a table's branches and tags, read with one statement."""
    rows = query(
        f"select 'branch', branch_name from {table.system_table('branches')} "
        f"union all select 'tag', tag_name from {table.system_table('tags')}"
    )
    names = {kind: frozenset(str(name) for each, name in rows if each == kind) for kind in ("branch", "tag")}
    return Refs(names["branch"], names["tag"])


def consumers(query: Query, table: Table) -> dict[str, int]:
    """Consumer -> the next table snapshot that it reads."""
    rows = query(f"select consumer_id, next_snapshot_id from {table.system_table('consumers')}")
    return {str(name): int(number) for name, number in rows}


def history(query: Query, table: Table) -> LosableHistory:
    """The table snapshots, tags and branches of a table, read with one statement."""
    # The names are sent as JSON, because a Thrift server sends arrays as strings that cannot be parsed.
    tag_names, branch_names = (
        f"(select to_json(sort_array(collect_list({column}))) from {table.system_table(system)})"
        for column, system in (("tag_name", "tags"), ("branch_name", "branches"))
    )
    ((snapshots, writes, *names),) = query(
        f"select count(*), count_if(commit_kind <> '{COMPACT}'), {tag_names}, {branch_names} "
        f"from {table.system_table('snapshots')}"
    )
    return LosableHistory(int(snapshots), int(writes), *(tuple(json.loads(each or "[]")) for each in names))


def newest_and_tagged(query: Query, table: Table, name: str) -> tuple[int | None, int | None]:
    """The IDs of a table's newest snapshot and of a tag's snapshot, read with one statement; None if missing."""
    tagged = f"select max(snapshot_id) from {table.system_table('tags')} where tag_name = {string_literal(name)}"
    ((newest, at),) = query(f"select max(snapshot_id), ({tagged}) from {table.system_table('snapshots')}")
    return newest, at


def lacking(query: Query, table: Table, branch: Table) -> Sequence[Sequence[Any]]:
    """The table's commits and tags that a branch lacks: ('table snapshot' or 'tag', its ID or name)."""
    ours, theirs = table.system_table("snapshots"), branch.system_table("snapshots")
    first = f"(select min(snapshot_id) from {theirs})"
    return query(
        f"select 'table snapshot', cast(ours.snapshot_id as string) from {ours} as ours\n"
        f"left anti join {theirs} as theirs on ours.snapshot_id = theirs.snapshot_id\n"
        "  and ours.commit_user = theirs.commit_user and ours.commit_identifier = theirs.commit_identifier\n"
        f"where ours.snapshot_id >= {first}\n"
        "union all\n"
        f"select 'tag', ours.tag_name from {table.system_table('tags')} as ours\n"
        f"left anti join {branch.system_table('tags')} as theirs on ours.tag_name = theirs.tag_name\n"
        f"where ours.snapshot_id >= {first}"
    )
