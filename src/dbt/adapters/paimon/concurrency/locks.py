"""One writer of a table at a time: among the threads of this process and, on a local warehouse, among processes.

Paimon commits by renaming a file to the snapshot's name. On a local disk two processes can both succeed:
LocalFileIO.rename checks whether the name is taken and then moves the file, under a lock of its own JVM only (0.9.0 to
2.0.0). The later one replaces the earlier one's snapshot, whose rows are lost. HDFS refuses the second rename, and the
catalogs hive, jdbc and rest have their own locks. All processes also share the names of staging tables.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from dbt.adapters.paimon.machine import file_locks
from dbt.adapters.paimon.machine.waiting import LONGEST_WAIT, Wait
from dbt.adapters.paimon.state.folders import ready_folder
from dbt.adapters.paimon.state.kinds import Kind

# Seconds between two attempts to get a lock that another process holds; short at first, since most are held briefly.
_LOOK_FIRST, _LOOK_LAST = 0.01, 0.25

# In the warehouse, next to the folders of its databases.
FOLDER = ".dbt_paimon"


class _Held(threading.local):
    """The locks that this thread holds, by table name; dbt runs a node on one thread."""

    def __init__(self) -> None:
        self.stacks: dict[str, ExitStack] = {}


class TableLocks:
    """A lock for each table that was asked for; the locks of a process that dies are freed.

    Args:
        bound: seconds to wait for a lock.
    """

    def __init__(self, bound: float = LONGEST_WAIT) -> None:
        self._bound = bound
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._held = _Held()
        self._run = uuid.uuid4().hex
        self._began = time.time_ns()

    def hold(self, name: str, warehouse: Path | None) -> bool:
        """Take a table's lock for this thread, until `release`.

        Args:
            name: the table.
            warehouse: the folder of the table's warehouse, if it is local.

        Returns:
            Whether another process has written the table since this process began, so that cached metadata may be
            stale.

        Raises:
            WaitedTooLongError: the lock was not free within the bound.
            NewerStateError: a newer adapter locks this warehouse.
        """
        if name in self._held.stacks:
            return False
        written_by = ""
        with ExitStack() as stack:
            lock = self._of(name)
            self._acquire(lock, name)
            stack.callback(lock.release)
            file = self._lock_file(name, warehouse)
            if file is not None:
                stack.callback(file.close)
                self._lock(file, name)
                file.seek(0)
                written_by = file.read().decode()
                stack.callback(self._sign, file)
            self._held.stacks[name] = stack.pop_all()
        run, _, at = written_by.partition(" ")
        return run not in ("", self._run) and at.isdigit() and int(at) > self._began

    def take(self, name: str, warehouse: Path | None) -> bool:
        """Like `hold`, but without waiting.

        Returns:
            Whether this thread holds the lock now.

        Raises:
            NewerStateError: a newer adapter locks this warehouse.
        """
        lock = self._of(name)
        if not lock.acquire(blocking=False):
            return False
        with ExitStack() as stack:
            stack.callback(lock.release)
            file = self._lock_file(name, warehouse)
            if file is not None:
                stack.callback(file.close)
                if not file_locks.try_lock(file):
                    return False
            self._held.stacks[name] = stack.pop_all()
        return True

    def may_wait_for(self, name: str) -> bool:
        """Whether this thread may wait for the table: it holds it or none. Two that each hold one would deadlock."""
        return not self._held.stacks or name in self._held.stacks

    def release(self) -> None:
        """Release all locks of this thread."""
        held, self._held.stacks = self._held.stacks, {}
        for stack in held.values():
            stack.close()

    @contextmanager
    def alone(self, name: str, warehouse: Path | None) -> Iterator[None]:
        """Hold a table's lock inside the block, unless this thread holds it already."""
        if name in self._held.stacks:
            yield
            return
        self.hold(name, warehouse)
        try:
            yield
        finally:
            self._held.stacks.pop(name).close()

    def _of(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())

    def _acquire(self, lock: threading.Lock, name: str) -> None:
        wait = Wait(
            f"{name}, which another thread of this run is writing",
            self._bound,
            "Make the models that write it run one after another (with ref()), or raise `lock_timeout` "
            "in the profile.",
        )
        wait.until(lambda: lock.acquire(timeout=_LOOK_LAST), every=0)

    def _lock(self, file: IO[bytes], name: str) -> None:
        wait = Wait(
            f"{name}, which another process is writing (it holds {file.name})",
            self._bound,
            "Nothing was written. Run again when the other run has finished, stop it (`fuser` on that file "
            "shows its process), or raise `lock_timeout` in the profile.",
        )
        look = _LOOK_FIRST
        while not file_locks.try_lock(file):
            wait.pause(look)
            look = min(look * 1.5, _LOOK_LAST)

    def _lock_file(self, name: str, warehouse: Path | None) -> IO[bytes] | None:
        if warehouse is None or not file_locks.AVAILABLE:
            return None
        folder = warehouse / FOLDER
        # If the lock file cannot be created, nothing can be written, and Spark's error says so better.
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            ready_folder(Kind.LOCKS, folder)
            return (folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.lock").open(
                "a+b", buffering=0
            )
        return None

    def _sign(self, file: IO[bytes]) -> None:
        with suppress(OSError):
            file.seek(0)
            file.truncate()
            file.write(f"{self._run} {time.time_ns()}".encode())
