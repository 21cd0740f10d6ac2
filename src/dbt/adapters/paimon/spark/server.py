"""Warm local Spark Connect servers of `dbt-paimon server`.

Each server has a note, a private file whose name is derived from master, catalog and location of the tables, so that a
target finds its server without an address.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import redacted
from dbt.adapters.paimon.machine import addresses
from dbt.adapters.paimon.machine.private_files import read_own, require_own_folder, write_own
from dbt.adapters.paimon.machine.processes import is_alive, listener_uid, started
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
        settings: settings that sessions cannot change.
        works_on: master, catalog and location of the tables, for display.
        idle_minutes: minutes without a statement after which the server ends.
        asks_token: whether the server requires its token (the flag `require_server_token`).
        started: when the process was started (see `processes.started`); '' if that is unknown.
    """

    pid: int
    port: int
    versions: dict[str, str]
    settings: dict[str, str]
    works_on: dict[str, str]
    idle_minutes: float
    asks_token: bool = True
    started: str = ""


def folder() -> Path:
    """The folder of this user's server notes, next to dbt's `profiles.yml`; no other user can write to it."""
    path = Path(os.environ.get(FOLDER_VARIABLE) or Path.home() / ".dbt" / "paimon-servers")
    return require_own_folder(
        path, "The folder of warm servers", f"or set the environment variable {FOLDER_VARIABLE} to another one"
    )


def works_on(credentials: PaimonCredentials) -> dict[str, str]:
    """What identifies a server: master, catalog, and location of the tables."""
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
    """The path of the note about a target's server."""
    digest = hashlib.sha256(json.dumps(works_on(credentials), sort_keys=True).encode()).hexdigest()
    return folder() / f"{digest[:16]}.json"


def fixed_settings(runtime: Runtime) -> dict[str, str]:
    """The settings of a target's server that a session cannot change; secrets are masked."""
    fixed = sorted((key, value) for key, value in runtime.conf.items() if key not in runtime.session_conf)
    return {key: str(redacted(key, value)) for key, value in fixed}


def versions(runtime: Runtime) -> dict[str, str]:
    """The versions that a server and its clients must share."""
    return {"dbt-paimon": version("dbt-paimon"), "PySpark": runtime.spark, "Paimon": runtime.paimon}


def write_note(path: Path, note: ServerNote) -> None:
    """Write a server's note atomically, readable by this user only."""
    write_own(path, json.dumps(asdict(note), indent=1))


def read_note(path: Path) -> ServerNote | None:
    """Read a server's note; if the server is dead, delete the note and return None."""
    try:
        note = ServerNote(**json.loads(read_own(path)))
    except (OSError, ValueError, TypeError):
        return None
    # After the server has died, another process may get its id.
    if is_alive(note.pid) and note.started in ("", started(note.pid)):
        return note
    path.unlink(missing_ok=True)
    server_token.forget(path, note.pid)
    return None


def running() -> list[ServerNote]:
    """All running servers of this user."""
    return [note for path in sorted(folder().glob("*.json")) if (note := read_note(path)) is not None]


def find(runtime: Runtime) -> tuple[ServerNote, str]:
    """The warm server of a target, and its token; raises if it does not run or does not match the target."""
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
    owner = listener_uid(note.port)
    if owner not in (None, os.geteuid()):
        # Send neither the token nor a statement to the other user's process.
        raise DbtRuntimeError(
            f"A process of another user (uid {owner}) is listening on the port of this target's warm Spark server "
            f"({LOOPBACK}:{note.port}). {remedy}"
        )
    return note, server_token.read(path, note.pid, remedy)


def mismatches(note: ServerNote, runtime: Runtime) -> list[str]:
    """The differences between a server and what a target needs, one clause each."""
    found = [
        f"it runs {name} {note.versions.get(name, 'unknown')}, this is {value}"
        for name, value in versions(runtime).items()
        if note.versions.get(name) != value
    ]
    if changed := {key for key, _ in fixed_settings(runtime).items() ^ note.settings.items()}:
        found.append(f"it was started with different settings ({', '.join(sorted(changed))})")
    return found


def require_warm_target(credentials: PaimonCredentials) -> None:
    """Refuse a target that no warm server can serve."""
    if credentials.method != PaimonConnectionMethod.CONNECT:
        raise DbtRuntimeError(
            f"The target has method: {credentials.method}, but a warm server serves only targets with method: connect "
            "and without host. Add such a target to the profile, or select one with --target."
        )
    if credentials.host is not None:
        raise DbtRuntimeError(f"The target has its own server ({credentials.address}); remove host to use a warm one.")
