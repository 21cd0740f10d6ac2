"""The token of a warm server, which refuses clients without it; stored in a folder that only the owner can read.

Other users of the machine can connect to a port of the loopback interface, and a Spark session runs any code as the
server's owner. The token is sent in our own header, because with PySpark's `token` parameter PySpark requires TLS,
which a warm server does not support (ChannelBuilder.secure of PySpark 3.5).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.version_numbers import OLDEST_PAIMON
from dbt.adapters.paimon.machine.private_files import read_own, require_own_folder, write_own
from dbt.adapters.paimon.spark import java_classes

HEADER: Final = "x-dbt-paimon-token"


def folder(note: Path) -> Path:
    """The folder that belongs to a server's note, with the server's token and logs."""
    return require_own_folder(
        note.with_suffix(""),
        "The folder of a warm server",
        "or set the environment variable DBT_PAIMON_SERVERS to another folder for all servers",
    )


def create(note: Path, pid: int) -> str:
    """Create and store the token of the server with this process id."""
    token = secrets.token_urlsafe(32)
    write_own(_path(note, pid), token)
    return token


def read(note: Path, pid: int, remedy: str) -> str:
    """Read the token of a running server; if it cannot be read, the error ends with `remedy`."""
    try:
        return read_own(_path(note, pid))
    except OSError as exc:
        raise DbtRuntimeError(
            f"The token of the warm Spark server cannot be read: {exc.strerror or exc}. {remedy}"
        ) from exc


def forget(note: Path, pid: int) -> None:
    """Delete the token of a stopped server."""
    _path(note, pid).unlink(missing_ok=True)


def parameters(token: str, spark_version: str) -> Mapping[str, str]:
    """The connection parameters (`;key=value`) that make a client send the token as a header."""
    if _has_pre_shared_key(spark_version):
        return {"authorization": quote(f"Bearer {token}")}
    return {HEADER: quote(token)}


def guard(session: Any, builder: Any, token: str, spark_version: str) -> None:
    """Make a server refuse clients that do not send its token. An interceptor added to `builder` later would run first.

    `session` is a session of the server's Spark, and `builder` its NettyServerBuilder.
    """
    jvm = session._jvm
    if _has_pre_shared_key(spark_version):
        builder.intercept(jvm.org.apache.spark.sql.connect.service.PreSharedKeyAuthenticationInterceptor(token))
        return
    constructor = java_classes.constructor(jvm, "TokenInterceptor", builder.getClass().getClassLoader())
    arguments = session.sparkContext._gateway.new_array(jvm.java.lang.Object, 2)
    arguments[0], arguments[1] = HEADER, token
    builder.intercept(constructor.newInstance(arguments))


def _has_pre_shared_key(spark_version: str) -> bool:
    return Versions.of(OLDEST_PAIMON, spark_version).supports(Capability.CONNECT_PRE_SHARED_KEY)


def _path(note: Path, pid: int) -> Path:
    return folder(note) / f"{pid}.token"
