"""Runs dbt's commands in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtBaseException

if TYPE_CHECKING:
    from types import ModuleType

    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest


def run(
    words: Sequence[str], *, manifest: Manifest | None = None, callbacks: Sequence[Callable[[Any], None]] = ()
) -> dbtRunnerResult:
    """Run a dbt command and return dbt's result; raises the error that stopped the command.

    Args:
        words: the command line.
        manifest: the project; if None, dbt parses it.
        callbacks: called with each of dbt's events.
    """
    from dbt.cli.main import dbtRunner

    ran = dbtRunner(manifest=manifest, callbacks=list(callbacks)).invoke(list(words))
    if isinstance(ran.exception, Exception) and not isinstance(ran.exception, DbtBaseException):
        raise click.ClickException(str(ran.exception))
    if ran.exception is not None:
        raise ran.exception
    return ran


def listed(arguments: Sequence[str], *keys: str) -> list[dict[str, Any]]:
    """The nodes that `dbt ls` lists, each with these keys."""
    output = ["--output", "json", "--output-keys", *keys, "--log-level", "none", "--no-write-json"]
    lines: Any = run(["ls", *arguments, *output]).result
    return [json.loads(line) for line in lines or ()]


@contextmanager
def replaced(module: ModuleType, **classes: type) -> Iterator[None]:
    """Inside the block, a dbt module has these classes instead of its own ones with the same names."""
    before = {name: getattr(module, name) for name in classes}
    try:
        vars(module).update(classes)
        yield
    finally:
        vars(module).update(before)
