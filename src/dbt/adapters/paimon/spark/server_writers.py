"""Notes on a Spark server about who writes which table, because a statement on a server may outlive its client.

If a client dies, its lock is released at once, but its statement continues on the server. A note is a global temporary
view, which all sessions of the server see, and which disappears with the server. The next writer of the table reads
the note, ends the dead client's statements, and waits until they have ended.
"""

from __future__ import annotations

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

from dbt.adapters.paimon.concurrency.leases import lock_name
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.machine.waiting import Wait
from dbt.adapters.paimon.spark.server_clients import ClientRecord, from_json, machine, to_json
from dbt.adapters.paimon.sql.text import quoted, string_literal

if TYPE_CHECKING:
    from typing_extensions import Self

    from dbt.adapters.paimon.spark.handles import Handle

logger = AdapterLogger("Paimon")

# Spark's database of global temporary views (spark.sql.globalTempDatabase).
_DATABASE: Final = "global_temp"
# TEMP_TABLE_OR_VIEW_ALREADY_EXISTS, and Spark's message before 3.4.
_EXISTS: Final = re.compile(r"already[ _]exists", re.IGNORECASE)
_MISSING: Final = re.compile(r"NOT_FOUND|not found", re.IGNORECASE)
# Seconds between renewals of a note, until a writer that does not renew counts as dead, and between checks.
_RENEWED_EVERY: Final = 10.0
_DEAD_AFTER: Final = 60.0
_LOOK_EVERY: Final = 0.5
# Seconds to wait for a running renewal before a note is removed.
_LAST_RENEWAL_TIMEOUT: Final = 5.0
# The `ClientRecord.holding` of each lock that this process holds.
_HOLDINGS: Final[set[str]] = set()


class ServerWriters:
    """The notes that this process writes on servers.

    Args:
        bound: seconds to wait for a table that another client writes.
        served: whether there is a server. An embedded Spark needs no notes: it ends with dbt, and the batches of a
            stream lock tables in their own threads, which have no handle.
    """

    def __init__(self, bound: float, *, served: bool) -> None:
        self.bound = bound
        self.served = served
        self._thread_notes = _ThreadNotes()

    @property
    def notes(self) -> list[Note]:
        return self._thread_notes.notes

    def move(self) -> bool:
        """Change this thread's notes to its new session, after the old one was lost and its statements have ended.

        Returns False if another run has taken over a table in the meantime.
        """
        moved = [note.move() for note in self.notes]
        return all(moved)


class _ThreadNotes(local):
    def __init__(self) -> None:
        self.notes: list[Note] = []


class Note:
    """A table's note on a server, from the acquisition of the table's lock to its release; a no-op without a server.

    Args:
        handle: returns this thread's current handle, which is replaced after a server was lost.
        table: the quoted name of the table.
    """

    def __init__(self, writers: ServerWriters, handle: Callable[[], Handle], table: str) -> None:
        self._writers = writers
        self._notes = writers.notes
        self._handle = handle
        self._table = table
        self._view = f"dbt_paimon_{lock_name(table)}"
        self._name = f"{quoted(_DATABASE)}.{quoted(self._view)}"
        self._own_record: ClientRecord | None = None
        self._used: Handle | None = None
        self._began = time.monotonic()
        self._over = Event()
        self._renewal: Thread | None = None
        # Whether another client has taken over the table.
        self._is_taken = False
        # Whether statements of a dead writer had to be ended.
        self.others_wrote = False

    def __enter__(self) -> Self:
        """Create the note of this thread's session, once other clients' statements on the table have ended."""
        if not self._writers.served:
            return self
        self._used = self._handle()
        mine = self._used.client_record()
        if mine is None:
            return self
        self._own_record = replace(mine, holding=uuid.uuid4().hex)
        try:
            created = self._created(self._own_record)
        except Exception as exc:  # noqa: BLE001 - from gRPC, Thrift or Spark
            self._own_record = None
            warn(
                f"{self._table}: the table's writer could not be noted on the server, so a statement that outlives its "
                f"client will not be detected: {messages.shorten(messages.error_text(exc))}"
            )
            return self
        while not created:
            self._wait_for_writer()
            created = self._created(self._own_record)
        _HOLDINGS.add(self._own_record.holding)
        self._notes.append(self)
        self._renewal = Thread(target=self._renew, name="server-note", daemon=True)
        self._renewal.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own_record is None:
            return
        self._over.set()
        if self._renewal is not None:
            self._renewal.join(_LAST_RENEWAL_TIMEOUT)
        _HOLDINGS.discard(self._own_record.holding)
        self._notes.remove(self)
        if self._is_taken or self._used is None or self._used.is_lost:
            # The statement may still be running: the next writer ends it.
            return
        with suppress(Exception):
            if time.monotonic() - self._began < _DEAD_AFTER or self._is_own(self._read()):
                self._rows(f"drop view if exists {self._name}")

    def move(self) -> bool:
        self._used = self._handle()
        now = self._used.client_record()
        if self._own_record is None or now is None:
            return True
        found = self._read()
        # A restarted server has no notes.
        if found is not None and not self._is_own(found):
            self._is_taken = True
            return False
        self._own_record = replace(now, holding=self._own_record.holding)
        self._write(self._own_record)
        return True

    def _created(self, mine: ClientRecord) -> bool:
        """Create the note; False if there is one already."""
        try:
            self._rows(self._note_sql("create", mine))
        except Exception as exc:
            if _EXISTS.search(str(exc)):
                return False
            raise
        return True

    def _write(self, note: ClientRecord) -> None:
        self._rows(self._note_sql("create or replace", note))

    def _note_sql(self, create: str, note: ClientRecord) -> str:
        text = string_literal(to_json(note))
        return f"{create} global temporary view {quoted(self._view)} as select {text} as writer"

    def _read(self) -> ClientRecord | None:
        try:
            ((content,),) = self._rows(f"select writer from {self._name}")
        except Exception as exc:
            if _MISSING.search(str(exc)):
                return None
            raise
        return from_json(str(content))

    def _wait_for_writer(self) -> None:
        """Wait until the writer in the note has released the table or died; end the statements of a dead writer."""
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
        self._handle().end_statements_of(found, lambda ids: self._write(replace(found, ending=ids)))
        left = self._read()
        if left is not None and left.holding == found.holding:
            self._rows(f"drop view if exists {self._name}")

    def _is_dead(self, found: ClientRecord, since: float) -> bool:
        # This process lost its server while it held the lock.
        lost = found.pid == os.getpid() and found.machine == machine() and found.holding not in _HOLDINGS
        return found.has_died or lost or time.monotonic() - since > _DEAD_AFTER

    def _is_own(self, found: ClientRecord | None) -> bool:
        return found is not None and self._own_record is not None and found.holding == self._own_record.holding

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED_EVERY):
            # If the server does not answer, the statement itself fails and reports it.
            with suppress(Exception):
                mine, handle = self._own_record, self._used
                if mine is None or handle is None or handle.is_lost:
                    continue
                ((content,),) = handle.query_concurrently(f"select writer from {self._name}")
                if not self._is_own(from_json(str(content))):
                    return
                self._own_record = replace(mine, renewals=mine.renewals + 1)
                handle.query_concurrently(self._note_sql("create or replace", self._own_record))

    def _rows(self, sql: str) -> list[Any]:
        return self._handle().rows_of(sql)
