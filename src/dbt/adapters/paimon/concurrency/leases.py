"""Table locks as leases: small objects in the warehouse's store, written with conditional requests.

The run that creates the object, or replaces the version that it has read, holds the table for `LEASE` seconds after
that write. A thread renews the lease. After a crash the lease expires, and another run takes it over. Its age is
measured by the store's clock (`Date` minus `Last-Modified`). The holder counts from just before it sent the write, so
it always sees the lease end first.

If a lease cannot be renewed in time, its statement is interrupted (`guarded`). If the statement does not stop, the
watchdog kills Spark's JVM before another run can take the lease. The watchdog is a thread of the JVM, so it works even
while this process is suspended.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from typing import Any, Final, Protocol

from dbt_common.exceptions import DbtRuntimeError

# Seconds that a lease lasts after its last renewal.
LEASE: Final = 30.0
# Fractions of LEASE after which the lease is renewed, its statement is interrupted, and Spark's JVM is killed.
_RENEWED_AT, _INTERRUPTED_AT, _KILLED_AT = 1 / 3, 0.7, 0.9
# Seconds that a run waits beyond the end of another run's lease, because HTTP dates are in whole seconds.
GRACE: Final = 2.0
# Seconds between attempts to reach a store that failed.
_RETRY_EVERY: Final = 1.0
# Seconds within which a statement must stop once another run holds the lease.
_INTERRUPT_SECONDS: Final = 2.0

# Called with the name of a lease and the seconds until Spark's JVM is killed; None cancels the deadline.
Watchdog = Callable[[str, "float | None"], None]


class StoreError(Exception):
    """A store did not answer or refused a request; a write may have succeeded. The message is part of a sentence."""


class LeaseLostError(DbtRuntimeError):
    """A lease ended while its holder was still writing."""


@dataclass(frozen=True)
class Stored:
    """An object in the store: content, version, and age in seconds by the store's clock."""

    content: bytes
    version: str
    age: float


class ConditionalStore(Protocol):
    """Small objects by name; each method raises `StoreError` if the store does not answer or refuses."""

    @property
    def place(self) -> str:
        """Address of the objects, for errors."""

    def read(self, name: str) -> Stored | None:
        """The object; None if it does not exist."""

    def create(self, name: str, content: bytes) -> str | None:
        """Write a new object and return its version; None if the object exists."""

    def replace(self, name: str, content: bytes, version: str) -> str | None:
        """Overwrite an object if it still has this version, and return its new version; else None."""


@dataclass(frozen=True)
class _Content:
    """The content of a lease object; `token` identifies one acquisition, and is '' if the lease is free."""

    table: str
    run: str
    token: str = ""
    holder: str = ""
    attempt: int = 0
    seconds: float = LEASE

    def to_bytes(self) -> bytes:
        return json.dumps(self.__dict__).encode()

    @classmethod
    def of(cls, content: bytes) -> _Content:
        """Parse a lease; unreadable content counts as another run's lease."""
        with suppress(ValueError, TypeError, AttributeError):
            parsed = json.loads(content)
            return cls(**{each.name: parsed[each.name] for each in fields(cls) if each.name in parsed})
        return cls("", "", "?")


@dataclass
class _Record:
    """The last confirmed write of a lease object and all later ones; `sent` maps each content to its time."""

    table: str
    run: str
    token: str
    seconds: float
    sent: dict[bytes, float] = field(default_factory=dict)
    attempts: int = 0

    def next_content(self) -> bytes:
        self.attempts += 1
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        content = _Content(self.table, self.run, self.token, holder, self.attempts, self.seconds).to_bytes()
        self.sent[content] = _now()
        return content

    def confirm(self, content: bytes) -> float:
        """Return when the stored content was sent, and forget earlier writes, which can no longer succeed."""
        self.sent = {content: self.sent[content]}
        return self.sent[content]


def without_catalog(name: str) -> str:
    """A quoted name without its catalog, which other runs on the same warehouse may name differently."""
    return name.partition("`.")[2] or name


def lock_name(table: str) -> str:
    """The name of a table's lock, which must be the same in every run and version."""
    return hashlib.sha256(table.encode()).hexdigest()[:32]


class Leases:
    """The leases of one warehouse; each lasts `seconds` after its last renewal."""

    def __init__(self, store: ConditionalStore, watchdog: Watchdog, seconds: float = LEASE) -> None:
        self._store = store
        self._watchdog = watchdog
        self._seconds = seconds

    @property
    def place(self) -> str:
        return self._store.place

    def attempt(self, name: str, run: str, *, ends_spark: bool = True) -> Attempt:
        """Begin to acquire a table's lease.

        With `ends_spark`, the watchdog kills Spark's JVM if it may still be writing when the lease expires.
        """
        table = without_catalog(name)
        watchdog: Watchdog = self._watchdog if ends_spark else lambda name, seconds: None
        return Attempt(self._store, watchdog, _Record(table, run, uuid.uuid4().hex, self._seconds))


class Attempt:
    """An attempt to acquire a lease; `take` may be called repeatedly, even after a `StoreError`."""

    def __init__(self, store: ConditionalStore, watchdog: Watchdog, record: _Record) -> None:
        self._store = store
        self._watchdog = watchdog
        self._record = record
        self._object = f"{lock_name(record.table)}.lock"
        # The content that another run wrote last, and the seconds since that run could last write the table.
        self._before = _Content("", "")
        self._written_ago = 0.0
        # The current holder, for errors, and the object's version, which changes with each renewal.
        self.holder = ""
        self.version = ""

    def take(self) -> Lease | None:
        """Acquire the lease and keep renewing it; None while another run holds it. May raise StoreError."""
        record, found = self._record, self._store.read(self._object)
        if found is None:
            content = record.next_content()
            version = self._store.create(self._object, content)
        elif found.content in record.sent:
            # An earlier write succeeded, but the response was lost.
            content, version = found.content, found.version
        else:
            before = _Content.of(found.content)
            left = 0.0 if not before.token else before.seconds + GRACE - found.age
            self.holder, self.version = before.holder, found.version
            if left > 0:
                return None
            self._before = before
            self._written_ago = max(0.0, found.age - before.seconds if before.token else found.age)
            content = record.next_content()
            version = self._store.replace(self._object, content, found.version)
        if version is None:
            return None
        return Lease(self._store, self._watchdog, record, self._object, version, record.confirm(content))

    def others_wrote(self, since: float) -> bool:
        """Whether another run has held the lease in the last `since` seconds.

        One second is added, because HTTP dates are in whole seconds.
        """
        return self._before.run not in ("", self._record.run) and self._written_ago <= since + 1


class Lease:
    """A lease that this process holds and renews."""

    def __init__(
        self, store: ConditionalStore, watchdog: Watchdog, record: _Record, name: str, version: str, sent: float
    ) -> None:
        self._store = store
        self._watchdog = watchdog
        self._record = record
        self._object = name
        self._version = version
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._renewed = sent
        # Why another run may hold the lease (_late), or does hold it (_taken); '' if not. Below: the callback that
        # stops the running statement, and why it was called.
        self._late = ""
        self._taken = ""
        self._stop: Callable[[], object] | None = None
        self._stopped = ""
        self._set_watchdog()
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    @property
    def lost(self) -> LeaseLostError | None:
        """The error if the lease is lost; None while it is held."""
        return self._error(self._taken or self._late)

    def check(self) -> None:
        """Renew the lease if too little time is left for another statement; raises LeaseLostError if it is lost."""
        if not self._taken and _now() > self._last_moment:
            self._renew()
        if error := self.lost:
            raise error

    def statement_begins(self, stop: Callable[[], object]) -> None:
        """Note that a statement begins under the lease; `stop` interrupts it."""
        with self._lock:
            self._stop, self._stopped = stop, ""

    def statement_ended(self) -> LeaseLostError | None:
        """Note that the statement has ended; returns the error if the loss of the lease interrupted it."""
        with self._lock:
            self._stop = None
            if self._stopped:
                # No statement begins before the next renewal, which sets the watchdog again.
                self._arm_watchdog(None)
            return self._error(self._stopped)

    def release(self) -> None:
        """Release the lease; if the store does not answer, the lease expires by itself."""
        self._over.set()
        with self._lock:
            if self.lost is None:
                free = _Content(self._record.table, self._record.run).to_bytes()
                with suppress(StoreError):
                    self._store.replace(self._object, free, self._version)
            self._arm_watchdog(None)

    @property
    def _last_moment(self) -> float:
        return self._renewed + self._record.seconds * _INTERRUPTED_AT

    def _error(self, why: str) -> LeaseLostError | None:
        if not why:
            return None
        return LeaseLostError(
            f"{self._record.table}: this run lost its lock in {self._store.place}: {why}. Its statement was stopped "
            "before another run could write, so the table is in its old state or its new one. Run again."
        )

    def _keep(self) -> None:
        usual = self._record.seconds * _RENEWED_AT
        pause = usual
        while not self._over.wait(pause) and not self._taken:
            # Do not sleep past the time when a statement must be interrupted.
            soon = max(0.05, self._last_moment - _now())
            pause = usual if self._renew() else min(usual, _RETRY_EVERY, soon)

    def _renew(self) -> bool:
        """Renew the lease unless it has ended; False if that failed."""
        with self._lock:
            if self._over.is_set() or self._taken:
                return True
            try:
                renewed = self._write()
            except StoreError as exc:
                if _now() > self._last_moment:
                    self._late = f"it could not be renewed for {_now() - self._renewed:.0f} s, because {exc}"
                    self._end_statement(self._late)
                return False
            if renewed:
                # No other run has written the object, so no other run has held the lease.
                self._late = ""
                self._set_watchdog()
            else:
                self._arm_watchdog(_INTERRUPT_SECONDS)
                ago = _now() - self._renewed
                self._taken = f"another run took it {ago:.0f} s after its last renewal (was this process suspended?)"
                self._end_statement(self._taken)
            return renewed

    def _write(self) -> bool:
        """Write the object again; False if another run has taken the lease."""
        content = self._record.next_content()
        version = self._store.replace(self._object, content, self._version)
        if version is None:
            # An earlier write may have succeeded although the response was lost.
            found = self._store.read(self._object)
            if found is None or found.content not in self._record.sent:
                return False
            content, version = found.content, found.version
        self._version, self._renewed = version, self._record.confirm(content)
        return True

    def _end_statement(self, why: str) -> None:
        if self._stop is not None and not self._stopped:
            self._stopped = why
            with suppress(Exception):
                self._stop()

    def _set_watchdog(self) -> None:
        self._arm_watchdog(max(0.0, self._renewed + self._record.seconds * _KILLED_AT - _now()))

    def _arm_watchdog(self, seconds: float | None) -> None:
        # If Spark has ended, there is nothing to kill.
        with suppress(Exception):
            self._watchdog(self._record.token, seconds)


class _HeldLeases(threading.local):
    def __init__(self) -> None:
        self.leases: list[Lease] = []


_HELD: Final = _HeldLeases()


def of_this_thread() -> list[Lease]:
    """The leases that this thread holds; `TableLocks` changes the list."""
    return _HELD.leases


@contextmanager
def guarded(stop: Callable[[], Any], stopped: Callable[[], Any]) -> Iterator[None]:
    """Run a statement under this thread's leases; raises LeaseLostError if one is lost before or during it.

    `stop` interrupts the statement, on another thread. `stopped` is called after an interrupted statement has ended.
    """
    held = list(of_this_thread())
    for lease in held:
        lease.check()
    for lease in held:
        lease.statement_begins(stop)
    cause: Exception | None = None
    try:
        yield
    except Exception as exc:
        cause = exc
        raise
    finally:
        errors = [error for lease in held if (error := lease.statement_ended())]
        if errors:
            with suppress(Exception):
                stopped()
            raise errors[0] from cause


def _now() -> float:
    """A monotonic clock in seconds; it keeps running while the machine sleeps, if the system has such a clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)
