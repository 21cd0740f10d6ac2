"""PostgreSQL of the Debian package `postgresql`, on a folder and a port of its own."""

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
        uri: its address for JDBC.
        user, password: who may come in, and do everything.
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

        By the main thread only: a process of `running` ends with the thread that started it.
        """
        log = self._folder.with_suffix(".log")
        self._server = self._process.enter_context(running(self._command, log, [self.port], cwd=self._folder))
        ready = [_programs() / "pg_isready", "-q", "-h", LOOPBACK, "-p", str(self.port)]
        # It listens before it takes connections.
        while subprocess.run(ready, check=False).returncode:
            time.sleep(0.1)

    def stop(self) -> None:
        """End the server and its connections."""
        self._process.close()

    def kill(self) -> None:
        """End it at once, as if the machine went away: the next start goes through its log."""
        assert self._server is not None
        os.killpg(self._server.pid, signal.SIGKILL)
        self._process.close()

    def lines(self, script: str) -> list[str]:
        """Run a script with PostgreSQL's own client; the lines of its results.

        Raises:
            RuntimeError: what PostgreSQL says.
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
        """The rows of a query, as JSON has them; numbers with a point are decimals."""
        lines = self.lines(f"select row_to_json(t) from ({query}) as t;")
        return [json.loads(line, parse_float=Decimal) for line in lines]

    @property
    def client(self) -> list[str]:
        """The command of PostgreSQL's own client, which reads statements and writes bare values."""
        return [str(_programs() / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a client of PostgreSQL's comes in."""
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
    """The words before a command that has to run as somebody else than root, to whom the folder is given.

    Args:
        folder: becomes that user's.
        preferred: that user's name, if there is one of it.
    """
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = preferred if preferred in names else "nobody"
    shutil.chown(folder, user)
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
