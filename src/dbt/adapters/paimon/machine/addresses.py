"""Checks that a server accepts connections, before a client is used that would retry for minutes."""

from __future__ import annotations

import re
import socket

from dbt_common.exceptions import DbtRuntimeError

# Seconds within which a server must accept a connection.
TIMEOUT = 10
_HOST_AND_PORT = re.compile(r"^(?:\w+://)?(?P<host>\[[^\]]+\]|[^:/\s,]+):(?P<port>\d+)(?:/.*)?$")


def host_and_port(address: str) -> tuple[str, int] | None:
    """Host and port of an address such as `spark://host:7077`; None if it lacks either."""
    found = _HOST_AND_PORT.match(address)
    return (found["host"].strip("[]"), int(found["port"])) if found else None


def refusal(host: str, port: int, seconds: float = TIMEOUT) -> OSError | None:
    """The error if an address does not accept a connection within `seconds`, else None."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError as exc:
        return exc
    return None


def require_listener(what: str, addresses: list[tuple[str, int]], remedy: str) -> None:
    """Check that at least one address accepts a connection; `what` and `remedy` are parts of the error."""
    reason = "no address"
    for host, port in addresses:
        error = refusal(host, port)
        if error is None:
            return
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
    where = ", ".join(f"{host}:{port}" for host, port in addresses)
    raise DbtRuntimeError(f"{what} cannot be reached at {where}: {reason}. {remedy}")
