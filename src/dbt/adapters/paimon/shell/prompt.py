"""The prompt of `dbt-paimon shell`: reads commands, completes names, and rebuilds what a saved file touches."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dbt.adapters.paimon.shell.project import Project
from dbt.adapters.paimon.shell.saved_files import touched

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

PROMPT: Final = "dbt> "
INSTALL: Final = "Install what the shell needs: pip install 'dbt-paimon[shell]'"
COMMANDS: Final = (
    "build",
    "clean",
    "clone",
    "compile",
    "debug",
    "deps",
    "docs generate",
    "exit",
    "list",
    "parse",
    "retry",
    "run",
    "run-operation",
    "seed",
    "show",
    "snapshot",
    "source freshness",
    "test",
    "watch",
)
HELP: Final = """\
Any dbt command without the word dbt, for example:  run -s my_model
  watch [selector]   build what you save, and its tests; Ctrl-C ends it
  exit, or Ctrl-D    end the shell; Ctrl-C ends the running command only"""
_SELECTS: Final = ("-s", "--select", "-m", "--models", "--exclude", "watch")
_ENDS: Final = ("exit", "quit")
# Milliseconds: editors write a file in several steps.
_SETTLED: Final = 100


def start(project: Project, watch: bool) -> None:
    """Read commands until the user leaves.

    Args:
        project: the project.
        watch: whether to begin with `watch`.

    Raises:
        click.ClickException: packages of the extra `shell` are missing.
    """
    session = _session(project)
    # What is started in the background ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    click.echo(HELP)
    _report(project.load())
    if watch:
        execute(project, "watch")
    while True:
        try:
            line = session.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line.strip() in _ENDS:
            return
        execute(project, line)


def execute(project: Project, line: str) -> bool | None:
    """Run one line; whether it succeeded, None if there was nothing to run."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as exc:
        click.echo(f"{exc}: {line}", err=True)
        return False
    if words[:1] == ["dbt"]:
        words = words[1:]
    if not words:
        return None
    if words == ["help"]:
        click.echo(HELP)
        return None
    try:
        if words[0] == "watch":
            _watch(project, words[1:])
            return None
        return _timed(project, words)
    except KeyboardInterrupt:
        return False


def _timed(project: Project, words: list[str]) -> bool:
    began = time.perf_counter()
    result = project.run(words)
    _report(result)
    click.echo(f"{time.perf_counter() - began:.1f} s")
    return bool(result.success)


def _report(result: Any) -> None:
    """Show what dbt itself has not: a command or an option that it does not know."""
    from dbt.cli.exceptions import DbtUsageException

    if result is not None and isinstance(result.exception, DbtUsageException):
        click.echo(str(result.exception), err=True)


def _watch(project: Project, selector: list[str]) -> None:
    try:
        from watchfiles import watch
    except ImportError:
        raise click.ClickException(INSTALL) from None

    folders = project.watched()
    click.echo(f"Watching {', '.join(path.name for path in folders)}; Ctrl-C ends it.")
    for changes in watch(*folders, debounce=_SETTLED, step=_SETTLED // 2, raise_interrupt=False):
        build_saved(project, [Path(path) for _, path in changes], selector)


def build_saved(project: Project, saved: Iterable[Path], selector: list[str]) -> list[str]:
    """Build the nodes that saved files touch, with their tests.

    Args:
        project: the project.
        saved: the files.
        selector: what to build in place of the nodes themselves; empty for these.

    Returns: the nodes' names.
    """
    if (failed := project.load()) is not None:
        _report(failed)
        return []
    nodes = touched(project.manifest, project.folder, saved)
    if nodes:
        _timed(project, ["build", "--select", *(selector or nodes)])
    return nodes


def _session(project: Project) -> PromptSession[str]:
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory
    except ImportError:
        raise click.ClickException(INSTALL) from None

    (project.folder / "target").mkdir(exist_ok=True)
    history = FileHistory(str(project.folder / "target" / ".dbt-paimon-shell"))
    return PromptSession(history=history, completer=_completer(project), complete_while_typing=False)


def _completer(project: Project) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Names(Completer):
        """Commands at the beginning of a line, the names of nodes after what selects."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            for text, behind in completions(document.text_before_cursor, project.names()):
                yield Completion(text, start_position=-behind)

    return Names()


def completions(line: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """What may stand at the end of a line, each with the number of characters that it replaces.

    Args:
        line: up to the cursor.
        names: of the project's nodes.
    """
    words = line.split(" ")
    last = words[-1]
    if len(words) == 1:
        yield from ((command, len(line)) for command in COMMANDS if command.startswith(line))
        return
    options = [word for word in words[:-1] if word.startswith("-") or word == "watch"]
    if options and options[-1] in _SELECTS:
        # `+name`, `1+name`, `@name`
        stem = last.lstrip("+@0123456789")
        yield from ((name, len(stem)) for name in names if name.startswith(stem))
