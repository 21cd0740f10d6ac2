"""`method: thrift`: Spark's Thrift server, Kyuubi, or any other Spark server that speaks HiveServer2's protocol."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.causes import causes
from dbt.adapters.paimon.machine import addresses
from dbt.adapters.paimon.machine.waiting import Wait, WaitedTooLongError
from dbt.adapters.paimon.spark import server_clients
from dbt.adapters.paimon.spark.conf import require_extensions
from dbt.adapters.paimon.spark.handles import Cursor, Handle
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql import users_statement, views
from dbt.adapters.paimon.sql.text import bound, commented, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.spark.server_clients import ClientRecord

logger = AdapterLogger("Paimon")

# Milliseconds for a server to open a session; a server that expects a different handshake never answers.
_OPEN_TIMEOUT_MS = 20_000
# Milliseconds for any other response; long statements are polled.
_RESPONSE_TIMEOUT_MS = 600_000
# Seconds between polls of a running statement; short at first, because most of dbt's statements are short.
_POLL_FIRST, _POLL_LAST = 0.01, 0.5
# Seconds that a statement may continue after its client has died. Its jobs and thread are interrupted at once, but a
# commit that has begun continues. HiveServer2's protocol does not report when the statement has ended.
_CANCELLATION_SECONDS = 10.0
_MAX_FIELDS = "spark.sql.debug.maxToStringFields"
_DEFAULT_CATALOG = "spark.sql.defaultCatalog"
# Without this prefix a server ignores a setting in the request for a session (HiveSessionImpl.configureSession,
# SparkSQLSessionManager.setConfMap) [ran, 3.5.7].
_SETTING_PREFIX = "set:hiveconf:"


class ThriftCursor(Cursor):
    """A cursor over a session of a Thrift server; a query runs when its rows are fetched."""

    def __init__(
        self, connection: Any, running: _Running, view_settings: Callable[[], AbstractContextManager[views.Settings]]
    ) -> None:
        self.connection = connection
        self._running = running
        self._view_settings = view_settings
        self._query: str | None = None
        self._cursor: Any = None

    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        self.close()
        with self._view_settings() as settings:
            views.DIRECTORY.create_mentioned(statement, self.rows_of, settings)
        if bindings:
            statement = bound(statement, bindings)
        if users_statement.is_query(statement):
            self._query = statement
        else:
            self._cursor = self._running.run(self.connection, statement)

    def rows_of(self, sql: str) -> list[Any]:
        """The rows of a statement that reads no view."""
        cursor = self._running.run(self.connection, sql)
        try:
            return _fetched(cursor, cursor.fetchall)
        finally:
            cursor.close()

    def drain(self) -> None:
        if self._query is not None:
            # This returns one row, but computes every column of every row.
            self.rows_of(f"select sum(length(to_json(struct(*)))) from (\n{self._query}\n)")
            self._query = None

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """As in `Cursor`, but HiveServer2's protocol does not have nested types."""
        if self._query is not None:
            columns = [(row[0], row[1]) for row in self.rows_of(f"describe query {self._query}")]
        else:
            columns = [(column[0], column[1].removesuffix("_TYPE").lower()) for column in _columns_of(self._cursor)]
        return [(name, kind, None, None, None, None, True) for name, kind in columns]

    def fetchall(self) -> list[Any]:
        self._start()
        return _fetched(self._cursor, self._cursor.fetchall)

    def fetchmany(self, size: int) -> list[Any]:
        self._start()
        return _fetched(self._cursor, lambda: self._cursor.fetchmany(size))

    def fetchone(self) -> Any:
        return next(iter(self.fetchmany(1)), None)

    def _start(self) -> None:
        if self._query is not None:
            query, self._query = self._query, None
            self._cursor = self._running.run(self.connection, query)

    def close(self) -> None:
        self._query = None
        if self._cursor is not None:
            with suppress(Exception):
                self._cursor.close()
            self._cursor = None


def _columns_of(cursor: Any) -> list[Any]:
    try:
        return (cursor.description if cursor is not None else None) or []
    except TypeError:
        # A statement without columns: PyHive iterates over a list that is None.
        return []


def _fetched(cursor: Any, fetch: Callable[[], Iterable[Any]]) -> list[Any]:
    if not _columns_of(cursor):
        return []
    try:
        return [tuple(row) for row in fetch()]
    except TypeError:
        # DDL has a column name but no rows: PyHive iterates over a list that is None.
        return []


class _Running:
    """The running statement of a connection, which another thread may cancel."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._cursor: Any = None
        # HiveServer2's id of the last statement, as shown in the server's UI and logs.
        self.statement_id = ""
        # The comment at the start of each statement: the server describes jobs by their statement.
        self.comment = ""

    def run(self, connection: Any, statement: str) -> Any:
        """Run a statement to completion, and return PyHive's cursor over its rows."""
        from thrift.transport.TTransport import TTransportException

        wait = Wait(
            "an answer of the Thrift server",
            _RESPONSE_TIMEOUT_MS / 1000,
            "The statement may still be running: check the server and the table's $snapshots before you run again.",
        )
        try:
            return self._run(connection, statement)
        except TTransportException as exc:
            if exc.type != TTransportException.TIMED_OUT:
                raise
            raise wait.error() from exc

    def _run(self, connection: Any, statement: str) -> Any:
        from TCLIService.ttypes import TOperationState

        unfinished = (TOperationState.INITIALIZED_STATE, TOperationState.PENDING_STATE, TOperationState.RUNNING_STATE)
        cursor = connection.cursor()

        def poll() -> Any:
            with self._lock:
                return cursor.poll(get_progress_update=False)

        with self._lock:
            cursor.execute(commented(self.comment, statement), async_=True)
            self._cursor = cursor
            self.statement_id = _id_of(cursor)
        try:
            pause = _POLL_FIRST
            while (status := poll()).operationState in unfinished:
                time.sleep(pause)
                pause = min(pause * 1.5, _POLL_LAST)
        finally:
            with self._lock:
                self._cursor = None
        if status.operationState != TOperationState.FINISHED_STATE:
            text = status.errorMessage or "the statement was cancelled"
            logger.debug(f"Error while running:\n{statement}\n{text}")
            raise messages.StatementError(text, statement) from ThriftServerError(text)
        return cursor

    def cancel(self) -> None:
        """Make the server cancel the running statement, if there is one."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.cancel()


def _is_lost(error: BaseException) -> bool:
    """Whether an error or its cause means that the connection broke, or that dbt stopped waiting for the response."""
    from thrift.transport.TTransport import TTransportException

    lost = (TTransportException, OSError, EOFError, WaitedTooLongError, KeyboardInterrupt, SystemExit)
    return any(isinstance(each, lost) for each in causes(error))


def _id_of(cursor: Any) -> str:
    try:
        return str(uuid.UUID(bytes=cursor._operationHandle.operationId.guid))
    except (AttributeError, TypeError, ValueError):
        return ""


class ThriftServerError(Exception):
    """The server's complete error message, with the stack trace."""


class ThriftHandle(Handle):
    """A dbt thread's session of the server."""

    def __init__(self, connection: Any, connect: Callable[[], Any]) -> None:
        super().__init__()
        self._connection = connection
        self._connect = connect
        self._running = _Running()
        # A second session for `query_concurrently`: a connection handles one request at a time.
        self._second: ThriftCursor | None = None

    @property
    def session(self) -> SparkSession:
        raise DbtRuntimeError(
            "A Python model or a notebook needs a Spark session, and a Thrift server accepts only SQL. "
            "Use a target with method: session or method: connect."
        )

    def cursor(self) -> ThriftCursor:
        return ThriftCursor(self._connection, self._running, self.view_settings)

    def load(self, name: str) -> DataFrame:
        return self.session.table(name)

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        self.cursor().execute(f"create or replace temporary view {quoted(name)} as {bound(query, bindings)}")

    def _set(self, key: str, value: str | None) -> None:
        self.cursor().rows_of(f"reset {quoted(key)}" if value is None else f"set {quoted(key)}={value}")

    def _value_of(self, key: str) -> str | None:
        # Servers other than Spark's return a different format, such as Hive's single column `key=value`.
        found = [str(row[1]) for row in self.cursor().rows_of(f"set {quoted(key)}") if len(row) == 2]
        return found[0] if found and found[0] != "<undefined>" else None

    def _settings(self) -> dict[str, str]:
        return {str(row[0]): str(row[1]) for row in self.cursor().rows_of("set") if len(row) == 2}

    def setting(self, key: str) -> str | None:
        return None

    def is_session_setting(self, key: str) -> bool:
        return self._value_of(key) is not None

    @property
    def statement_id(self) -> str:
        return self._running.statement_id

    def describe(self, node: str, description: str) -> None:
        """Begin each statement with the description, because the server describes jobs by their statement."""
        self._running.comment = description

    def _cancel_running(self) -> None:
        self._running.cancel()

    def detect_lost_server(self, error: BaseException) -> None:
        self.is_lost = self.is_lost or _is_lost(error)

    def client_record(self) -> ClientRecord:
        """This client, without a session: the server ends its statements when the connection ends."""
        return server_clients.this_client()

    def query_concurrently(self, sql: str) -> list[Any]:
        if self._second is None:
            self._second = ThriftCursor(self._connect(), _Running(), self.view_settings)
        return self._second.rows_of(sql)

    def end_statements_of(self, client: ClientRecord, remember: Callable[[tuple[str, ...]], object]) -> None:
        """Only wait: the server cancels statements when their connection ends, but does not report their end."""
        time.sleep(_CANCELLATION_SECONDS)

    def close(self) -> None:
        super().close()
        for connection in [self._connection, *([self._second.connection] if self._second else [])]:
            with suppress(Exception):
                if self.is_lost:
                    # Send no request, because the server may not answer.
                    connection._transport.close()
                else:
                    connection.close()


def open_session(runtime: Runtime) -> ThriftHandle:
    """Give a thread its own session of the server.

    Raises:
        DbtRuntimeError: there is no server, it refuses the login or lacks Paimon, or PyHive is not installed.
    """
    try:
        from pyhive import hive
        from thrift.transport import TTransport
    except ImportError as exc:
        raise DbtRuntimeError(f"method: thrift needs PyHive ({exc}): `pip install 'dbt-paimon[thrift]'`.") from exc
    credentials = runtime.credentials
    assert credentials.host is not None
    where = f"{credentials.host}:{credentials.server_port}"
    remedy = "Start it, or correct host and port in the profile."
    addresses.require_listener("A Thrift server", [(credentials.host, credentials.server_port)], remedy)
    settings = {_MAX_FIELDS: "10000", **runtime.session_conf}
    # The server begins a session with `use default`, so the session must begin in the server's own default catalog.
    settings.pop(_DEFAULT_CATALOG, None)

    def connect() -> Any:
        socket, transport = _transport(credentials)
        connection = hive.connect(
            thrift_transport=transport,
            username=credentials.user or "dbt",
            configuration={f"{_SETTING_PREFIX}{key}": value for key, value in settings.items()},
        )
        socket.setTimeout(_RESPONSE_TIMEOUT_MS)
        return connection

    try:
        connection = connect()
    except (TTransport.TTransportException, OSError, EOFError) as exc:
        raise DbtRuntimeError(
            f"The Thrift server at {where} did not open a session: {exc}. Set auth in the profile to the "
            f"server's hive.server2.authentication (it is {credentials.auth or 'NONE'} now), and user and "
            "password if it requires them."
        ) from exc
    handle = ThriftHandle(connection, connect)
    try:
        _prepare(handle, credentials, where, settings)
    except BaseException:
        handle.close()
        raise
    return handle


def _prepare(handle: ThriftHandle, credentials: PaimonCredentials, where: str, settings: Mapping[str, str]) -> None:
    require_extensions(handle._value_of("spark.sql.extensions"), f"Thrift server at {where}")
    if handle._value_of(_MAX_FIELDS) != settings[_MAX_FIELDS]:
        # This server ignores settings in the request that opens a session.
        for key, value in settings.items():
            handle._set(key, value)
    handle._set(_DEFAULT_CATALOG, credentials.catalog)
    handle.cursor().execute(f"use {quoted(credentials.catalog)}")


def _transport(credentials: PaimonCredentials) -> tuple[Any, Any]:
    """A socket with a timeout, and the transport over it, as in PyHive's constructor."""
    from thrift.transport import TSocket, TSSLSocket, TTransport

    kind = TSSLSocket.TSSLSocket if credentials.use_ssl else TSocket.TSocket
    socket = kind(credentials.host, credentials.server_port)
    socket.setTimeout(_OPEN_TIMEOUT_MS)
    if credentials.auth == "NOSASL":
        return socket, TTransport.TBufferedTransport(socket)
    import thrift_sasl
    from pyhive.hive import get_installed_sasl

    mechanism = "GSSAPI" if credentials.auth == "KERBEROS" else "PLAIN"
    make = partial(
        get_installed_sasl,
        host=credentials.host,
        sasl_auth=mechanism,
        service=credentials.kerberos_service_name,
        username=credentials.user or "dbt",
        # With NONE the password is ignored but must not be empty.
        password=credentials.password or "x",
    )
    return socket, thrift_sasl.TSaslClientTransport(make, mechanism, socket)
