"""A table that was built whole under a staging name takes the name of the one it replaces.

Where the catalog is a local folder, the two change names in one step. Elsewhere the old table steps back to a backup
name first: a process that dies between these two renames leaves no table under the name, but two whole ones beside it,
and the next run's listing finishes the swap.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.sql.staging_names import BACKUP_SUFFIX, OWN_STAGING, STAGING_SUFFIX, table_beside

# Seconds after which no run is taken to be building a table still.
_ABANDONED_AFTER: Final = 24 * 3600


@dataclass(frozen=True)
class Rename:
    """A table to give its name to."""

    source: str
    target: str


# Source: renameat2(2) of Linux.
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change names; no moment passes in which either name is missing.

    Args:
        one, other: folders of one file system.

    Returns:
        False, and nothing done, where the system or the file system has no such call.
    """
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(done == 0)


def staged_tables(target: str, tables: Iterable[str]) -> list[str]:
    """The tables that were built, or are being built, to take the name of another; in order of their names."""
    return sorted(name for name in tables if name != target + BACKUP_SUFFIX and table_beside(name) == target)


def leftovers(target: str, tables: Iterable[str], now: float, alone: bool) -> list[str]:
    """What runs that were killed have left beside a table, and nobody needs any more.

    Args:
        target: the table that is about to be written.
        tables: the names of its schema's tables.
        now: seconds since 1970.
        alone: whether no other run can be writing the table: else a staging table may be another's, and is left for a
            day.

    Returns:
        Staging tables; the backup, if the table itself is there.
    """
    names = set(tables)
    found = [name for name in (target + STAGING_SUFFIX,) if name in names]
    if target in names and target + BACKUP_SUFFIX in names:
        found.append(target + BACKUP_SUFFIX)
    for name in sorted(names):
        own = OWN_STAGING.search(name)
        if own and name[: own.start()] == target:
            abandoned = now - int(own["second"], 16) > _ABANDONED_AFTER
            if alone or abandoned:
                found.append(name)
    return found


def unfinished_swaps(tables: Iterable[str]) -> list[Rename]:
    """The renames that finish the swaps of a schema.

    Args:
        tables: the names of its tables.

    Returns:
        For each name that only a backup is left of: the staged table takes the name, for it was whole before the old
        one stepped back; where there is none, or one of several that may not be whole, the backup takes it again.
    """
    names = set(tables)
    renames = []
    for backup in sorted(names):
        target = backup.removesuffix(BACKUP_SUFFIX)
        if target == backup or target in names:
            continue
        staged = staged_tables(target, names)
        renames.append(Rename(staged[0] if len(staged) == 1 else backup, target))
    return renames
