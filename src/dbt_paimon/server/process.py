"""The process of a warm Spark Connect server, started by `dbt-paimon server start`; ends when it is idle."""

from __future__ import annotations

import argparse
import os
import signal
import time
from contextlib import suppress
from typing import Any

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import tell_dbt
from dbt.adapters.paimon.machine.processes import has_clients, started
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spark import server, server_token
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import require_startable, start_spark

# Bytes. A seed is sent as one message, and gRPC's default limit is 4 MiB.
_LARGEST_MESSAGE = 512 * 1024 * 1024
# Seconds.
_POLL_INTERVAL = 2.0


def main() -> None:
    """Serve the target on the command line until the server is idle or gets SIGTERM."""
    parser = argparse.ArgumentParser()
    for option in ("--project-dir", "--profiles-dir", "--profile", "--target", "--vars"):
        parser.add_argument(option)
    parser.add_argument("--idle-minutes", type=float, required=True)
    parser.add_argument("--no-token", action="store_true")
    given = vars(parser.parse_args())
    idle_minutes, asks_token = given.pop("idle_minutes"), not given.pop("no_token")
    serve(load_credentials(**given), idle_minutes, asks_token)


def serve(credentials: PaimonCredentials, idle_minutes: float, asks_token: bool = True) -> None:
    """Start Spark with a Connect server on the loopback interface, and return once it is idle."""
    # Exit as with Ctrl-C, so that finally blocks run.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    runtime = Runtime(credentials)
    require_startable(runtime)
    path = server.note_path(credentials)
    token = server_token.create(path, os.getpid())
    tell_dbt([token])
    session = start_spark(runtime, token)
    note = server.ServerNote(
        os.getpid(),
        _listen(session, token if asks_token else None, runtime.spark),
        server.versions(runtime),
        server.fixed_settings(runtime),
        server.works_on(credentials),
        idle_minutes,
        asks_token,
        started(os.getpid()),
    )
    server.write_note(path, note)
    try:
        _wait_until_idle(session, note.port, idle_minutes * 60)
    except KeyboardInterrupt:
        pass
    finally:
        if (known := server.read_note(path)) is not None and known.pid == os.getpid():
            path.unlink()
            server_token.forget(path, os.getpid())
        with suppress(Exception):
            session.stop()


def _listen(session: Any, token: str | None, spark_version: str) -> int:
    """Serve Spark Connect on a free loopback port and return the port; without a token, any client may connect."""
    # Spark 3.5's own plug-in would listen on every interface (SparkConnectService.startGRPCService).
    jvm = session._jvm
    service = jvm.org.apache.spark.sql.connect.service
    address = jvm.java.net.InetSocketAddress(server.LOOPBACK, 0)
    builder = jvm.org.sparkproject.connect.grpc.netty.NettyServerBuilder.forAddress(address)
    builder.maxInboundMessageSize(_LARGEST_MESSAGE)
    builder.addService(service.SparkConnectService(False))
    service.SparkConnectInterceptorRegistry.chainInterceptors(builder)
    if token is not None:
        # The interceptor that is added last runs first.
        server_token.guard(session, builder, token, spark_version)
    return int(builder.build().start().getPort())


def _wait_until_idle(session: Any, port: int, seconds: float) -> None:
    """Wait until no client has been connected and no statement has run for `seconds`."""
    service = session._jvm.org.apache.spark.sql.connect.service.SparkConnectService
    since = time.monotonic()
    last = None
    while time.monotonic() - since < seconds:
        time.sleep(min(_POLL_INTERVAL, seconds))
        # An Either: on the left the time at which the last statement ended, on the right the running statements.
        active = service.listActiveExecutions()
        now = active.left().get() if active.isLeft() else None
        if now is None or now != last or has_clients(port):
            since, last = time.monotonic(), now


if __name__ == "__main__":
    main()
