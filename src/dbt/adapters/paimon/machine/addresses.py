"""Whether somebody listens at an address, asked before a client that would try for minutes."""

from __future__ import annotations

import re
import socket

from dbt_common.exceptions import DbtRuntimeError

# Seconds that a server has to take a connection.
TIMEOUT = 10
_HOST_AND_PORT = re.compile(r"^(?:\w+://)?(?P<host>\[[^\]]+\]|[^:/\s,]+):(?P<port>\d+)(?:/.*)?$")


def host_and_port(address: str) -> tuple[str, int] | None:
    """The host and port of an address such as `spark://host:7077`, or None if it does not say them."""
    found = _HOST_AND_PORT.match(address)
    return (found["host"].strip("[]"), int(found["port"])) if found else None


def refusal(host: str, port: int, seconds: float = TIMEOUT) -> OSError | None:
    """Why an address takes no connection within some seconds; None if it does."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError as exc:
        return exc
    return None


def require_listener(what: str, addresses: list[tuple[str, int]], remedy: str) -> None:
    """Return when one of some addresses takes a connection.

    Args:
        what: the kind of server, for the error.
        addresses: host and port of each.
        remedy: what a person can do.

    Raises:
        DbtRuntimeError: none does, and why the last one did not.
    """
    reason = "no address"
    for host, port in addresses:
        error = refusal(host, port)
        if error is None:
            return
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
    where = ", ".join(f"{host}:{port}" for host, port in addresses)
    raise DbtRuntimeError(f"{what} cannot be reached at {where}: {reason}. {remedy}")
