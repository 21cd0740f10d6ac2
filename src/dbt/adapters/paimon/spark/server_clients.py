"""Records of a Spark server's clients. They show other clients whether a client is alive, and which session it has."""

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
class ClientRecord:
    """A client that writes a table, as stored in the table's note on the server (see `server_writers`).

    Attributes:
        session: the id of the client's session; '' if another client cannot use it.
        machine: machine and process namespace of `pid`.
        holding: a random id for one acquisition of the table's lock.
        renewals: how often the note was renewed.
        ending: ids of the client's statements that another client is ending.
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
        """Whether the client's process is known to have ended."""
        return self.machine == machine() and self.pid != os.getpid() and not is_alive(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.machine.partition(' ')[0] or 'an unknown machine'}"


def this_client(session: str = "", user: str = "") -> ClientRecord:
    """The record of this process."""
    return ClientRecord(session, user, machine(), os.getpid())


def to_json(client: ClientRecord) -> str:
    """Serialize a record for a note."""
    return json.dumps(asdict(client))


def from_json(text: str) -> ClientRecord:
    """Parse the record in a note; fields of newer versions are ignored."""
    content = json.loads(text)
    found = ClientRecord(**{each.name: content[each.name] for each in fields(ClientRecord) if each.name in content})
    return replace(found, ending=tuple(found.ending))


@lru_cache(maxsize=1)
def machine() -> str:
    """Host name and process namespace: containers may share a host name but not process ids."""
    space = ""
    with suppress(OSError):
        space = f" {Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname() + space
