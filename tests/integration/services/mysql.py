"""MySQL from the package `mysql-server-core` (Ubuntu, Debian unstable), with its own folder and port."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from integration.services.mariadb import DATABASE
from integration.services.postgres import as_another_user
from integration.services.process import LOOPBACK, free_port, running

_PROGRAM = os.environ.get("DBT_PAIMON_MYSQLD", "mysqld")
MISSING = f"{_PROGRAM} is not MySQL's: install `mysql-server-core`, or name its program in DBT_PAIMON_MYSQLD"


def program() -> str | None:
    """The path of the server's program; None if it is missing, or MariaDB's program of the same name."""
    found = shutil.which(_PROGRAM, path=f"{os.environ['PATH']}:/usr/sbin")
    if not found:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return None if "MariaDB" in version else found


@dataclass(frozen=True)
class MySql:
    """A server with an empty database: its JDBC address, and a user with all rights."""

    uri: str
    user: str
    password: str


@contextlib.contextmanager
def mysql() -> Iterator[MySql]:
    """Run a server until the block ends, if `program` finds it; its data is deleted then."""
    server = program()
    assert server, MISSING
    # Not in pytest's folder: MySQL refuses to run as root, and another user cannot read that folder.
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-mysql-"))
    try:
        found = MySql(f"jdbc:mysql://{LOOPBACK}:{free_port()}/{DATABASE}", "paimon", secrets.token_hex(8))
        port = int(found.uri.rpartition(":")[2].partition("/")[0])
        first = folder / "first.sql"
        first.write_text(
            f"create database {DATABASE};\n"
            f"create user '{found.user}'@'{LOOPBACK}' identified by '{found.password}';\n"
            f"grant all on *.* to '{found.user}'@'{LOOPBACK}';\n"
        )
        command = [
            *(*as_another_user(folder, "mysql"), server, "--no-defaults", f"--datadir={folder / 'data'}"),
            *(
                f"--port={port}",
                f"--bind-address={LOOPBACK}",
                f"--socket={folder / 'socket'}",
                "--mysqlx=OFF",
            ),
            *("--secure-file-priv=NULL", "--innodb-buffer-pool-size=16M"),
        ]
        subprocess.run([*command, "--initialize-insecure"], check=True, capture_output=True, cwd=folder)
        command.append(f"--init-file={first}")
        with running(command, folder.with_suffix(".log"), [port], cwd=folder):
            yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".log").unlink(missing_ok=True)
