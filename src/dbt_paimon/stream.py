"""`dbt-paimon stream`: runs dbt in this process, with streaming models that run until they are stopped."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming import long_running

_STREAMS_ONLY: Final = "config.materialized:streaming"
# The keys that `dbt ls` is asked for.
_KEYS: Final = ("name", "unique_id", "depends_on")


def run(
    select: Sequence[str], exclude: Sequence[str], full_refresh: bool, target: Mapping[str, str | None]
) -> bool:
    """Run streaming models, each on its own thread, until Ctrl-C or SIGTERM.

    If one reads the table of another, each first runs until it has read everything, in the order of dbt's graph.

    Args:
        select: dbt's selectors; only the streaming models among the selected nodes are run.
        exclude: selectors of nodes to leave out.
        full_refresh: whether the tables are rebuilt first.
        target: dbt's options by name (project_dir, profiles_dir, profile, target, vars); None: not set.

    Returns:
        Whether all of them ended without an error.

    Raises:
        DbtRuntimeError: no streaming model is selected; or dbt's own errors for an invalid project.
    """
    places = [
        part for key, value in target.items() if value for part in (f"--{key.replace('_', '-')}", value)
    ]
    chosen = ["--select", *(f"{word},{_STREAMS_ONLY}" for word in select)]
    if exclude:
        chosen += ["--exclude", *exclude]
    streams = _listed([*chosen, *places])
    if not streams:
        raise DbtRuntimeError(
            f"No streaming model is selected by {' '.join(select)}. `dbt ls --select {_STREAMS_ONLY}` lists those of "
            "the project."
        )
    with _ended_by_signals():
        return _run_all(streams, [*chosen, *places], full_refresh)


def _run_all(streams: Sequence[Mapping[str, Any]], chosen: Sequence[str], full_refresh: bool) -> bool:
    refresh = ["--full-refresh"] if full_refresh else []
    followers = [stream["name"] for stream in streams if _reads_one_of(stream, streams)]
    if followers:
        click.echo(f"Running each model once first, for the tables that {', '.join(followers)} read.")
        if not _run([*refresh, *chosen]):
            return False
        refresh = []
        if long_running.is_stopping():
            return True
    names = ", ".join(stream["name"] for stream in streams)
    click.echo(f"Streaming {names}. Ctrl-C stops it after the current batch.")
    with long_running.streams_go_on(), _none_waits():
        # A long-running model never hands its thread to another one.
        return _run(["--threads", str(len(streams)), *refresh, *chosen])


def _listed(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """The name, unique_id and depends_on of the selected models."""
    from dbt.cli.main import dbtRunner

    asked = ["ls", "--resource-type", "model", "--output", "json", "--output-keys", *_KEYS]
    listed = dbtRunner().invoke(["--log-level", "none", *asked, *arguments])
    if not listed.success:
        raise listed.exception or DbtRuntimeError("The project could not be read.")
    return [json.loads(line) for line in listed.result] if isinstance(listed.result, list) else []


def _reads_one_of(stream: Mapping[str, Any], streams: Sequence[Mapping[str, Any]]) -> bool:
    return any(other["unique_id"] in stream["depends_on"]["nodes"] for other in streams)


def _run(arguments: Sequence[str]) -> bool:
    from dbt.cli.main import dbtRunner

    ran = dbtRunner().invoke(["run", *arguments])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return bool(ran.success)


@contextmanager
def _none_waits() -> Iterator[None]:
    """No model waits for those that it reads, since a long-running stream never finishes.

    `dbt clone` runs its models this way; `dbt run` has no option for it.
    """
    from dbt.task import run as task
    from dbt.task.runnable import GraphRunnableMode

    class StreamTask(task.RunTask):
        def get_run_mode(self) -> GraphRunnableMode:
            return GraphRunnableMode.Independent

    before = task.RunTask
    task.RunTask = StreamTask  # type: ignore[misc]
    try:
        yield
    finally:
        task.RunTask = before  # type: ignore[misc]


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The first signal ends the streams after their current batches, the second one at once."""

    def end(number: int, frame: FrameType | None) -> None:
        if long_running.is_stopping():
            raise KeyboardInterrupt
        long_running.stop()
        click.echo("Stopping after the current batch; press Ctrl-C again to abort it.")

    long_running.begin()
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
