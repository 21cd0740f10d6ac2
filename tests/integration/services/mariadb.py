"""MariaDB from the Debian package `mariadb-server`, with its own folder and port."""

from __future__ import annotations

import contextlib
import json
import os
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

from integration.services.postgres import as_another_user
from integration.services.process import LOOPBACK, free_port, running

MISSING = (
    "MariaDB is not on this machine: there is no {}. Install it with `apt-get install -y mariadb-server`; the tests "
    "start a server of their own."
)
DATABASE = "registry"


@dataclass
class MariaDb:
    """A server with an empty database.

    Attributes:
        uri: its JDBC address, for MariaDB's driver.
        user, password: of a user with all rights.
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
        # The port is open before the server accepts connections.
        while self._ask("select 1;").returncode:
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
        """Run a script with MariaDB's own client; returns the lines of its results.

        Raises:
            RuntimeError: the script failed; with MariaDB's message.
        """
        done = self._ask(script)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.splitlines()

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query that returns JSON objects; numbers with a decimal point are Decimals."""
        return [json.loads(line, parse_float=Decimal) for line in self.lines(f"{query};")]

    def _ask(self, script: str) -> subprocess.CompletedProcess[str]:
        command = [
            *(
                _program("mariadb"),
                "--no-defaults",
                "--protocol=tcp",
                f"--host={LOOPBACK}",
                f"--port={self.port}",
            ),
            *(
                f"--user={self.user}",
                "--batch",
                "--raw",
                "--skip-column-names",
                "--default-character-set=utf8mb4",
            ),
            *("--init-command=set time_zone = '+00:00'", DATABASE),
        ]
        environment = os.environ | {"MYSQL_PWD": self.password}
        return subprocess.run(command, input=script, env=environment, capture_output=True, text=True, check=False)


@contextlib.contextmanager
def mariadb(**settings: str) -> Iterator[MariaDb]:
    """Run a server until the block ends; its data is deleted then.

    Args:
        settings: further settings of the server.

    Raises:
        RuntimeError: MariaDB is not installed.
    """
    server, install = _program("mariadbd"), _program("mariadb-install-db")
    # Not in pytest's folder: MariaDB refuses to run as root, and another user cannot read that folder.
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-mariadb-"))
    try:
        as_user = as_another_user(folder, "mysql")
        user, password, port = "paimon", secrets.token_hex(8), free_port()
        data, first = folder / "data", folder / "first.sql"
        subprocess.run(
            [*as_user, install, "--no-defaults", f"--datadir={data}", "--skip-test-db"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        # This script runs at each start, so it must not write to the binary log.
        first.write_text(
            "set sql_log_bin = 0;\n"
            f"create database if not exists {DATABASE} character set utf8mb4;\n"
            f"create user if not exists '{user}'@'{LOOPBACK}' identified by '{password}';\n"
            f"grant all on *.* to '{user}'@'{LOOPBACK}';\n"
        )
        command = [
            *(*as_user, server, "--no-defaults", f"--datadir={data}", f"--port={port}"),
            *(f"--bind-address={LOOPBACK}", f"--socket={folder / 'socket'}", f"--init-file={first}"),
            *(
                "--innodb-buffer-pool-size=16M",
                "--innodb-log-file-size=8M",
                "--innodb-flush-log-at-trx-commit=2",
            ),
            *("--character-set-server=utf8mb4", "--skip-name-resolve"),
            *(f"--{name.replace('_', '-')}={value}" for name, value in settings.items()),
        ]
        uri = f"jdbc:mariadb://{LOOPBACK}:{port}/{DATABASE}"
        found = MariaDb(uri, user, password, port, command, folder)
        found.start()
        try:
            yield found
        finally:
            found.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".log").unlink(missing_ok=True)


def _program(name: str) -> Path:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if not found:
        raise RuntimeError(MISSING.format(name))
    return Path(found)
