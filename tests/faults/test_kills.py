"""Whatever kills a run, and whenever: tables hold the old state or the new one, whole, and the next run heals.

A real dbt process over a local warehouse is killed (SIGKILL to the driver and its JVM) at chosen statements and at random
times; then each table is read, the same step runs again, and each is read once more.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from dbt.adapters.paimon.credentials import PaimonCredentials
from faults import lakehouse

TESTS = Path(__file__).parents[1]

Point = dict[str, Any]


def at(table: str, statement: str, **more: Any) -> list[Point]:
    return [{"table": table, "statement": statement, "when": when} | more for when in ("after", "before")]


RENAMES = {"two_renames": True}
# The most dangerous first: a run in CI gets these.
POINTS: list[Point] = [
    *at("rebuilt_key", "insert into"),
    *at("rebuilt_columns", "add columns")[:1],
    *at("rebuilt_key", "rename to .*__dbt_backup", **RENAMES)[:1],
    *at("maintained", "sys.compact")[:1],
    *at("history", "merge into")[:1],
    *at("rebuilt_key", "drop table")[::-1],
    *at("rebuilt_key", "create table")[:1],
    *at("rebuilt_columns", "insert overwrite"),
    *at("rebuilt_columns", "drop columns"),
    *at("rebuilt_key", "rename to .*rebuilt_key`$", **RENAMES),
    *at("rebuilt", "insert overwrite"),
    *at("appended", "insert into"),
    *at("upserted", "insert into"),
    *at("merged", "merge into"),
    *at("filled", "insert into"),
    *at("overwritten", "insert overwrite"),
    *at("replaced", "merge into"),
    *at("batched", "merge into"),
    *at("planted", "insert overwrite"),
    *at("history", "merge into")[1:],
    *at("maintained", "insert into"),
    *at("maintained", "sys.compact")[1:],
    *at("maintained", "sys.create_tag"),
    *at("maintained", "sys.delete_tag"),
    *at("maintained", "sys.expire_snapshots"),
    *at("maintained", "sys.remove_orphan_files"),
    *at("events", "create or replace view"),
]


@dataclass
class Lakehouse:
    """The project that is killed, a reader of its tables, and the step that all of them were healed to."""

    folder: Path
    read: Callable[[str], list[tuple[Any, ...]]]
    random: random.Random
    step: int = 0
    seconds: float = 6.0
    points: list[Point] = field(default_factory=list)

    def heal(self) -> bool:
        """Run the step again, in this process."""
        results = run_dbt(lakehouse.arguments(self.folder, self.step), expect_pass=None)
        return bool(results) and all(result.status == "success" for result in results)

    def kill(self, point: Point) -> int:
        """Run the step in a process that is killed; its exit code."""
        environment = os.environ | {"PYTHONPATH": str(TESTS), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "faults.killed_run",
                json.dumps(point),
                *lakehouse.arguments(self.folder, self.step),
            ],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
            check=False,
        ).returncode

    def states(self) -> dict[str, list[tuple[Any, ...]] | str]:
        """What each table holds, or the error of reading it."""
        return {name: self._state(name, query) for name, (query, _) in lakehouse.STATES.items()}

    def _state(self, name: str, query: str) -> list[tuple[Any, ...]] | str:
        try:
            return self.read(query.format(t=f"`paimon`.`{lakehouse.SCHEMA}`.`{name.split(maxsplit=1)[0]}`"))
        except (PySparkException, Py4JError) as exc:
            return str(exc).split("\n")[0]

    def leftovers(self) -> list[str]:
        """Tables and folders of the schema that no model has, and views of no step."""
        tables = {row[1] for row in self.read(f"show tables in `paimon`.`{lakehouse.SCHEMA}`")}
        folders = {path.name for path in (self.folder / "lake" / f"{lakehouse.SCHEMA}.db").iterdir()}
        return sorted((tables | folders) - lakehouse.TABLES - {"_dbt_views"})


def is_whole(name: str, rows: list[tuple[Any, ...]] | str, step: int, killed: bool) -> bool:
    """Whether rows are the state of a step; of the step before, too, when a run was killed."""
    if isinstance(rows, str):
        return False
    expected = lakehouse.STATES[name][1]
    allowed = [sorted(expected(step), key=repr)] + ([sorted(expected(step - 1), key=repr)] if killed else [])
    found = sorted(rows, key=repr)
    if name == "rebuilt_columns" and killed and rows and len(rows[0]) == 3:
        # ALTER TABLE and the rows are two commits: the column that comes or goes is all NULL, every other is as it was.
        values = {tuple(value is None for value in row) for row in rows}
        found = sorted(((row[0], row[1] if row[2] is None else row[2]) for row in rows), key=repr)
        return len(values) == 1 and found in allowed
    return found in allowed


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any], request
) -> Iterator[Lakehouse]:
    from dbt.adapters.paimon.session import open_session

    folder = tmp_path_factory.mktemp("faults")
    target = {"type": "paimon", "method": "session", "threads": 4, "spark_config": spark_config}
    lakehouse.write_project(folder, target)
    credentials = PaimonCredentials(
        schema=lakehouse.SCHEMA, warehouse=str(folder / "lake"), spark_config=dict(spark_config)
    )
    session = open_session(credentials).session
    house = Lakehouse(
        folder,
        lambda sql: [tuple(row) for row in session.sql(sql).collect()],
        random.Random(request.config.getoption("--kill-seed")),
    )
    house.step = 1
    assert house.heal()
    assert wrong(house, killed=False) == []
    return house


def wrong(house: Lakehouse, killed: bool) -> list[str]:
    """What is neither old nor new, with the first rows or the error."""
    return [
        f"{name}: {rows if isinstance(rows, str) else (len(rows), rows[:3])}"
        for name, rows in house.states().items()
        if not is_whole(name, rows, house.step, killed)
    ]


def point_of(house: Lakehouse, kill: int, kills: int) -> Point:
    """Chosen statements for three kills in five, random times for the rest."""
    chosen = POINTS[: -(-kills * 3 // 5)]
    if kill < len(chosen):
        return chosen[kill]
    return {"after_seconds": house.random.uniform(0, house.seconds), "driver_only": kill % 4 == 3}


class TestKills:
    def test_kill(self, house: Lakehouse, kill: int, request, record_property) -> None:
        house.step += 1
        lakehouse.write_seed(house.folder, house.step)
        point = point_of(house, kill, request.config.getoption("--kills"))
        returned = house.kill(point)
        # A random time may come after the end of the run.
        assert returned == -9 or (returned == 0 and "after_seconds" in point), f"{point} was never reached"
        missing = []
        problems = wrong(house, killed=True)
        if point.get("two_renames"):
            missing = [
                problem
                for problem in problems
                if problem.startswith("rebuilt_key: [TABLE_OR_VIEW_NOT_FOUND]")
            ]
            problems = [problem for problem in problems if problem not in missing]
        healed = house.heal()
        after = wrong(house, killed=False) if healed else []
        leftovers = house.leftovers()
        figures = Counter(
            {
                "kills tried": returned == -9,
                "states wrong": len(problems) + len(after),
                "runs that did not heal": not healed,
                "leftovers": len(leftovers),
                "names missing (two renames)": len(missing),
            }
        )
        for name, value in figures.items():
            record_property(name, int(value))
        assert problems == [], f"after a kill at {point}"
        assert healed, f"after a kill at {point}"
        assert after == [], f"healed after a kill at {point}"
        assert leftovers == [], f"after a kill at {point}"
