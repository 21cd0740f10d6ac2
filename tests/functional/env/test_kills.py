"""A promotion can be killed at any time: after `env promote` or `env drop`, all tables are new, or all are old.

PROMOTION_KILLS=20 kills more promotions than CI does, also at random times. PROMOTION_KILL_RECORD names a file to which
the result of each kill is appended.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main
from faults.house import at
from functional.env.test_env import CHANGED, MODELS, done, places_of

TESTS = Path(__file__).parents[2]
KILLS = int(os.environ.get("PROMOTION_KILLS", "2"))
# The most dangerous points come first. CI tries the first two: PROMOTION_KILLS is 2 by default.
POINTS: list[dict[str, Any]] = [
    {"table": "customers", "statement": "insert overwrite", "when": "after"},
    {"table": "keyed", "statement": "insert into", "when": "after"},
    {"table": "altered", "statement": "insert overwrite", "when": "before"},
    {"table": "altered", "statement": "drop columns", "when": "before"},
    *at("keyed", "drop table"),
    *at("_dbt_environment", "insert overwrite"),
    {"table": "days", "statement": "insert overwrite", "when": "during", "delay": 0.2},
]
# Random kills come within this many seconds: a promotion takes about 10 seconds after its first statement.
LONGEST = float(os.environ.get("PROMOTION_SECONDS", "10"))
ALTERED = "{{{{ config(materialized='table') }}}} select day, revenue as {} from {{{{ ref('days') }}}}"
TABLES = ("customers", "days", "keyed", "altered", "added")


def points() -> list[dict[str, Any]]:
    chance = random.Random(20261129)
    return [
        POINTS[number] if number < len(POINTS) else {"after_seconds": round(chance.uniform(0, LONGEST), 2)}
        for number in range(KILLS)
    ]


class TestKills:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            **MODELS,
            "days.sql": MODELS["days.sql"].replace("{{ config(schema='marts') }}", ""),
            "altered.sql": ALTERED.format("a"),
        }

    @pytest.fixture(scope="class")
    def built(self, project: Any, rows: Any, warehouse: Path, tmp_path_factory: Any) -> Iterator[dict[str, Any]]:
        """The old and new rows of the tables, and a copy of the warehouse before the promotion."""
        schema = project.test_schema
        run_dbt(["build", *places_of(project)])
        old = tables_of(rows, schema)
        shutil.copytree(Path(project.project_root, "target"), Path(project.project_root, "production"))
        changed = {**CHANGED, "altered.sql": ALTERED.format("b")}
        for name, text in changed.items():
            write_file(text, project.project_root, "models", name)
        done(CliRunner().invoke(main, ["env", "create", "pr-7", "--state", "production", *places_of(project)]))
        new = tables_of(rows, f"{schema}__pr_7", customers="spark_catalog")
        copy = tmp_path_factory.mktemp("before")
        for part in (f"{schema}.db", f"{schema}__pr_7.db"):
            shutil.copytree(warehouse / part, copy / part, symlinks=True)
        yield {"old": old, "new": new, "copy": copy}
        rows(f"drop database if exists paimon.{schema}__pr_7 cascade")

    @pytest.fixture
    def before(self, built: dict[str, Any], warehouse: Path) -> dict[str, Any]:
        """Restores the warehouse to its state before the promotion, and returns `built`."""
        for part in built["copy"].iterdir():
            shutil.rmtree(warehouse / part.name, ignore_errors=True)
            shutil.copytree(part, warehouse / part.name, symlinks=True)
        return built

    @pytest.mark.parametrize("number", range(KILLS))
    def test_kill(self, before: dict[str, Any], project: Any, rows: Any, number: int) -> None:
        point, heal = points()[number], ("promote", "drop")[number % 2]
        code = killed(point, ["env", "promote", "pr-7", *places_of(project)])
        between = tables_of(rows, project.test_schema)
        done(CliRunner().invoke(main, ["env", heal, "pr-7", *places_of(project)]))
        healed = tables_of(rows, project.test_schema)
        states = {name: state_of(name, between, before) for name in TABLES}
        record({"point": point, "killed": code == -signal.SIGKILL, "between": states, "heal": heal})
        assert code == -signal.SIGKILL or "after_seconds" in point
        # Each table always has its old or its new rows, except `altered`, whose columns change before its rows.
        assert "neither" not in {state for name, state in states.items() if name != "altered"}
        # If the promotion had not started, `drop` leaves the old rows.
        assert healed == before["new"] or (heal == "drop" and healed == before["old"] == between)


def tables_of(rows: Callable[[str], Any], schema: str, customers: str = "paimon") -> dict[str, Any]:
    """The sorted rows of a schema's tables; None for a table that does not exist."""
    found = {}
    there = {row[1] for row in rows(f"show tables in paimon.{schema}")} | {"customers"}
    for name in TABLES:
        home = customers if name == "customers" else "paimon"
        found[name] = sorted(rows(f"select * from {home}.{schema}.{name}")) if name in there else None
    return found


def state_of(name: str, between: dict[str, Any], before: dict[str, Any]) -> str:
    """Whether a table has its `old` or its `new` rows, or `neither`."""
    known = [state for state in ("old", "new") if between[name] == before[state][name]]
    return known[0] if known else "neither"


def killed(point: dict[str, Any], arguments: list[str]) -> int:
    """Run `dbt-paimon` until it kills itself, and return its exit code."""
    command = [sys.executable, "-m", "functional.env.killed_promotion", json.dumps(point), *arguments]
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        command, start_new_session=True, capture_output=True, check=False, env=os.environ | {"PYTHONPATH": paths}
    )
    return ran.returncode


def record(figures: dict[str, Any]) -> None:
    """Append the result of a kill to the file PROMOTION_KILL_RECORD."""
    if path := os.environ.get("PROMOTION_KILL_RECORD"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
