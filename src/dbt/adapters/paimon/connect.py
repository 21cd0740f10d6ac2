"""`method: connect`: a Spark Connect server; dbt's process holds no JVM.

A server that `dbt-paimon server` keeps warm on this machine is found by the target's settings (see `server`).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import addresses, predicates, server, views
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.data_types import type_text
from dbt.adapters.paimon.handles import session_conf
from dbt.adapters.paimon.spark_conf import EXTENSIONS, remote_conf
from dbt.adapters.paimon.sql_text import quoted, statements
from dbt.adapters.paimon.timestamps import on_session_clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Paimon")

# With the client's pauses of 0.05, 0.2, 0.8, 3.2 and 12.8 s: that a server has gone is told after 17 s, not minutes.
_RETRIES = 5
# Seconds; a job that starts after Ctrl-C lives no longer.
_CANCEL_EVERY = 0.2


class ConnectCursor:
    """A DB-API-like cursor over one session of a Spark Connect server."""

    def __init__(self, session: SparkSession, tag: str) -> None:
        self._session: Any = session
        self._tag = tag
        self._frame: DataFrame | None = None
        self._rows: list[Any] | None = None

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement (see `handles.Cursor`)."""
        *before, last = statements(sql.strip())
        for statement in before:
            self._run(statement)
            self.drain()
        self._run(last, bindings)

    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        self._rows = None
        # Tags belong to a thread of the client.
        self._session.addTag(self._tag)
        views.DIRECTORY.create_mentioned(statement, lambda sql: self._session.sql(sql).collect())
        self._frame = self._session.sql(statement, args=list(bindings) if bindings else None)
        if not self._is_command():
            # The server has not looked at a query yet.
            _ = self._frame.schema

    @property
    def frame(self) -> DataFrame:
        """The frame of the last statement."""
        assert self._frame is not None
        return self._frame

    def drain(self) -> None:
        """Run a query for its effects and its errors, keeping no row of it on the driver."""
        if self._frame is not None and not self._is_command():
            self._frame.write.format("noop").mode("overwrite").save()

    def _is_command(self) -> bool:
        # A command has run when sql() returns; its rows have come with the answer.
        relation = getattr(self.frame._plan, "_relation", None)
        return relation is not None and relation.WhichOneof("rel_type") == "local_relation"

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as DB-API 2.0 lays them out."""
        if self._frame is None:
            return []
        return [
            (f.name, type_text(f.dataType), None, None, None, None, f.nullable)
            for f in self._frame.schema.fields
        ]

    def fetchall(self) -> list[Any]:
        """All rows, or those that are left."""
        if self._rows is None:
            self._rows = self._brought(None)
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        """The first `size` rows; no more than that is brought here."""
        if self._rows is None:
            return self._brought(size)
        rows = self._rows
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> Any:
        """The next row, or None."""
        if self._rows is None:
            self._rows = self._brought(None)
        return self._rows.pop(0) if self._rows else None

    def _brought(self, size: int | None) -> list[Any]:
        if self._frame is None:
            return []
        frame = on_session_clock(self._frame)
        return [tuple(row) for row in (frame.collect() if size is None else frame.take(size))]

    def close(self) -> None:
        """Let go of the last result."""
        self._frame = self._rows = None


class ConnectHandle:
    """What dbt holds for a thread: a session of the server that no other thread uses."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._tag = f"dbt-{uuid.uuid4().hex[:12]}"
        self._closed = Event()

    def cursor(self) -> ConnectCursor:
        """A cursor over this session."""
        return ConnectCursor(self.session, self._tag)

    def load(self, name: str) -> DataFrame:
        """The frame of a rendered relation, also of a view that this session has not met yet."""
        cursor = self.cursor()
        cursor.execute(f"select * from {name}")
        return cursor.frame

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        """Make a query with `?` markers a view of this session."""
        cursor = self.cursor()
        cursor.execute(query, bindings)
        cursor.frame.createOrReplaceTempView(quoted(name))

    def references(self, expression: str) -> list[predicates.Reference]:
        """The names of columns in an expression, by sqlglot."""
        return predicates.by_sqlglot(expression)

    @contextmanager
    def configured(self, conf: Mapping[str, str]) -> Iterator[None]:
        """Set Spark settings for the statements inside, and put back what was there, also after an error."""
        before = {key: self.session.conf.get(key, None) for key in conf}
        try:
            for key, value in conf.items():
                self.session.conf.set(key, value)
            yield
        finally:
            for key, old in before.items():
                if old is None:
                    self.session.conf.unset(key)
                else:
                    self.session.conf.set(key, old)

    def cancel(self) -> None:
        """Stop what this thread runs, also the jobs that its statement has yet to start."""
        Thread(target=self._cancel_until_closed, name="cancel", daemon=True).start()

    def _cancel_until_closed(self) -> None:
        session: Any = self.session
        with suppress(Exception):
            while not self._closed.is_set():
                session.interruptTag(self._tag)
                self._closed.wait(_CANCEL_EVERY)

    def close(self) -> None:
        """End a cancelling. The client goes with its last reference: it still tells the server of rows it has got."""
        self._closed.set()

    def rollback(self) -> None:
        """Nothing to do: every statement is a commit of its own."""


def open_session(credentials: PaimonCredentials) -> ConnectHandle:
    """Give a thread its own session of the server.

    Raises:
        DbtRuntimeError: no server there, one without Paimon, or PySpark's client is not installed.
    """
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError as exc:
        raise DbtRuntimeError(
            f"method: connect needs PySpark's client ({exc}): pip install 'dbt-paimon[connect]'."
        ) from exc
    host, port = _address(credentials)
    addresses.require_listener(
        "A Spark Connect server", [(host, port)], "Start it, or correct host and port in the profile."
    )
    # Functions of pyspark.sql, which Python models import, ask this variable whom they work for.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    session: Any = SparkSession.builder.remote(_url(credentials, host, port)).create()
    session.client._retry_policy["max_retries"] = _RETRIES
    _prepare(session, credentials)
    return ConnectHandle(session)


def _prepare(session: Any, credentials: PaimonCredentials) -> None:
    if EXTENSIONS not in (session.conf.get("spark.sql.extensions", "") or ""):
        raise DbtRuntimeError(
            f"The Spark Connect server at {credentials.address} runs without Paimon's extensions: start it with "
            f"--conf spark.sql.extensions={EXTENSIONS} and Paimon's connector among its jars."
        )
    # One request for all of them, where `conf.set` makes one each.
    from pyspark.sql.connect import proto

    settings = session_conf(remote_conf(credentials))
    pairs = [proto.KeyValue(key=key, value=value) for key, value in settings.items()]
    session.client.config(proto.ConfigRequest.Operation(set=proto.ConfigRequest.Set(pairs=pairs)))
    session.catalog.setCurrentCatalog(credentials.catalog)


def _address(credentials: PaimonCredentials) -> tuple[str, int]:
    if credentials.host is None:
        return "127.0.0.1", server.find(credentials).port
    return credentials.host, credentials.server_port


def _url(credentials: PaimonCredentials, host: str, port: int) -> str:
    parts = {
        "user_id": credentials.user,
        "token": credentials.token,
        "use_ssl": "true" if credentials.use_ssl else None,
    }
    return f"sc://{host}:{port}/" + "".join(f";{key}={value}" for key, value in parts.items() if value)
