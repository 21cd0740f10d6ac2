"""The prompt of `dbt-paimon shell`: reads commands, completes names, and builds the nodes that a saved file affects."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dbt_paimon.client import socket_path
from dbt_paimon.shell.project import Project, touched
from dbt_paimon.shell.requests import Requests
from dbt_paimon.words import DBT, READ_COMMANDS, command

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

PROMPT: Final = "dbt> "
INSTALL: Final = "The shell needs more packages. Install them: pip install 'dbt-paimon[shell]'"
COMMANDS: Final = sorted(
    {*(DBT - {"docs", "ls", "source"}), *READ_COMMANDS, "docs generate", "source freshness", "exit", "watch"}
)
HELP: Final = """\
Any dbt command without the word dbt, for example:  run -s my_model
  plan, diff, report, lineage as in dbt-paimon, on this shell's Spark
  watch [selector]   build and test what you save; Ctrl-C ends it
  exit, or Ctrl-D    end the shell; Ctrl-C ends the running command only"""
_SELECTS: Final = ("-s", "--select", "-m", "--models", "--exclude", "watch")
# Milliseconds: editors write a file in several steps.
_DEBOUNCE: Final = 100
# Milliseconds between checks of the request queue while the shell watches.
_POLL_INTERVAL: Final = 200
# The prompt's result if a request wakes it; cannot be typed.
_WOKEN: Final = "\0"


def start(project: Project, watch: bool) -> None:
    """Read commands until the user leaves; begin with `watch` if asked to."""
    session = _session(project)
    requests = Requests(socket_path(project.folder, project.dbt_options), lambda: _wake(session))
    # Otherwise, a process that was started in the background ignores SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    click.echo(HELP)
    if not requests.open():
        click.echo("Another shell of this project is running, and runs `dbt-paimon run …` for other terminals.")
    try:
        _report(project.load())
        if watch:
            execute(project, "watch", requests)
        _read_lines(project, session, requests)
    finally:
        requests.close()


def _read_lines(project: Project, session: PromptSession[str], requests: Requests) -> None:
    typed = ""

    def wake_if_asked() -> None:
        if requests.waits:
            _wake(session)

    while True:
        answer_waiting(project, requests)
        try:
            line = session.prompt(PROMPT, default=typed, pre_run=wake_if_asked)
        except KeyboardInterrupt:
            typed = ""
            continue
        except EOFError:
            return
        typed = session.default_buffer.text if line == _WOKEN else ""
        if line == _WOKEN:
            continue
        if line.strip() in ("exit", "quit"):
            return
        execute(project, line, requests)


def _wake(session: PromptSession[str]) -> None:
    """Leave the prompt for a request; the typed text stays. Can be called from any thread."""

    def leave() -> None:
        if session.app.is_running and not session.app.is_done:
            session.app.exit(result=_WOKEN)

    if session.app.is_running and session.app.loop is not None:
        session.app.loop.call_soon_threadsafe(leave)


def answer_waiting(project: Project, requests: Requests) -> None:
    """Run the requests of other processes."""
    while (request := requests.next()) is not None:
        click.echo(f"dbt {shlex.join(request.words)}")
        request.answer(lambda words: _exit_code(project, words, err=False))


def _exit_code(project: Project, words: Sequence[str], *, err: bool = True) -> int:
    """Run a command and return dbt's exit code: 1 if a node failed, 2 if dbt could not run the command."""
    if command(words) in READ_COMMANDS:
        return project.run_dbt_paimon(words)
    result = project.run(words)
    _report(result, err=err)
    if result.success:
        return 0
    return 1 if result.exception is None else 2


def execute(project: Project, line: str, requests: Requests | None = None) -> bool | None:
    """Run one line. Return whether it succeeded, or None if it runs no single command. `watch` also runs `requests`."""
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
            _watch(project, words[1:], requests)
            return None
        return _timed(project, words)
    except KeyboardInterrupt:
        return False


def _timed(project: Project, words: list[str]) -> bool:
    began = time.perf_counter()
    code = _exit_code(project, words)
    click.echo(f"{time.perf_counter() - began:.1f} s")
    return code == 0


def _report(result: Any, *, err: bool = True) -> None:
    """Print a usage error, because dbt itself does not."""
    from dbt.cli.exceptions import DbtUsageException

    if result is not None and isinstance(result.exception, DbtUsageException):
        click.echo(str(result.exception), err=err)


def _watch(project: Project, selector: list[str], requests: Requests | None) -> None:
    try:
        from watchfiles import watch
    except ImportError:
        raise click.ClickException(INSTALL) from None

    folders = project.watched_folders()
    click.echo(f"Watching {', '.join(path.name for path in folders)}; Ctrl-C ends it.")
    saves = watch(*folders, debounce=_DEBOUNCE, step=_DEBOUNCE // 2, rust_timeout=_POLL_INTERVAL, yield_on_timeout=True)
    with suppress(KeyboardInterrupt):
        for changes in saves:
            if changes:
                build_saved(project, [Path(path) for _, path in changes], selector)
            if requests is not None:
                answer_waiting(project, requests)


def build_saved(project: Project, saved: Iterable[Path], selector: list[str]) -> list[str]:
    """Build and test the selected nodes, by default those that saved files affect; return the affected nodes."""
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
        """Completes commands at the start of a line, and node names after an option for selectors."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            for text, behind in completions(document.text_before_cursor, project.node_names()):
                yield Completion(text, start_position=-behind)

    return Names()


def completions(line: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Completions of a line up to the cursor, each with the number of characters that it replaces."""
    words = line.split(" ")
    last = words[-1]
    if len(words) == 1:
        yield from ((command, len(line)) for command in COMMANDS if command.startswith(line))
        return
    option = next((word for word in reversed(words[:-1]) if word.startswith("-") or word == "watch"), "")
    if option in _SELECTS:
        # `+name`, `1+name`, `@name`
        stem = last.lstrip("+@0123456789")
        yield from ((name, len(stem)) for name in names if name.startswith(stem))
