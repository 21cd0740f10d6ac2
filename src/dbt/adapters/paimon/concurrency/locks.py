"""Table locks: one writer at a time among this process's threads and, with lock files or leases, among processes.

Paimon commits by renaming a file to the snapshot's name. On a local disk two processes can both succeed:
LocalFileIO.rename checks the name and then moves the file, under a lock that only its own JVM sees (0.9.0 to 2.0.0).
The later commit replaces the earlier one, whose rows are lost. On S3 a rename is a copy, with the same result. HDFS
refuses the second rename, and the catalogs hive, jdbc and rest have their own locks. Processes also use the same names
for staging tables.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.concurrency import leases
from dbt.adapters.paimon.concurrency.leases import Attempt, Lease, Leases, StoreError
from dbt.adapters.paimon.machine import file_locks
from dbt.adapters.paimon.machine.waiting import LONGEST_WAIT, Wait
from dbt.adapters.paimon.state.folders import ready_folder
from dbt.adapters.paimon.state.kinds import Kind

# Seconds between attempts to get a lock that another process holds; short at first, because most are held briefly.
_PAUSE_FIRST, _PAUSE_LAST = 0.01, 0.25
# The same for a lease, where each attempt is an HTTP request.
_LEASE_PAUSE_FIRST, _LEASE_PAUSE_LAST = 0.2, 2.0
# Seconds without an answer from the store after which the wait for a lease fails.
_STORE_TIMEOUT: Final = 30.0

# The folder of the lock files, in the warehouse next to the folders of its databases.
FOLDER = ".dbt_paimon"

# Where a warehouse's locks are: in its folder, next to a catalog's SQLite file, or as leases on S3; None if only this
# process's locks are needed.
Place = Path | Leases | None


def _opened(folder: Path, name: str) -> IO[bytes]:
    """Open a lock file. New folders and files get the mode of the folder around them, so that its users share them."""
    with suppress(OSError):
        folder.mkdir()
        folder.chmod(stat.S_IMODE(folder.parent.stat().st_mode))
    ready_folder(Kind.LOCKS, folder)
    is_new = not (folder / name).exists()
    file = (folder / name).open("a+b", buffering=0)
    if is_new:
        with suppress(OSError):
            os.fchmod(file.fileno(), folder.stat().st_mode & 0o666)
    return file


class _Held(threading.local):
    """The locks that this thread holds, by table name; dbt runs a node on one thread."""

    def __init__(self) -> None:
        self.stacks: dict[str, ExitStack] = {}
        # When the node first got each lock.
        self.since: dict[str, float] = {}


class TableLocks:
    """One lock per table. Waits up to `bound` seconds for a lock; the locks of a dead process are freed."""

    def __init__(self, bound: float = LONGEST_WAIT) -> None:
        self._bound = bound
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._held = _Held()
        self._run = uuid.uuid4().hex
        self._began = time.time_ns()

    def hold(
        self, name: str, place: Place, context: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> bool:
        """Take a table's lock for this thread, until `release`.

        `context` returns a context manager that is entered after the lock is taken and exited before it is released.
        Returns whether another process has written the table since this process began, so that cached metadata may be
        stale.

        Raises:
            WaitedTooLongError: the lock did not become free in time.
            NewerStateError: a newer adapter locks this warehouse.
            DbtRuntimeError: the store of the lock does not answer.
        """
        if name in self._held.stacks:
            return False
        written_by, others_wrote = "", False
        with ExitStack() as stack:
            lock = self._of(name)
            self._acquire(lock, name)
            stack.callback(lock.release)
            if isinstance(place, Leases):
                attempt = place.attempt(name, self._run)
                self._keep(stack, self._lease(attempt, name, place))
                others_wrote = attempt.others_wrote((time.time_ns() - self._began) / 1e9)
            if (file := self._lock_file(name, place)) is not None:
                stack.callback(file.close)
                self._lock(file, name)
                file.seek(0)
                written_by = file.read().decode()
                stack.callback(self._stamp, file)
            stack.enter_context(context())
            self._held.stacks[name] = stack.pop_all()
            self._held.since.setdefault(name, time.time())
        run, _, at = written_by.partition(" ")
        return others_wrote or (run not in ("", self._run) and at.isdigit() and int(at) > self._began)

    def take(self, name: str, place: Place) -> bool:
        """Like `hold`, but returns False instead of waiting; waits only to see whether a lease's holder is dead."""
        lock = self._of(name)
        if not lock.acquire(blocking=False):
            return False
        with ExitStack() as stack:
            stack.callback(lock.release)
            if isinstance(place, Leases):
                lease = self._lease_of_the_dead(place.attempt(name, self._run, ends_spark=False), name, place)
                if lease is None:
                    return False
                self._keep(stack, lease)
            if (file := self._lock_file(name, place)) is not None:
                stack.callback(file.close)
                if not file_locks.try_lock(file):
                    return False
            self._held.stacks[name] = stack.pop_all()
        return True

    def may_wait_for(self, name: str) -> bool:
        """Whether waiting for a table is safe from deadlocks: this thread holds that table's lock, or no lock."""
        return not self._held.stacks or name in self._held.stacks

    def held_since(self, name: str) -> float | None:
        """When this thread's node first got a table's lock, in seconds since the epoch."""
        return self._held.since.get(name)

    def release(self) -> None:
        """Release all locks of this thread."""
        held, self._held.stacks = self._held.stacks, {}
        self._held.since.clear()
        for stack in held.values():
            stack.close()

    @contextmanager
    def alone(
        self, name: str, place: Place, context: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> Iterator[None]:
        """Hold a table's lock inside the block; does nothing if this thread already holds it.

        Raises:
            LeaseLostError: the lock was lost inside the block. See `hold` for further errors.
        """
        if name in self._held.stacks:
            yield
            return
        self.hold(name, place, context)
        acquired = leases.of_this_thread()[-1:] if isinstance(place, Leases) else []
        try:
            yield
            for lease in acquired:
                if error := lease.lost:
                    raise error
        finally:
            self._held.stacks.pop(name).close()

    def _of(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())

    def _acquire(self, lock: threading.Lock, name: str) -> None:
        wait = Wait(
            f"{name}, which another thread of this run is writing",
            self._bound,
            "Make the models that write it run one after another (with ref()), or raise `lock_timeout` in the profile.",
        )
        wait.until(lambda: lock.acquire(timeout=_PAUSE_LAST), every=0)

    def _lock(self, file: IO[bytes], name: str) -> None:
        wait = Wait(
            f"{name}, which another process is writing (it holds {file.name})",
            self._bound,
            "Nothing was written. Run again when the other run has finished, stop it (`fuser` on that file "
            "shows its process), or raise `lock_timeout` in the profile.",
        )
        look = _PAUSE_FIRST
        while not file_locks.try_lock(file):
            wait.pause(look)
            look = min(look * 1.5, _PAUSE_LAST)

    def _lease(self, attempt: Attempt, name: str, place: Leases) -> Lease:
        lease = self._try_lease(attempt, name, place)
        wait = Wait(
            f"{name}, which another run is writing or was writing when it died ({attempt.holder}; lock in "
            f"{place.place})",
            self._bound,
            "Nothing was written. Run again when the other run has finished, stop it, or raise `lock_timeout` in the "
            "profile.",
        )
        look = _LEASE_PAUSE_FIRST
        while lease is None:
            wait.pause(look)
            look = min(look * 1.5, _LEASE_PAUSE_LAST)
            lease = self._try_lease(attempt, name, place)
        return lease

    def _lease_of_the_dead(self, attempt: Attempt, name: str, place: Leases) -> Lease | None:
        """Acquire a lease that is free or expires without being renewed; else None."""
        seen = ""
        while (lease := self._try_lease(attempt, name, place)) is None:
            if attempt.version != seen and seen:
                return None
            seen = attempt.version
            time.sleep(_LEASE_PAUSE_LAST)
        return lease

    def _try_lease(self, attempt: Attempt, name: str, place: Leases) -> Lease | None:
        """Acquire a lease; None while another run holds it. Retries for a while if the store does not answer."""
        until = time.monotonic() + _STORE_TIMEOUT
        while True:
            try:
                return attempt.take()
            except StoreError as exc:  # noqa: PERF203 - every two seconds
                if time.monotonic() >= until:
                    raise DbtRuntimeError(
                        f"{name}: its lock in {place.place} cannot be taken: {exc}. Nothing was written. Run again "
                        "when the store answers, or set `s3_lock: false` in the profile to run without locks."
                    ) from exc
                time.sleep(_LEASE_PAUSE_LAST)

    @staticmethod
    def _keep(stack: ExitStack, lease: Lease) -> None:
        held = leases.of_this_thread()
        held.append(lease)
        stack.callback(lease.release)
        stack.callback(held.remove, lease)

    def _lock_file(self, name: str, place: Place) -> IO[bytes] | None:
        if not isinstance(place, Path):
            return None
        folder, table = place / FOLDER, leases.without_catalog(name)
        if place.is_file():
            # The folder of a SQLite file may contain the files of other catalogs.
            folder, table = place.with_name(FOLDER), f"{place.name} {table}"
        try:
            return _opened(folder, f"{leases.lock_name(table)}.lock")
        except OSError as exc:
            if exc.errno == errno.EROFS or not (folder.exists() or os.access(folder.parent, os.W_OK)):
                # There is no warehouse yet, or it is not writable: Spark's own error is clearer.
                return None
            raise DbtRuntimeError(
                f"{name}: its lock in {folder} cannot be opened ({exc.strerror}), so two runs could write the table at "
                f"once. Nothing was written. Give all users of the warehouse write access: chmod -R a+rwX {folder}"
            ) from exc

    def _stamp(self, file: IO[bytes]) -> None:
        with suppress(OSError):
            file.seek(0)
            file.truncate()
            file.write(f"{self._run} {time.time_ns()}".encode())
