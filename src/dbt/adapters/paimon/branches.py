"""What Paimon's fast_forward would take from a table. Nothing here runs a statement.

BranchManager.fastForward (0.9.0 to 2.0.0) deletes the table's snapshots and tags from the branch's first table snapshot
on, whoever made them, and then copies those of the branch; so what only the table has is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.time_travel import branch_of


def lost_by_fast_forward_sql(relation: PaimonRelation, branch: str) -> str:
    """One statement: ('table snapshot' or 'tag', its number or name) of all that the branch has not."""
    other = branch_of(relation, branch)
    ours, theirs = relation.system_table("snapshots"), other.system_table("snapshots")
    first = f"(select min(snapshot_id) from {theirs})"
    return (
        f"select 'table snapshot', cast(ours.snapshot_id as string) from {ours} as ours\n"
        f"left anti join {theirs} as theirs on ours.snapshot_id = theirs.snapshot_id\n"
        "  and ours.commit_user = theirs.commit_user and ours.commit_identifier = theirs.commit_identifier\n"
        f"where ours.snapshot_id >= {first}\n"
        "union all\n"
        f"select 'tag', ours.tag_name from {relation.system_table('tags')} as ours\n"
        f"left anti join {other.system_table('tags')} as theirs on ours.tag_name = theirs.tag_name\n"
        f"where ours.snapshot_id >= {first}"
    )


def losses(relation: object, branch: str, rows: Sequence[Sequence[Any]]) -> str:
    """What to tell of them; empty if there are none."""
    if not rows:
        return ""
    kinds: dict[str, list[str]] = {}
    for kind, name in rows:
        kinds.setdefault(kind, []).append(name)
    listed = "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items())
    return (
        f"fast_forward({relation}, '{branch}'): the table has what the branch has not, and it would be gone: {listed}. "
        "Make the branch anew from the table as it is, or give discard=true."
    )
