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

STAGING_SUFFIX = "__dbt_tmp"
BACKUP_SUFFIX = "__dbt_backup"


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
