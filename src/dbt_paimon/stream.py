"""`dbt-paimon stream`: runs streaming models in this process until they are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming import long_running
from dbt_paimon import commands
from dbt_paimon.words import options

_STREAMS_ONLY: Final = "config.materialized:streaming"


def run(select: Sequence[str], exclude: Sequence[str], full_refresh: bool, target: Mapping[str, str | None]) -> bool:
    """Run streaming models, each on its own thread, until Ctrl-C or SIGTERM; return whether all ended without an error.

    If one fails, the others end, so that a service manager restarts the command. If one reads another's table, all run
    once first, in the order of dbt's graph, so that this table exists.
    """
    # As in dbt, blanks in one value separate selectors.
    chosen = ["--select", *(f"{word},{_STREAMS_ONLY}" for value in select for word in value.split())]
    if exclude:
        chosen += ["--exclude", *exclude]
    chosen += options(target)
    streams = commands.listed(["--resource-type", "model", *chosen], "name", "unique_id", "depends_on")
    if not streams:
        raise DbtRuntimeError(
            f"No streaming model is selected by {' '.join(select)}. `dbt ls --select {_STREAMS_ONLY}` lists those of "
            "the project."
        )
    with _stopped_by_signals():
        return _run_all(streams, chosen, full_refresh)


def _run_all(streams: Sequence[Mapping[str, Any]], chosen: Sequence[str], full_refresh: bool) -> bool:
    refresh = ["--full-refresh"] if full_refresh else []
    followers = [stream["name"] for stream in streams if _reads_one_of(stream, streams)]
    if followers:
        click.echo(f"First running each model once, to create the tables that {', '.join(followers)} read.")
        if not commands.run(["run", *refresh, *chosen]).success:
            return False
        refresh = []
        if long_running.STOP.is_set():
            return True
    names = ", ".join(stream["name"] for stream in streams)
    click.echo(f"Streaming {names}. Press Ctrl-C to stop after the current batch.")
    with long_running.long_running_streams(), _all_at_once():
        # A long-running model never hands its thread to another one.
        words = ["run", "--threads", str(len(streams)), *refresh, *chosen]
        return commands.run(words, callbacks=[_end_others]).success


def _reads_one_of(stream: Mapping[str, Any], streams: Sequence[Mapping[str, Any]]) -> bool:
    return any(other["unique_id"] in stream["depends_on"]["nodes"] for other in streams)


def _end_others(event: Any) -> None:
    """End the other streams after their current batches, if the event says that a stream has failed."""
    if event.info.name == "NodeFinished" and event.data.run_result.status == "error":
        if not long_running.STOP.is_set():
            click.echo(f"{event.data.node_info.node_name} failed. Stopping the others after their current batch.")
        long_running.STOP.set()


@contextmanager
def _all_at_once() -> Iterator[None]:
    """Make `dbt run` start every model at once, as `dbt clone` does: a long-running stream never finishes."""
    from dbt.task import run as task
    from dbt.task.runnable import GraphRunnableMode

    class StreamTask(task.RunTask):
        def get_run_mode(self) -> GraphRunnableMode:
            return GraphRunnableMode.Independent

    with commands.replaced(task, RunTask=StreamTask):
        yield


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Stop the streams after their current batches at the first signal, and abort the batches at the second."""

    def end(number: int, frame: FrameType | None) -> None:
        if long_running.STOP.is_set():
            raise KeyboardInterrupt
        long_running.STOP.set()
        click.echo("Stopping after the current batch; press Ctrl-C again to abort it.")

    # An earlier run in this process may have set it.
    long_running.STOP.clear()
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
