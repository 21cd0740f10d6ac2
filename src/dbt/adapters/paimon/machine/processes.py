"""Other processes of this machine: whether one is alive, and who listens on a port."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

# TCP_ESTABLISHED and TCP_LISTEN of the kernel's net/tcp_states.h.
_ESTABLISHED, _LISTENING = "01", "0A"
_NET: Final = Path("/proc/net")


def is_alive(pid: int) -> bool:
    """Whether a process with this id is alive; it may belong to any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It belongs to another user.
    return True


def started(pid: int) -> str:
    """When a process was started, in clock ticks since the machine's start (proc(5)); '' if the system has no /proc.

    Tells whether a process is still the one that had this id.
    """
    with suppress(OSError):
        # The name of the program, in parentheses, may contain blanks.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def listener_uid(port: int) -> int | None:
    """The uid of the process that listens on a local port; None if no process listens, or without /proc/net."""
    return next(_socket_uids(port, _LISTENING), None)


def has_clients(port: int) -> bool | None:
    """Whether a process is connected to the server at a local port; None if the system has no /proc/net."""
    if not _NET.exists():
        return None
    return next(_socket_uids(port, _ESTABLISHED), None) is not None


def _socket_uids(port: int, wanted: str) -> Iterator[int]:
    """The uids of sockets with this local port and state (proc(5))."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_NET / table).read_text().splitlines()[1:]:
                _, local, _, state, *_, uid = line.split()[:8]
                if state == wanted and int(local.rpartition(":")[2], 16) == port:
                    yield int(uid)
