"""The time from a saved model to its rows: in a watching shell, through a shell, with a warm server, and cold."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable

from benchmarks.cold import Project
from benchmarks.measure import Spent, command, in_turns, medians, stop
from benchmarks.options import Options
from benchmarks.report import Report

MODEL = """{{{{ config(materialized='incremental', primary_key='id') }}}}

select id, id * {number} as n from range(1000)
"""
# The number of other models in the project. The measured time includes parsing them.
OTHERS = 40
# Builds that are not measured, because Java first compiles code that runs often.
_WARM = 6
_SECONDS = 300.0


class _Shell:
    """`dbt-paimon shell --watch` on its own terminal. Only wall time is measured."""

    def __init__(self, project: Project) -> None:
        self._file = project.folder / "models" / "one.sql"
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            project.dbt_paimon("shell", "--watch"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=project.folder,
            env={
                **project.environment(),
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "DBT_USE_COLORS": "false",
            },
            start_new_session=True,
            text=True,
        )
        os.close(theirs)
        self._said = ""
        self._wait("Ctrl-C ends it.")

    def saved(self, number: int) -> Spent:
        """Save the model, and wait until it is built."""
        started = time.perf_counter()
        self._file.write_text(MODEL.format(number=number))
        self._wait("OK created")
        wall = time.perf_counter() - started
        self._wait("Done. PASS=1")
        # The shell watches its folders again shortly after dbt has ended.
        time.sleep(1)
        return Spent(wall, 0.0)

    def _wait(self, text: str) -> None:
        end = time.monotonic() + _SECONDS
        while text not in self._said:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"The shell did not say {text!r}, but: {self._said[-2000:]}")
            if select.select([self._ours], [], [], 1)[0]:
                self._said += os.read(self._ours, 65536).decode(errors="replace")
        self._said = self._said.partition(text)[2]


def run(options: Options) -> list[Report]:
    """One report."""
    options.say(f"edit: one model of {OTHERS + 1} is saved and built")
    models = {f"other_{number}.sql": f"select {number} as id\n" for number in range(OTHERS)}
    models["one.sql"] = MODEL.format(number=0)
    project = _prepared(options, "edit", models)
    asked = _prepared(options, "edit-asked", models)
    warm = _prepared(options, "edit-warm", models, method="connect")
    subprocess.run(warm.dbt_paimon("server", "start"), env=warm.environment(), check=True)
    shells = [_Shell(_prepared(options, "edit-shell", models)), _Shell(asked)]
    contestants: dict[str, Callable[[int], Spent]] = {
        "shell --watch, from save to OK": shells[0].saved,
        "dbt-paimon run, a shell is running": _edited(asked, asked.dbt_paimon("run", "--select", "one")),
        "dbt run, warm server": _edited(warm, warm.dbt("run", "--select", "one")),
        "dbt run": _edited(project, project.dbt("run", "--select", "one")),
    }
    try:
        for number in range(_WARM):
            shells[0].saved(1000 + number)
            for name in list(contestants)[1:3]:
                contestants[name](1000 + number)
        found = in_turns(contestants, options.rounds)
    finally:
        for shell in shells:
            stop(shell.process)
        subprocess.run(warm.dbt_paimon("server", "stop"), env=warm.environment(), check=False)
    rows = [
        [name, spent.wall, min(each.wall for each in found[name]), max(each.wall for each in found[name])]
        for name, spent in ((name, medians(spent)) for name, spent in found.items())
    ]
    return [
        Report(
            "edit",
            "A saved model is built",
            ["", "wall s", "fastest", "slowest"],
            rows,
            ["wall s"],
            [
                f"An incremental model with a primary key, 1,000 rows, in a project of {OTHERS + 1} models; "
                "each build is of changed SQL.",
                f"Medians of {options.rounds} rounds in turns, after {_WARM} builds of each that stays loaded. "
                "Whole processes but for the first.",
            ],
        )
    ]


def _prepared(options: Options, name: str, models: dict[str, str], method: str = "session") -> Project:
    """A project whose tables are built."""
    project = Project("paimon", options.scratch / name)
    project.prepare(models)
    if method != "session":
        built = project.lake.rename(project.folder.with_name(f"{name}-lake"))
        project.write(models, method)
        project.lake.rmdir()
        built.rename(project.lake)
    return project


def _edited(project: Project, arguments: list[str]) -> Callable[[int], Spent]:
    """A contestant that saves the model and runs the command, without restoring the warehouse."""

    def once(number: int) -> Spent:
        (project.folder / "models" / "one.sql").write_text(MODEL.format(number=number))
        log = project.folder / f"edited-{number}.log"
        return command(arguments, project.folder, project.environment(), log)

    return once
