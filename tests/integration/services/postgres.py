"""PostgreSQL of the Debian package `postgresql`, on a folder and a port of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from integration.services.process import LOOPBACK, free_port, running

PACKAGES = Path("/usr/lib/postgresql")
MISSING = (
    f"PostgreSQL is not on this machine: there is no {PACKAGES}/*/bin/initdb. "
    "Install it with `apt-get install -y postgresql`; the tests start a server of their own."
)


@dataclass(frozen=True)
class Postgres:
    """Its address for JDBC, and who may come in."""

    uri: str
    user: str
    password: str


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[Postgres]:
    """Run a server until the block ends; its data goes with it.

    Args:
        settings: of the server, beside those that keep it small.

    Raises:
        RuntimeError: PostgreSQL is not installed.
    """
    programs = _programs()
    # Not in pytest's folder, which is for this user alone: PostgreSQL refuses to run as root.
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-postgres-"))
    try:
        as_user = _as_another_user(folder)
        user, password, port = "paimon", secrets.token_hex(8), free_port()
        (folder / "password").write_text(password)
        data = folder / "data"
        subprocess.run(
            [
                *(*as_user, programs / "initdb", "--pgdata", data, "--username", user),
                *(
                    "--pwfile",
                    folder / "password",
                    "--auth",
                    "scram-sha-256",
                    "--encoding",
                    "UTF8",
                    "--no-sync",
                ),
            ],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        command = [
            *(*as_user, programs / "postgres", "-D", data, "-p", str(port), "-h", LOOPBACK),
            *("-k", folder, "-c", "fsync=off", "-c", "shared_buffers=16MB"),
            *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
        ]
        with running(command, folder.with_suffix(".log"), [port], cwd=folder):
            # It listens before it takes connections.
            while subprocess.run(
                [programs / "pg_isready", "-q", "-h", LOOPBACK, "-p", str(port)], check=False
            ).returncode:
                time.sleep(0.1)
            yield Postgres(f"jdbc:postgresql://{LOOPBACK}:{port}/postgres", user, password)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".log").unlink(missing_ok=True)


def _programs() -> Path:
    found = sorted(PACKAGES.glob("*/bin/initdb"))
    if not found:
        raise RuntimeError(MISSING)
    return found[-1].parent


def _as_another_user(folder: Path) -> list[str]:
    """The words before a command that has to run as somebody else than root, to whom the folder is given."""
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
