"""Checks what a fast-forward would lose, and options that name a branch. Runs no statement.

BranchManager.fastForward (0.9.0 to 2.0.0) deletes the table's snapshots and tags from the branch's first snapshot on,
and copies the branch's snapshots and tags. Commits and tags that only the table has are lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import BRANCH_OPTIONS, TableSpec


def named(spec: TableSpec) -> bool:
    """Whether a table option names a branch."""
    return any(name in spec.options for name in BRANCH_OPTIONS)


def refuse_missing(spec: TableSpec, config: Mapping[str, Any], node: str, existing: Collection[str] | None) -> None:
    """Refuse options that name a branch that does not exist; `existing` is None if the table is rebuilt."""
    problems = Problems(node)
    for name in BRANCH_OPTIONS:
        branch = spec.options.get(name)
        if branch is None or branch in (existing or ()):
            continue
        why = "a rebuilt table has no branches" if existing is None else "the table has no such branch"
        problems.add(
            *ConfigOrigin(config).find(name, spec),
            f"{why}, so Paimon could not read it. Leave the option out, create the branch (create_branch), "
            "and set the option for the next run",
        )
    problems.raise_if_any()


def losses(relation: object, branch: str, rows: Sequence[Sequence[Any]]) -> str:
    """The error message about commits and tags that the branch lacks (see `metadata.tags.lacking`), or ''."""
    if not rows:
        return ""
    kinds: dict[str, list[str]] = {}
    for kind, name in rows:
        kinds.setdefault(kind, []).append(name)
    listed = "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items())
    return (
        f"fast_forward({relation}, '{branch}'): the table has changes that the branch does not have and that "
        f"would be lost: {listed}. Recreate the branch from the current table, or set discard=true."
    )
