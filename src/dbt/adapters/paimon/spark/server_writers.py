"""Notes in a Spark server about who writes which table, because a statement there outlives its client.

If a client dies, its lock is free at once but its statement continues in the server. A note is a global temporary
view, which every session of the server sees, and which ends with the server. The next writer of the table reads it,
ends that client's statements, and waits until they have ended.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread, local
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.deprecations import warn
from dbt.adapters.paimon.machine.waiting import Wait
from dbt.adapters.paimon.spark.server_clients import Writer, machine, of_text, to_text
from dbt.adapters.paimon.sql.text import quoted, string_literal

if TYPE_CHECKING:
    from typing_extensions import Self

    from dbt.adapters.paimon.spark.handles import Handle

logger = AdapterLogger("Paimon")

# Spark's database of such views (spark.sql.globalTempDatabase).
_DATABASE: Final = "global_temp"
# TEMP_TABLE_OR_VIEW_ALREADY_EXISTS, and Spark's message before 3.4.
_EXISTS: Final = re.compile(r"already[ _]exists", re.IGNORECASE)
_MISSING: Final = re.compile(r"NOT_FOUND|not found", re.IGNORECASE)
# Seconds between two renewals of a note, seconds without one until its writer counts as dead, and between two checks.
_RENEWED_EVERY: Final = 10.0
_DEAD_AFTER: Final = 60.0
_LOOK_EVERY: Final = 0.5
# Seconds to wait for a renewal at the end of a holding.
_RENEWAL_ENDS: Final = 5.0
# Ids of the holdings of this process.
_HOLDINGS: Final[set[str]] = set()


class ServerWriters:
    """The notes that this process makes in servers.

    Args:
        bound: seconds to wait for a table that another client writes.
        served: whether there is a server. An embedded Spark ends with dbt, and a stream's batches lock tables in
            threads of their own, which have no handle.
    """

    def __init__(self, bound: float, *, served: bool) -> None:
        self.bound = bound
        self.served = served
        self._of_thread = _OfThread()

    @property
    def notes(self) -> list[Note]:
        """The notes of this thread's locks."""
        return self._of_thread.notes

    def noting(self, handle: Callable[[], Handle], table: str) -> Note:
        """A context in which a table (quoted) is noted as written by a handle; a no-op for an embedded Spark.

        `handle` returns this thread's handle; another one after a server was lost.
        """
        return Note(self, handle, table)

    def move(self) -> None:
        """Note the new session of this thread, after the old one was lost and its statements have ended."""
        for note in self.notes:
            note.move()


class _OfThread(local):
    def __init__(self) -> None:
        self.notes: list[Note] = []


class Note:
    """One table's note in a server, from the lock of the table to its release."""

    def __init__(self, writers: ServerWriters, handle: Callable[[], Handle], table: str) -> None:
        self._writers = writers
        self._notes = writers.notes
        self._handle = handle
        self._table = table
        self._view = f"dbt_paimon_{hashlib.sha256(table.encode()).hexdigest()[:32]}"
        self._name = f"{quoted(_DATABASE)}.{quoted(self._view)}"
        self._own_writer: Writer | None = None
        self._used: Handle | None = None
        self._began = time.monotonic()
        self._over = Event()
        self._renewal: Thread | None = None
        # Whether statements of a dead writer had to be ended.
        self.others_wrote = False

    def __enter__(self) -> Self:
        """Note this thread's session, after another client's statements on the table have ended."""
        if not self._writers.served:
            return self
        self._used = self._handle()
        mine = self._used.writer()
        if mine is None:
            return self
        self._own_writer = replace(mine, holding=uuid.uuid4().hex)
        try:
            created = self._created(self._own_writer)
        except Exception as exc:  # noqa: BLE001 - of gRPC, Thrift or Spark
            self._own_writer = None
            warn(
                f"{self._table}: the server does not take a note of who writes it, so a statement that outlives its "
                f"client is not found there: {messages.shorten(messages.error_text(exc))}"
            )
            return self
        while not created:
            self._wait_for_writer()
            created = self._created(self._own_writer)
        _HOLDINGS.add(self._own_writer.holding)
        self._notes.append(self)
        self._renewal = Thread(target=self._renew, name="server-note", daemon=True)
        self._renewal.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own_writer is None:
            return
        self._over.set()
        if self._renewal is not None:
            self._renewal.join(_RENEWAL_ENDS)
        _HOLDINGS.discard(self._own_writer.holding)
        self._notes.remove(self)
        if self._used is None or self._used.is_lost:
            # Its statement may still run: the next writer ends it.
            return
        with suppress(Exception):
            late = time.monotonic() - self._began >= _DEAD_AFTER
            if not late or self._is_own(self._read()):
                self._rows(f"drop view if exists {self._name}")

    def move(self) -> None:
        self._used = self._handle()
        now = self._used.writer()
        if self._own_writer is not None and now is not None:
            self._own_writer = replace(now, holding=self._own_writer.holding)
            self._write(self._own_writer)

    def _created(self, mine: Writer) -> bool:
        """Create the note; False if there is one already."""
        try:
            self._rows(self._note_sql("create", mine))
        except Exception as exc:
            if _EXISTS.search(str(exc)):
                return False
            raise
        return True

    def _write(self, note: Writer) -> None:
        self._rows(self._note_sql("create or replace", note))

    def _note_sql(self, create: str, note: Writer) -> str:
        text = string_literal(to_text(note))
        return f"{create} global temporary view {quoted(self._view)} as select {text} as writer"

    def _read(self) -> Writer | None:
        try:
            ((content,),) = self._rows(f"select writer from {self._name}")
        except Exception as exc:
            if _MISSING.search(str(exc)):
                return None
            raise
        return of_text(str(content))

    def _wait_for_writer(self) -> None:
        """Wait until the writer of the note has released the table or died; then end the statements it left."""
        found = self._read()
        if found is None:
            return
        wait = Wait(
            f"{self._table}, which another client of the server is writing ({found})",
            self._writers.bound,
            "Nothing was written. Run again when the other run has finished, stop it, or raise `lock_timeout` in the "
            "profile.",
        )
        since = time.monotonic()
        while not self._is_dead(found, since):
            wait.pause(_LOOK_EVERY)
            now = self._read()
            if now is None:
                return
            if now != found:
                found, since = now, time.monotonic()
        logger.info(f"{self._table}: {found} died while it wrote the table through this server: ending its statements")
        self.others_wrote = True
        self._handle().end(found, lambda ids: self._write(replace(found, ending=ids)))
        left = self._read()
        if left is not None and left.holding == found.holding:
            self._rows(f"drop view if exists {self._name}")

    def _is_dead(self, found: Writer, since: float) -> bool:
        # A holding of this process that lost its server.
        lost = found.pid == os.getpid() and found.machine == machine() and found.holding not in _HOLDINGS
        return found.has_died or lost or time.monotonic() - since > _DEAD_AFTER

    def _is_own(self, found: Writer | None) -> bool:
        return found is not None and self._own_writer is not None and found.holding == self._own_writer.holding

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED_EVERY):
            # If the server does not answer, the statement itself fails and reports it.
            with suppress(Exception):
                mine, handle = self._own_writer, self._used
                if mine is None or handle is None or handle.is_lost:
                    continue
                ((content,),) = handle.beside(f"select writer from {self._name}")
                if not self._is_own(of_text(str(content))):
                    return
                self._own_writer = replace(mine, renewals=mine.renewals + 1)
                handle.beside(self._note_sql("create or replace", self._own_writer))

    def _rows(self, sql: str) -> list[Any]:
        return self._handle().rows_of(sql)
