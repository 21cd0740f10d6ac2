"""A table that was built whole under a staging name takes the name of the one it replaces.

Where the catalog is a local folder, the two change names in one step. Elsewhere the old table steps back to a backup
name first: a process that dies between these two renames leaves no table under the name, but two whole ones beside it,
and the next run's listing finishes the swap.
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

STAGING_SUFFIX = "__dbt_tmp"
BACKUP_SUFFIX = "__dbt_backup"
# A name of its own for each build, where no lock keeps two runs from building one table at once: the second of its
# start, and a random part, both hexadecimal.
_OWN_STAGING: Final = re.compile(re.escape(STAGING_SUFFIX) + r"_(?P<second>[0-9a-f]{8})[0-9a-f]{8}$")
LONGEST_SUFFIX: Final = len(STAGING_SUFFIX) + 17
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


def own_staging_name(target: str, now: float) -> str:
    """A name for building a table under that no other run has; `now` in seconds since 1970."""
    return f"{target}{STAGING_SUFFIX}_{int(now):08x}{secrets.token_hex(4)}"


def table_beside(name: str) -> str | None:
    """The table that a staging or backup name belongs to; None for any other name."""
    for suffix in (STAGING_SUFFIX, BACKUP_SUFFIX):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    found = _OWN_STAGING.search(name)
    return name[: found.start()] if found else None


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
        own = _OWN_STAGING.search(name)
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
