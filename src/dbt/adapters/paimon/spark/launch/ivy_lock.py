"""The lock on Ivy's cache: one process of a user at a time downloads packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.machine import file_locks
from dbt.adapters.paimon.machine.cache_folder import cache_folder
from dbt.adapters.paimon.machine.private_files import open_own, temporary_folder
from dbt.adapters.paimon.machine.waiting import Wait

# Seconds that another process may take to download its jars.
_LONGEST_RESOLUTION = 30 * 60


@contextmanager
def resolution_lock(packages: Sequence[str]) -> Iterator[None]:
    """Let one process of a user at a time start a Spark that downloads packages; without packages, do not lock.

    Ivy does not lock its cache: two processes that fill it at once (test workers, two dbt runs on a new machine)
    break each other's downloads.
    """
    if not packages:
        yield
        return
    path = ivy_lock_path()
    try:
        file = open_own(path)
    except OSError as exc:
        raise DbtRuntimeError(
            f"The lock file {path} cannot be opened: {exc.strerror or exc}. Remove it, and start again."
        ) from exc
    with file as lock:
        # Closing the file releases the lock, also when this process dies.
        Wait(
            "another process of this user that resolves jars",
            _LONGEST_RESOLUTION,
            f"It holds {path} (fuser {path} names it): stop it if it hangs, and start again.",
        ).until(lambda: file_locks.try_lock(lock))
        yield


def ivy_lock_path() -> Path:
    """This user's lock file, in a folder that other users cannot write."""
    try:
        return cache_folder() / "ivy.lock"
    except OSError:
        return temporary_folder() / "ivy.lock"
