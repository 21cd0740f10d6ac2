"""Locks between processes of one machine, by `flock`; released when the file is closed or its process dies."""

from __future__ import annotations

import fcntl
from typing import IO


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file and return True; False if another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
