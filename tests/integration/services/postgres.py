"""PostgreSQL from the Debian package `postgresql`, with its own folder and port."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from integration.services.process import LOOPBACK, free_port, running

PACKAGES = Path("/usr/lib/postgresql")
MISSING = (
    f"PostgreSQL is not on this machine: there is no {PACKAGES}/*/bin/initdb. "
    "Install it with `apt-get install -y postgresql`; the tests start a server of their own."
)


@dataclass
class Postgres:
    """A server.

    Attributes:
        uri: its JDBC address.
        user, password: of a superuser.
        port: where it listens.
    """

    uri: str
    user: str
    password: str
    port: int
    _command: Sequence[str | Path]
    _folder: Path
    _process: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it takes connections.

        Call it only from the main thread: the server dies with the thread that started it.
        """
        log = self._folder.with_suffix(".log")
        self._server = self._process.enter_context(running(self._command, log, [self.port], cwd=self._folder))
        ready = [_programs() / "pg_isready", "-q", "-h", LOOPBACK, "-p", str(self.port)]
        # The port is open before the server accepts connections.
        while subprocess.run(ready, check=False).returncode:
            time.sleep(0.1)

    def stop(self) -> None:
        """End the server and its connections."""
        self._process.close()

    def kill(self) -> None:
        """Kill the server, as a crash of the machine would; the next start recovers from its log."""
        assert self._server is not None
        os.killpg(self._server.pid, signal.SIGKILL)
        self._process.close()

    def lines(self, script: str) -> list[str]:
        """Run a script with psql; returns the lines of its results.

        Raises:
            RuntimeError: the script failed; with PostgreSQL's message.
        """
        done = subprocess.run(
            [*self.client, "-f", "-"],
            input=script,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.splitlines()

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query, converted to JSON; numbers with a decimal point are Decimals."""
        lines = self.lines(f"select row_to_json(t) from ({query}) as t;")
        return [json.loads(line, parse_float=Decimal) for line in lines]

    @property
    def client(self) -> list[str]:
        """The command of psql, which reads statements and prints bare values."""
        return [str(_programs() / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which psql connects."""
        return os.environ | {
            "PGHOST": LOOPBACK,
            "PGPORT": str(self.port),
            "PGDATABASE": "postgres",
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGTZ": "UTC",
            "PGCLIENTENCODING": "UTF8",
        }


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[Postgres]:
    """Run a server until the block ends; its data is deleted then.

    Args:
        settings: further settings of the server.

    Raises:
        RuntimeError: PostgreSQL is not installed.
    """
    programs = _programs()
    # Not in pytest's folder: PostgreSQL refuses to run as root, and another user cannot read that folder.
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-postgres-"))
    try:
        as_user = as_another_user(folder, "postgres")
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
        uri = f"jdbc:postgresql://{LOOPBACK}:{port}/postgres"
        server = Postgres(uri, user, password, port, command, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".log").unlink(missing_ok=True)


def _programs() -> Path:
    found = sorted(PACKAGES.glob("*/bin/initdb"))
    if not found:
        raise RuntimeError(MISSING)
    return found[-1].parent


def as_another_user(folder: Path, preferred: str) -> list[str]:
    """The prefix for a command that must not run as root; empty if this process is not root's.

    Args:
        folder: the new user becomes its owner.
        preferred: the user's name; `nobody` if there is no such user.
    """
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = preferred if preferred in names else "nobody"
    shutil.chown(folder, user)
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
