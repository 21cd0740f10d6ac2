"""Warm local Spark Connect servers of `dbt-paimon server`.

Each server has a note in a private file, named by master, catalog and warehouse, so that a target finds it without
an address.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonConnectionMethod, PaimonCredentials
from dbt.adapters.paimon.errors.redaction import redacted
from dbt.adapters.paimon.machine import addresses
from dbt.adapters.paimon.machine.private_files import read_own, require_own_folder, write_own
from dbt.adapters.paimon.machine.processes import is_alive, owner_of_listener
from dbt.adapters.paimon.spark import server_token
from dbt.adapters.paimon.spark.runtime import Runtime

START = "dbt-paimon server start"
STOP = "dbt-paimon server stop"
FOLDER_VARIABLE = "DBT_PAIMON_SERVERS"
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class ServerNote:
    """A running server; secrets in its settings are masked.

    Attributes:
        versions: versions of dbt-paimon, PySpark and Paimon.
        settings: settings that are fixed at the start.
        works_on: master, catalog and warehouse, for display.
        idle_minutes: minutes without a statement after which it ends.
        asks_token: whether it requires its token (the flag `require_server_token`).
    """

    pid: int
    port: int
    versions: dict[str, str]
    settings: dict[str, str]
    works_on: dict[str, str]
    idle_minutes: float
    asks_token: bool = True


def folder() -> Path:
    """The folder with the notes of this user's servers, next to dbt's `profiles.yml`; no other user may write it."""
    path = Path(os.environ.get(FOLDER_VARIABLE) or Path.home() / ".dbt" / "paimon-servers")
    return require_own_folder(
        path, "The folder of warm servers", f"or set the environment variable {FOLDER_VARIABLE} to another one"
    )


def works_on(credentials: PaimonCredentials) -> dict[str, str]:
    """The identity of a server: master, catalog, and location of the tables."""
    catalog = credentials.spark_catalog
    found = {
        "master": credentials.spark_master,
        "catalog": catalog.name,
        "metastore": catalog.metastore,
        "warehouse": catalog.warehouse,
        "uri": catalog.uri,
    }
    return {key: str(redacted(key, value)) for key, value in found.items() if value is not None}


def note_path(credentials: PaimonCredentials) -> Path:
    """The path of the note for a target's server."""
    digest = hashlib.sha256(json.dumps(works_on(credentials), sort_keys=True).encode()).hexdigest()
    return folder() / f"{digest[:16]}.json"


def fixed_settings(runtime: Runtime) -> dict[str, str]:
    """The settings of a target's server that a session cannot change; secrets are masked."""
    return {
        key: str(redacted(key, value)) for key, value in sorted(runtime.conf.items()) if key not in runtime.session_conf
    }


def versions(runtime: Runtime) -> dict[str, str]:
    """The versions that a server and its clients must share."""
    return {"dbt-paimon": version("dbt-paimon"), "PySpark": runtime.spark, "Paimon": runtime.paimon}


def write_note(path: Path, note: ServerNote) -> None:
    """Write a server's note atomically, readable by this user only."""
    write_own(path, json.dumps(asdict(note), indent=1))


def read_note(path: Path) -> ServerNote | None:
    """The server of a note, if it is alive; the note of a dead one is deleted."""
    try:
        note = ServerNote(**json.loads(read_own(path)))
    except (OSError, ValueError, TypeError):
        return None
    if is_alive(note.pid):
        return note
    path.unlink(missing_ok=True)
    server_token.forget(path, note.pid)
    return None


def running() -> list[ServerNote]:
    """All running servers of this user."""
    return [note for path in sorted(folder().glob("*.json")) if (note := read_note(path)) is not None]


def find(runtime: Runtime) -> tuple[ServerNote, str]:
    """The warm server that serves a target, and its token; raises if there is none or it does not fit the target."""
    path = note_path(runtime.credentials)
    note = read_note(path)
    remedy = f"Restart it: {STOP} && {START}"
    if note is None:
        raise DbtRuntimeError(
            f"No warm Spark server runs for this target (method: connect without host). Start it: {START} "
            "(with the same --target and --profiles-dir), or name a server under host."
        )
    if differences := mismatches(note, runtime):
        raise DbtRuntimeError(
            f"The warm Spark server of this target (process {note.pid}) does not match: {'; '.join(differences)}. "
            f"{remedy}"
        )
    addresses.require_listener("The warm Spark server of this target", [(LOOPBACK, note.port)], remedy)
    owner = owner_of_listener(note.port)
    if owner not in (None, os.geteuid()):
        # The other user's process gets neither the token nor a statement.
        raise DbtRuntimeError(
            f"At the port of this target's warm Spark server ({LOOPBACK}:{note.port}) a process of another "
            f"user is listening (uid {owner}). {remedy}"
        )
    return note, server_token.read(path, note.pid, remedy)


def mismatches(note: ServerNote, runtime: Runtime) -> list[str]:
    """The differences between a server and a target's needs, one sentence each."""
    found = [
        f"it runs {name} {note.versions.get(name, 'unknown')}, this is {value}"
        for name, value in versions(runtime).items()
        if note.versions.get(name) != value
    ]
    settings = fixed_settings(runtime)
    if changed := {key for key, _ in settings.items() ^ note.settings.items()}:
        found.append(f"it was started with other settings ({', '.join(sorted(changed))})")
    return found


def require_warm_target(credentials: PaimonCredentials) -> None:
    """Refuse a target that no warm server can serve."""
    if credentials.method != PaimonConnectionMethod.CONNECT:
        raise DbtRuntimeError(
            f"The target has method: {credentials.method}, and a warm server serves targets with method: connect "
            "and no host. Add such a target to the profile, or choose one by --target."
        )
    if credentials.host is not None:
        raise DbtRuntimeError(
            f"The target names a server of its own ({credentials.address}); leave host out to use a warm one."
        )
