"""Clients of a Spark server: how another client finds their statements, and whether their process is alive."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path

from dbt.adapters.paimon.machine.processes import is_alive


@dataclass(frozen=True)
class Writer:
    """A client's session in a table's note.

    Attributes:
        session: the server's id of it; '' if another client cannot use it.
        machine: machine and process namespace of `pid`.
        holding: a random id of one holding of a table's lock.
        renewals: how often the note was renewed.
        ending: statements that another client is ending.
    """

    session: str = ""
    user: str = ""
    machine: str = ""
    pid: int = 0
    holding: str = ""
    renewals: int = 0
    ending: tuple[str, ...] = ()

    @property
    def has_died(self) -> bool:
        """Whether its process is known to have ended."""
        return self.machine == machine() and self.pid != os.getpid() and not is_alive(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.machine.partition(' ')[0] or 'an unknown machine'}"


def writer(session: str = "", user: str = "") -> Writer:
    """This process as a writer, for a handle."""
    return Writer(session, user, machine(), os.getpid())


def to_text(client: Writer) -> str:
    """A client as the text of a note."""
    return json.dumps(asdict(client))


def of_text(text: str) -> Writer:
    """The client of a note; fields of a newer version are ignored."""
    content = json.loads(text)
    found = Writer(**{each.name: content[each.name] for each in fields(Writer) if each.name in content})
    return replace(found, ending=tuple(found.ending))


@lru_cache(maxsize=1)
def machine() -> str:
    """Host name and process namespace: containers may share a host name but not their process ids."""
    space = ""
    with suppress(OSError):
        space = f" {Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname() + space
