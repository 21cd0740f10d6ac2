"""Checks of branches: losses by a fast-forward, and options that name a branch. Runs no statement.

BranchManager.fastForward (0.9.0 to 2.0.0) deletes the table's snapshots and tags from the branch's first snapshot on,
and copies those of the branch. Commits and tags that only the table has are lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.time_travel.states import branch_of

# FileStoreTableFactory.create: a table with such an option, but without the branch, can be neither read nor written.
_NAMING: Final = ("scan.fallback-branch", "scan.primary-branch")


def named(spec: TableSpec) -> bool:
    """Whether a table option names a branch."""
    return any(name in spec.options for name in _NAMING)


def refuse_missing(
    spec: TableSpec, config: Mapping[str, Any], node: str, existing: Collection[str] | None
) -> None:
    """Refuse options that name branches which are not among the existing ones (None: the table is rebuilt)."""
    problems = Problems(node)
    for name in _NAMING:
        branch = spec.options.get(name)
        if branch is None or branch in (existing or ()):
            continue
        why = "a rebuilt table has no branches" if existing is None else "the table has no such branch"
        problems.add(
            *ConfigOrigin(config).find(name, spec),
            f"{why}, so Paimon could not read it. Leave the option out, create the branch (create_branch), "
            "and set it for the next run",
        )
    problems.raise_if_any()


def lost_by_fast_forward_sql(relation: PaimonRelation, branch: str) -> str:
    """The query of the commits and tags that a branch lacks: ('table snapshot' or 'tag', its number or name)."""
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
    """The error message about the rows of `lost_by_fast_forward_sql`; empty if there are none."""
    if not rows:
        return ""
    kinds: dict[str, list[str]] = {}
    for kind, name in rows:
        kinds.setdefault(kind, []).append(name)
    listed = "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items())
    return (
        f"fast_forward({relation}, '{branch}'): the table has changes that the branch does not have, and they "
        f"would be lost: {listed}. Recreate the branch from the current table, or set discard=true."
    )
