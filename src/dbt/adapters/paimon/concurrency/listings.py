"""Listings of tables and folders, which fail if another thread or process drops or renames an entry meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from dbt.adapters.paimon.concurrency import conflicts

T = TypeVar("T")

# Errors for an entry that is gone: HiveCatalog.listTablesImpl of 0.9 opens each table, FileSystemCatalog.listTablesImpl
# lists the files of each schema folder, and Hadoop's AliyunOSSFileSystem.listStatus opens each folder.
_GONE_MEANWHILE: Final = ("Can not get table", "FileNotFoundException")


def repeated(listing: Callable[[], T]) -> T:
    """Return what `listing` returns; repeat it while it fails because an entry has disappeared."""
    for seconds in conflicts.BACK_OFF:
        try:
            return listing()
        except Exception as exc:  # noqa: PERF203 - a few attempts
            if not any(sign in str(exc) for sign in _GONE_MEANWHILE):
                raise
            time.sleep(conflicts.with_jitter(seconds))
    return listing()
