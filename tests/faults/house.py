"""A project whose runs are killed, a session that reads its tables, and checks of what a kill leaves."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtBaseException
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from dbt.adapters.paimon.credentials import PaimonCredentials

TESTS = Path(__file__).parents[1]

Row = tuple[Any, ...]
Rows = list[Row] | str
Point = dict[str, Any]


def write_project(
    folder: Path,
    schema: str,
    outputs: dict[str, Any],
    models: Mapping[str, str],
    config: Mapping[str, Any] | None = None,
) -> None:
    """Write a project, its profile and an empty warehouse to a folder; the project is named after the schema.

    Args:
        outputs: the profile's targets; schema and warehouse default to the project's.
        models: file name -> text.
        config: more keys of dbt_project.yml.
    """
    for part in ("models", "lake"):
        (folder / part).mkdir(parents=True)
    flags = {"flags": {"send_anonymous_usage_stats": False}}
    project = {"name": schema, "profile": schema} | flags | dict(config or {})
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    own = {"schema": schema, "warehouse": str(folder / "lake")}
    targets = {name: own | target for name, target in outputs.items()}
    (folder / "profiles.yml").write_text(yaml.safe_dump({schema: {"target": "here", "outputs": targets}}))
    for name, text in models.items():
        (folder / "models" / name).write_text(text)


def at(table: str, statement: str, **more: Any) -> list[Point]:
    """The points after and before the statements that name a table and match a pattern."""
    return [{"table": table, "statement": statement, "when": when} | more for when in ("after", "before")]


@dataclass(frozen=True)
class State:
    """The expected rows of a table.

    Attributes:
        query: reads the table; `{s}` is the schema.
        rows: the rows after a step.
        command: the command that takes the table from one step to the next.
        merged: after a kill, returns the rows without a column that was being added or dropped, or None.
    """

    query: str
    rows: Callable[[int], Iterable[Row]]
    command: str = "build"
    merged: Callable[[list[Row]], list[Row] | None] | None = None


@dataclass(frozen=True)
class Command:
    """One dbt command of a project.

    Attributes:
        run: its dbt arguments, given the step and the number of earlier runs; only this command is killed.
        prepare: commands to run first, given the same numbers; not killed, and may fail.
        heal: the command that a user would run after a kill; by default the same one.
        needs_build: whether the step is built first.
    """

    run: Callable[[int, int], Sequence[str]]
    prepare: Callable[[int, int], Sequence[Sequence[str]]] = lambda step, times: ()
    heal: str = ""
    needs_build: bool = True


class Project(Protocol):
    """The interface of a module with a project."""

    SCHEMA: str
    STATES: Mapping[str, State]
    COMMANDS: Mapping[str, Command]
    # Tables that may exist in addition to those of STATES.
    OTHERS: frozenset[str]
    WITHOUT_BRANCHES: frozenset[str]

    def write_project(self, folder: Path, target: dict[str, Any]) -> None: ...
    def write_step(self, folder: Path, step: int) -> None: ...
    def variables(self, step: int, times: Mapping[str, int]) -> dict[str, Any]: ...


@dataclass
class House:
    """A project in a folder, at a step."""

    project: Project
    folder: Path
    read: Callable[[str], list[Row]]
    step: int = 0
    seconds: float = 6.0
    # By command: the step of its tables, and the number of its completed runs.
    at_step: dict[str, int] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)

    def begin(self) -> None:
        """Run the first step, with every command."""
        self.step = 1
        self.project.write_step(self.folder, 1)
        assert self.done("build")
        for command in [name for name in self.project.COMMANDS if name != "build"]:
            self.prepare(command)
            assert self.done(command), command
        assert self.wrong() == []
        assert self.leftovers() == []

    def next_step(self, command: str) -> None:
        """Go to the next step, and run what must precede a command."""
        self.step += 1
        self.project.write_step(self.folder, self.step)
        if command != "build" and self.project.COMMANDS[command].needs_build:
            assert self.done("build")
        self.prepare(command)

    def prepare(self, command: str) -> None:
        for arguments in self.project.COMMANDS[command].prepare(self.step, self.times[command]):
            self._run(arguments)

    def done(self, command: str) -> bool:
        """Run a command of this step in this process; returns whether it succeeded."""
        if not self._run(self.project.COMMANDS[command].run(self.step, self.times[command])):
            return False
        self.note(command)
        return True

    def note(self, command: str) -> None:
        """Note that a command of this step has completed."""
        self.at_step[command] = self.step
        self.times[command] += 1

    def heal(self, command: str) -> bool:
        """Run the command that a user would run after a kill; returns whether it succeeded."""
        return self.done(self.project.COMMANDS[command].heal or command)

    def _run(self, arguments: Sequence[str]) -> bool:
        try:
            run_dbt(self.arguments(arguments))
        except (AssertionError, DbtBaseException):
            return False
        return True

    def arguments(self, command: Sequence[str]) -> list[str]:
        """A command with folders and variables. `<folder>` is the project's; `--refused` sets `refused`."""
        folder, variables = str(self.folder), self.project.variables(self.step, self.times)
        refused = "--refused" in command
        return [
            *(part.replace("<folder>", folder) for part in command if part != "--refused"),
            *("--project-dir", folder, "--profiles-dir", folder, "--log-path", f"{folder}/logs"),
            *(() if "--target-path" in command else ("--target-path", f"{folder}/target")),
            *("--vars", json.dumps(variables | ({"refused": True} if refused else {}))),
        ]

    def kill(self, point: Point) -> int:
        """Run a command in a process that is killed; returns its exit code."""
        command = point.get("command", "build")
        arguments = self.arguments(self.project.COMMANDS[command].run(self.step, self.times[command]))
        environment = os.environ | {"PYTHONPATH": str(TESTS), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        return subprocess.run(
            [sys.executable, "-m", "faults.killed_run", json.dumps(point), *arguments],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=600,
            check=False,
        ).returncode

    def wrong(self, killed: str = "") -> list[str]:
        """A problem for each table whose rows are from neither its command's last step nor, after a kill, this step."""
        problems = []
        for name, state in self.project.STATES.items():
            rows = self._rows(state)
            steps = {self.at_step[state.command]}
            if state.command == (self.project.COMMANDS[killed].heal or killed if killed else ""):
                steps.add(self.step)
            if not _is_one_of(rows, state, steps, bool(killed)):
                problems.append(f"{name}: {rows if isinstance(rows, str) else (len(rows), rows[:3])}")
        return problems

    def _rows(self, state: State) -> Rows:
        try:
            return self.read(state.query.format(s=f"`paimon`.`{self.project.SCHEMA}`"))
        except (PySparkException, Py4JError) as exc:
            return str(exc).split("\n")[0]

    def leftovers(self) -> list[str]:
        """Tables, branches and folders in the warehouse that belong to no model."""
        schema = self.project.SCHEMA
        known = {name.split()[0] for name in self.project.STATES}
        found: set[str] = set()
        for folder in (self.folder / "lake").glob("*.db"):
            found |= {row[1] for row in self.read(f"show tables in `paimon`.`{folder.stem}`")}
            found |= {path.name for path in folder.iterdir()}
        branches = {
            f"{table} has a branch {name}"
            for table in self.project.WITHOUT_BRANCHES
            for (name,) in self.read(f"select branch_name from `paimon`.`{schema}`.`{table}$branches`")
        }
        return sorted((found - known - self.project.OTHERS) | branches)


def _is_one_of(rows: Rows, state: State, steps: Iterable[int], killed: bool) -> bool:
    if isinstance(rows, str):
        return False
    allowed = [sorted(state.rows(step), key=repr) for step in steps]
    found = sorted(rows, key=repr)
    if killed and state.merged is not None and (merged := state.merged(rows)) is not None:
        found = sorted(merged, key=repr)
    return found in allowed


def new_house(project: Project, folder: Path, spark_config: dict[str, Any]) -> House:
    """Write a project and run its first step."""
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "threads": 4,
        "spark_config": spark_config,
    }
    project.write_project(folder, target)
    credentials = PaimonCredentials(
        paimon_version="0.9.0",
        schema=project.SCHEMA,
        warehouse=str(folder / "lake"),
        spark_config=dict(spark_config),
    )
    session = open_session(Runtime(credentials)).session
    house = House(project, folder, lambda sql: [tuple(row) for row in session.sql(sql).collect()])
    house.begin()
    return house


def point_of(house: House, points: Sequence[Point], kill: int, kills: int, seed: int) -> Point:
    """The point of a kill: three kills in five are at chosen points, the rest at random times."""
    chosen = points[: -(-kills * 3 // 5)]
    if kill < len(chosen):
        return chosen[kill]
    chance = random.Random(f"{seed} {kill}")
    return {"after_seconds": chance.uniform(0, house.seconds), "driver_only": kill % 4 == 3}


def check_kill(house: House, point: Point, record: Callable[[str, int], None]) -> None:
    """Kill a run at a point, check what it leaves, and check that the next run heals it."""
    command = point.get("command", "build")
    house.next_step(command)
    returned = house.kill(point)
    if returned == 0:
        house.note(command)
    # A random time may be after the end of the run.
    assert returned == -9 or (returned == 0 and point.keys() & {"after_seconds", "delay"}), f"{point} was never reached"
    problems = house.wrong(killed=command)
    # With two renames, the table is missing for a moment.
    missing = [
        problem
        for problem in problems
        if point.get("two_renames") and problem.startswith(f"{point['table']}: [TABLE_OR_VIEW_NOT_FOUND]")
    ]
    problems = [problem for problem in problems if problem not in missing]
    healed = house.heal(command)
    after = house.wrong() if healed else []
    leftovers = house.leftovers()
    for name, value in {
        "kills tried": returned == -9,
        "states wrong": len(problems) + len(after),
        "runs that did not heal": not healed,
        "leftovers": len(leftovers),
        "names missing (two renames)": len(missing),
    }.items():
        record(name, int(value))
    assert problems == [], f"after a kill at {point}"
    assert healed, f"after a kill at {point}"
    assert after == [], f"healed after a kill at {point}"
    assert leftovers == [], f"after a kill at {point}"
