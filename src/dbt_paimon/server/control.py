"""Starts and stops the processes of warm servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from dbt.adapters.paimon.machine.waiting import Wait, WaitedTooLongError
from dbt.adapters.paimon.spark import server, server_token
from dbt_paimon.words import options

# Seconds: the first start may have to download jars.
_START_TIMEOUT: Final = 1800.0
_STOP_TIMEOUT: Final = 30.0
_POLL_INTERVAL: Final = 0.1


def start(path: Path, idle_minutes: float, asks_token: bool, target: Mapping[str, str | None]) -> server.ServerNote:
    """Start the server of a target, and wait until it has written its note to `path`."""
    arguments = options(target)
    if not asks_token:
        arguments.append("--no-token")
    log = path.with_suffix(".log")
    click.echo("Starting Spark …")
    log.touch(mode=0o600)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*(sys.executable, "-m", "dbt_paimon.server.process"), *("--idle-minutes", str(idle_minutes), *arguments)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "DBT_LOG_PATH": str(server_token.folder(path))},
        )

    def started() -> server.ServerNote | None:
        note = server.read_note(path)
        if note is None and process.poll() is not None:
            lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
            raise click.ClickException(f"Spark did not start: {lines[-1] if lines else 'no output'}\nMore in {log}")
        return note

    try:
        wait = Wait("Spark to start", _START_TIMEOUT, f"It was stopped. More in {log}", notify=click.echo)
        return wait.until(started, _POLL_INTERVAL)
    except WaitedTooLongError as exc:
        process.terminate()
        raise click.ClickException(exc.msg) from None


def stop(note: server.ServerNote) -> None:
    """End the process of a server with SIGTERM, or with SIGKILL if it still runs after 30 s."""
    with suppress(ProcessLookupError):
        os.kill(note.pid, signal.SIGTERM)
        end = time.monotonic() + _STOP_TIMEOUT
        while time.monotonic() < end:
            os.kill(note.pid, 0)
            time.sleep(_POLL_INTERVAL)
        os.kill(note.pid, signal.SIGKILL)


def line(note: server.ServerNote) -> str:
    """Describe a running server in one line."""
    versions = ", ".join(f"{name} {value}" for name, value in note.versions.items())
    places = ", ".join(f"{key} {value}" for key, value in note.works_on.items())
    return (
        f"port {note.port} of {server.LOOPBACK}, process {note.pid}, {versions}; {places}; "
        f"stops after {note.idle_minutes:g} idle minutes"
        f"{'' if note.asks_token else '; requires no token'}"
    )
