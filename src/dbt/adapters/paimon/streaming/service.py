"""`dbt-paimon stream`: a run of dbt in this process whose streaming models go on until they are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming import long_running

_STREAMS_ONLY = "config.materialized:streaming"


def run(
    select: Sequence[str], exclude: Sequence[str], full_refresh: bool, target: Mapping[str, str | None]
) -> bool:
    """Run streaming models, each on a thread of its own, until Ctrl-C or SIGTERM.

    Args:
        select: dbt's selectors; of what they select, the streaming models are run.
        exclude: selectors of what is left out.
        full_refresh: whether tables are built anew first.
        target: options of dbt by name (project_dir, profiles_dir, profile, target, vars); None is not given.

    Returns:
        Whether all ended well.

    Raises:
        DbtRuntimeError: the selectors find no streaming model; dbt's own errors for a project that it cannot read.
    """
    from dbt.cli.main import dbtRunner

    places = [
        part for key, value in target.items() if value for part in (f"--{key.replace('_', '-')}", value)
    ]
    chosen = ["--select", *(f"{part},{_STREAMS_ONLY}" for words in select for part in words.split())]
    if exclude:
        chosen += ["--exclude", *exclude]
    listed = dbtRunner().invoke(["--log-level", "none", "ls", "--resource-type", "model", *chosen, *places])
    if not listed.success:
        raise listed.exception or DbtRuntimeError("The project could not be read.")
    names = listed.result if isinstance(listed.result, list) else []
    if not names:
        raise DbtRuntimeError(
            f"No streaming model is selected by {' '.join(select)}. `dbt ls --select {_STREAMS_ONLY}` lists those of "
            "the project."
        )
    click.echo(
        f"Streaming {', '.join(map(str, names))}. Ctrl-C ends it after the batch that is being written."
    )
    refresh = ["--full-refresh"] if full_refresh else []
    with long_running.streams_go_on(), _ended_by_signals():
        # A model that goes on never gives its thread to another one.
        ran = dbtRunner().invoke(["run", "--threads", str(len(names)), *refresh, *chosen, *places])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return bool(ran.success)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The first signal ends streams after their batches, the second one at once."""

    def end(number: int, frame: FrameType | None) -> None:
        if long_running.is_stopping():
            raise KeyboardInterrupt
        long_running.stop()
        click.echo("Ending after the batch that is being written; once more to break it off.")

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
