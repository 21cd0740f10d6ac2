"""After a killed run with `skip_unchanged`, the next run skips what was committed and builds the rest."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt

from faults import lakehouse
from faults.house import House, Point, new_house

pytestmark = pytest.mark.full

REUSED = "REUSED"


KEPT = ("rebuilt", "rebuilt_columns", "rebuilt_key", "appended", "upserted")


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write some of the lakehouse's models and its seed, all with `skip_unchanged`."""
    lakehouse.write_project(folder, target)
    for path in (*(folder / "models").glob("*.sql"), folder / "snapshots" / "history.yml"):
        if path.stem not in KEPT:
            path.unlink()
    path = folder / "dbt_project.yml"
    project = yaml.safe_load(path.read_text())
    for kind in ("models", "seeds"):
        project.setdefault(kind, {})["+skip_unchanged"] = True
    path.write_text(yaml.safe_dump(project))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> House:
    states = {name: state for name, state in lakehouse.STATES.items() if name in (*KEPT, "planted")}
    project: Any = SimpleNamespace(**{**vars(lakehouse), "write_project": write_project, "STATES": states})
    return new_house(project, tmp_path_factory.mktemp("skipped"), spark_config)


def codes(house: House) -> dict[str, str]:
    """Build the step; returns the adapter's response code of each node."""
    results = run_dbt(house.arguments(["build"]))
    house.note("build")
    return {result.node.name: result.adapter_response["code"] for result in results}


@pytest.mark.parametrize(
    ("table", "statement", "when", "reused"),
    [
        ("upserted", "insert into", "before", False),
        ("upserted", "insert into", "after", True),
        ("rebuilt", "insert overwrite", "before", False),
        # The rows and their key are committed, but an old column is not dropped yet.
        ("rebuilt_columns", "insert overwrite", "after", False),
    ],
)
def test_kill(house: House, table: str, statement: str, when: str, reused: bool) -> None:
    point: Point = {"table": table, "statement": statement, "when": when}
    house.next_step("build")
    assert house.kill(point) == -9
    assert house.wrong(killed="build") == []
    assert (codes(house)[table] == REUSED) == reused
    assert house.wrong() == []
    assert house.leftovers() == []
    again = codes(house)
    assert {name for name in ("upserted", "rebuilt", "planted") if again[name] != REUSED} == set()
    assert house.wrong() == []
