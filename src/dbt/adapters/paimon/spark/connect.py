"""`method: connect`: sessions of a Spark Connect server; dbt's process needs no JVM.

A warm server that `dbt-paimon server` started on this machine is found by the target's settings (see `server`).
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import tell_dbt
from dbt.adapters.paimon.machine import addresses, installation
from dbt.adapters.paimon.spark import connect_operations, progress, server, server_clients, server_token
from dbt.adapters.paimon.spark.conf import require_extensions
from dbt.adapters.paimon.spark.connect_progress import ProgressMessages
from dbt.adapters.paimon.spark.pyspark_handle import PySparkCursor, PySparkHandle, Tags
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.text import commented

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.spark.job_metrics import Progress
    from dbt.adapters.paimon.spark.server_clients import ClientRecord

# Idle sessions, by the server's address. They are reused, and only closed at the end of the process, because closing a
# client shuts down the thread pool that all clients share (SparkConnectClient.close of 3.5).
_IDLE: dict[str, list[Any]] = {}
# All sessions of this process.
_ALL: list[Any] = []
# The settings that each session had when the server made it.
_MADE_WITH: dict[Any, dict[str, str]] = {}
# With the client's pauses of 0.05, 0.2, 0.8, 3.2 and 12.8 s, a lost server is reported after 17 s instead of minutes.
_RETRIES = 5
# Milliseconds. A server that does not answer a ping within a minute counts as lost, even in a long statement. Servers
# accept a ping only five minutes after the last one (grpc's NettyServerBuilder.permitKeepAliveTime).
_KEEPALIVE = [
    ("grpc.keepalive_time_ms", 330_000),
    ("grpc.keepalive_timeout_ms", 60_000),
    ("grpc.http2.max_pings_without_data", 0),
]


class ConnectCursor(PySparkCursor):
    """A cursor over one session of a Spark Connect server; dbt's statements begin with a comment."""

    def __init__(
        self,
        session: SparkSession,
        tags: Tags,
        view_settings: Callable[[], AbstractContextManager[views.Settings]],
        comment: str = "",
    ) -> None:
        super().__init__(session, tags, view_settings)
        self._comment = comment

    def _tag_thread(self) -> None:
        # Tags belong to the client's thread.
        session: Any = self._session
        self._tags.put_on(session.getTags(), session.removeTag, session.addTag)

    def _send(self, statement: str, bindings: list[Any] | None) -> DataFrame:
        session: Any = self._session
        self._frame = session.sql(commented(self._comment, statement), args=bindings)
        if not self._is_command():
            # sql() does not send a query to the server; reading its schema makes the server analyze it now.
            _ = self.frame.schema
        return self.frame

    def _is_command(self) -> bool:
        # A command has run when sql() returns; its rows are part of the response.
        plan: Any = self.frame
        relation = getattr(plan._plan, "_relation", None)
        return relation is not None and relation.WhichOneof("rel_type") == "local_relation"


class ConnectHandle(PySparkHandle):
    """A dbt thread's session of the server."""

    def __init__(self, session: SparkSession, url: str) -> None:
        super().__init__(session)
        self._url = url
        self._comment = ""
        self._messages = ProgressMessages()
        self._messages.listen(session)

    def close(self) -> None:
        """Return the session to the idle ones, unless one of its statements may still be running."""
        if not self._closed.is_set():
            super().close()
            self._messages.leave(self.session)
            if not self.is_lost:
                _IDLE.setdefault(self._url, []).append(self.session)

    def cursor(self) -> ConnectCursor:
        return ConnectCursor(self.session, self._tags, self.view_settings, self._comment)

    def _settings(self) -> dict[str, str]:
        return _settings_of(self.session)

    def describe(self, node: str, description: str) -> None:
        """Tag jobs with the node, and begin each statement with the node's name and the description.

        The server's Spark UI shows only the first 20 or so characters of a statement as a job's description.
        """
        self._tags.node = node.replace(",", " ")
        self._comment = f"{progress.short_name(node)}, {description}"

    def progress(self, since: float) -> Progress | None:
        """Progress from the server's messages; None before the first one. Spark 3.5 does not send any."""
        return self._messages.since(since)

    def _cancel_running(self) -> None:
        session: Any = self.session
        session.interruptTag(self._tags.own)

    def detect_lost_server(self, error: BaseException) -> None:
        self.is_lost = self.is_lost or connect_operations.is_lost(error)

    def client_record(self) -> ClientRecord:
        """The id and user of this client's session, with which another client can end its statements."""
        client: Any = self.session.client
        return server_clients.this_client(client._session_id, client._user_id or "")

    def query_concurrently(self, sql: str) -> list[Any]:
        return [tuple(row) for row in self.session.sql(sql).collect()]

    def end_statements_of(self, client: ClientRecord, remember: Callable[[tuple[str, ...]], object]) -> None:
        connection: Any = self.session.client
        connect_operations.end_statements(connection, client, remember)


def open_session(runtime: Runtime) -> ConnectHandle:
    """Give a thread its own session of the server.

    Raises:
        DbtRuntimeError: there is no server, it lacks Paimon's extensions, or PySpark's client is not installed.
    """
    try:
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException
        from pyspark.sql.connect.client import core
        from pyspark.sql.connect.session import SparkSession
    except ImportError as exc:
        installation.require(runtime.credentials.method)
        install = installation.remedy(str(exc), method="connect")
        raise DbtRuntimeError(
            f"method: connect needs PySpark's client, which is not completely installed: {exc}\n{install}"
        ) from exc
    host, port, headers = _address(runtime)
    remedy = "Start it, or correct host and port in the profile."
    addresses.require_listener("A Spark Connect server", [(host, port)], remedy)
    # The functions of pyspark.sql, which Python models import, choose their implementation by this variable.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    connect_operations.keep_lost_statements()
    url = _url(runtime.credentials, host, port, headers)
    while idle := _IDLE.get(url):
        session: Any = idle.pop()
        # Spark 4 ends sessions that are idle for an hour, and a server that was restarted refuses older ones.
        with suppress(Exception):
            _prepare(session, runtime)
            return ConnectHandle(session, url)
        _MADE_WITH.pop(session, None)
    # SparkSession.builder would send requests before the retries are limited.
    # PySpark 4 has split ChannelBuilder in two.
    builder = getattr(core, "DefaultChannelBuilder", core.ChannelBuilder)
    session = SparkSession(connection=builder(url, _KEEPALIVE))
    _ALL.append(session)
    _limit_retries(session.client)
    try:
        _prepare(session, runtime)
    except Exception as exc:
        # Spark's own errors are subclasses of this one.
        if type(exc) is not SparkConnectGrpcException:
            raise
        raise DbtRuntimeError(
            f"The server at {host}:{port} does not answer as a Spark Connect server: {_details(exc)} "
            "Correct host, port and use_ssl in the profile, or start the server."
        ) from exc
    return ConnectHandle(session, url)


def _limit_retries(client: Any) -> None:
    if hasattr(client, "set_retry_policies"):
        from pyspark.sql.connect.client.retries import (  # type: ignore[import-not-found,unused-ignore]
            DefaultPolicy,
        )

        client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    else:
        # PySpark 3.5.
        client._retry_policy["max_retries"] = _RETRIES


@atexit.register
def _close_all() -> None:
    """Close the sessions while all of Python's threads still run."""
    # PySpark closes a session when it is garbage-collected, which would be at the end of the process. By then grpc's
    # threads have stopped, and a lock that one of them held is never released [ran, PySpark 3.5.7, grpcio 1.85.1].
    while _ALL:
        client: Any = _ALL.pop().client
        with suppress(Exception):
            client.close()
        # PySpark calls close() again.
        client.close = lambda: None


def _details(exc: Exception) -> str:
    found = re.search(r'details = "([^"\n]*)', str(exc))
    return (found[1] if found else str(exc).partition("\n")[0]).rstrip(".") + "."


def _settings_of(session: Any) -> dict[str, str]:
    from pyspark.sql.connect import proto

    everything = proto.ConfigRequest.Operation(get_all=proto.ConfigRequest.GetAll())
    return {key: value for key, value in session.client.config(everything).pairs if value is not None}


def _prepare(session: Any, runtime: Runtime) -> None:
    """Give a session the target's settings and catalogs, even after a node has changed them (`SET`, `USE`)."""
    credentials = runtime.credentials
    server_name = f"Spark Connect server at {credentials.address}"
    found = _settings_of(session)
    require_extensions(found.get("spark.sql.extensions"), server_name)
    is_reused = session in _MADE_WITH
    settings = {**_MADE_WITH.setdefault(session, found), **runtime.session_conf}
    # One request for all settings; `conf.set` would send one each.
    from pyspark.sql.connect import proto

    if others := found.keys() - settings.keys():
        session.client.config(proto.ConfigRequest.Operation(unset=proto.ConfigRequest.Unset(keys=sorted(others))))
    pairs = [proto.KeyValue(key=key, value=value) for key, value in settings.items() if found.get(key) != value]
    if pairs:
        session.client.config(proto.ConfigRequest.Operation(set=proto.ConfigRequest.Set(pairs=pairs)))
    if is_reused:
        # Changing the catalog also undoes a node's `USE` of a schema.
        session.catalog.setCurrentCatalog("spark_catalog")
    # The target's catalog is set last and stays current. Catalogs are loaded now, not in the first query: inside a
    # view, Paimon's check of the session settings would see the settings from when the view was created.
    for catalog in reversed(credentials.spark_catalogs):
        session.catalog.setCurrentCatalog(catalog.name)
    session.catalog.setCurrentCatalog(credentials.catalog)


def _address(runtime: Runtime) -> tuple[str, int, Mapping[str, str]]:
    """Host and port of the server, and the connection parameters with the token of a warm server."""
    credentials = runtime.credentials
    if credentials.host is not None:
        return credentials.host, credentials.server_port, {}
    note, token = server.find(runtime)
    tell_dbt([token])
    return server.LOOPBACK, note.port, server_token.parameters(token, note.versions["PySpark"])


def _url(credentials: PaimonCredentials, host: str, port: int, more: Mapping[str, str]) -> str:
    use_ssl = "true" if credentials.use_ssl else None
    # PySpark splits the text at `;` and `=`, and decodes the values.
    user, token = (value and quote(value, safe="") for value in (credentials.user, credentials.token))
    parts = {"user_id": user, "token": token, "use_ssl": use_ssl, **more}
    return f"sc://{host}:{port}/" + "".join(f";{key}={value}" for key, value in parts.items() if value)
