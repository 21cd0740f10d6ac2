"""Swaps: a complete staged table gets the name of the table that it replaces.

If the catalog is a local folder, the two names are exchanged atomically. Otherwise the old table is renamed to a backup
first. A process that is killed between the two renames leaves two complete tables, neither with the final name; the
next run finishes the swap when it lists the schema.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.sql.helper_names import BACKUP_SUFFIX, OWN_STAGING, base_table_name

# Seconds after which a staged table is assumed to be abandoned.
_ABANDONED_AFTER: Final = 24 * 3600


@dataclass(frozen=True)
class Rename:
    """A table to rename, and its new name."""

    source: str
    target: str


# Source: renameat2(2) of Linux.
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders of a file system atomically; False if that is not supported."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(done == 0)


def staged_tables(target: str, tables: Iterable[str]) -> list[str]:
    """The staged tables, complete or not, of a target, ordered by name."""
    return sorted(name for name in tables if name != target + BACKUP_SUFFIX and base_table_name(name) == target)


def leftovers(target: str, tables: Iterable[str], now: float, alone: bool) -> list[str]:
    """The leftovers of killed runs: staging tables, and the backup if the table itself exists.

    Args:
        alone: whether this is the only run that can be writing the table. Otherwise, staging tables less than a day old
            may belong to another run, and are kept.
    """
    names = set(tables)
    found = []
    for name in staged_tables(target, names):
        own = OWN_STAGING.search(name)
        if alone or own is None or now - int(own["second"], 16) > _ABANDONED_AFTER:
            found.append(name)
    backup = target + BACKUP_SUFFIX
    return [*found, backup] if {target, backup} <= names else found


def unfinished_swaps(tables: Iterable[str]) -> list[Rename]:
    """The renames that finish the interrupted swaps of a schema.

    If a table is missing but has a backup, the staged table gets its name: it was complete before the backup was made.
    Without a staged table, or with several that may be incomplete, the backup gets the name back.
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
