"""Another user of this machine: a process that gives up root before it tries something.

It starts as root so that it can import the tests' Python packages, then takes the uid, gid and groups of `nobody`.
Without root there is no other user, so these tests are skipped.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
_SECONDS = 3


def attempt(what: str, *arguments: Any, stranger: bool = True) -> Any:
    """Call a function of this module as another user, or as this one.

    Args:
        what: the function's name.
        arguments: its arguments, which must be valid JSON.
        stranger: whether another user calls it.

    Returns:
        What the function returns.
    """
    if stranger and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    uid = NOBODY if stranger else os.geteuid()
    tried = subprocess.run(
        [sys.executable, __file__, str(uid), what],
        # Not on the command line: the names of many files exceed its limit.
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        timeout=300,
        cwd="/",
        check=False,
    )
    assert tried.returncode == 0, tried.stderr
    return json.loads(tried.stdout.splitlines()[-1])


def connect(port: int, attempts: list[str], sql: str) -> list[Any]:
    """Run a statement over Spark Connect once per parameter string of the address; returns its rows or error codes."""
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException
    from pyspark.sql.connect.session import SparkSession

    found: list[Any] = []
    for parameters in attempts:
        try:
            session: Any = SparkSession(connection=f"sc://127.0.0.1:{port}/{parameters}")
            found.append([list(row) for row in session.sql(sql).collect()])
        except SparkConnectGrpcException as exc:  # noqa: PERF203 - a few attempts
            code: Any = exc.__cause__ or exc.__context__
            found.append(code.code().name)
    return found


def send_all(messages: list[tuple[int, str]]) -> list[str]:
    """Send bytes (hex) to ports, each over its own connection; returns the answers."""
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda one: exchange(one[0], bytes.fromhex(one[1])).hex(), messages))


def exchange(port: int, message: bytes) -> bytes:
    """Send a message to a port and read the answer, until it is complete or nothing more arrives."""
    found = b""
    with socket.socket() as client:
        client.settimeout(_SECONDS)
        try:
            client.connect(("127.0.0.1", port))
            client.sendall(message)
            while block := client.recv(1 << 16):
                found += block
                if len(found) > 8 and struct.unpack(">q", found[:8])[0] == len(found):
                    break
        except OSError:
            pass
    return found


def readable(files: list[str]) -> list[str]:
    """The given files that this process can read."""
    found = []
    for path in files:
        try:
            Path(path).read_bytes()
        except OSError:
            continue
        found.append(path)
    return found


def main(uid: int, what: str) -> None:
    """Become a user and call a function, with its arguments from standard input."""
    arguments = json.loads(sys.stdin.read())
    # Import these now: the other user may not be allowed to read them.
    for module in ("encodings.idna", "pyspark.sql.connect.session", "grpc"):
        importlib.import_module(module)
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    print(json.dumps(globals()[what](*arguments)))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
