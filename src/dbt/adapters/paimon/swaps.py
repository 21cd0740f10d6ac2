"""Swaps that a killed run left half done.

A table whose immutable part changes is built whole under a staging name; then the old table steps back to a backup name
and the staged one takes its own. A process that dies between these two renames leaves no table under the name, but two
whole ones beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

STAGING_SUFFIX = "__dbt_tmp"
BACKUP_SUFFIX = "__dbt_backup"


@dataclass(frozen=True)
class Rename:
    """A table to give its name to."""

    source: str
    target: str


def unfinished_swaps(tables: Iterable[str]) -> list[Rename]:
    """The renames that finish the swaps of a schema.

    Args:
        tables: the names of its tables.

    Returns:
        For each name that only a backup is left of: the staged table takes the name, for it was whole before the old
        one stepped back; where there is none, the backup takes it again.
    """
    names = set(tables)
    renames = []
    for backup in sorted(names):
        target = backup.removesuffix(BACKUP_SUFFIX)
        if target == backup or target in names:
            continue
        staged = target + STAGING_SUFFIX
        renames.append(Rename(staged if staged in names else backup, target))
    return renames
