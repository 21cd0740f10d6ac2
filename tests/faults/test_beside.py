"""A killed run does not disturb another dbt process that maintains or writes the same tables."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.credentials import PaimonCredentials

TESTS = Path(__file__).parents[1]
BATCH = 100
POLICY = "maintenance={'compact': {'after_run': false}, 'expire_snapshots': {'retain_max': 2, 'after_run': false}}"
MODELS = {
    "upserted": f"""{{{{ config(materialized='incremental', primary_key=['run', 'id'], bucket=2, {POLICY}) }}}}
select {{{{ var('run') }}}} as run, id from range({BATCH})""",
    "merged": f"""{{{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key=['run', 'id'], {POLICY}
) }}}}
select {{{{ var('run') }}}} as run, id from range({BATCH})""",
    "appended": f"""{{{{ config(materialized='incremental', incremental_strategy='append', {POLICY}) }}}}
select {{{{ var('run') }}}} as run, id from range({BATCH})
{{% if is_incremental() %}} where {{{{ var('run') }}}} not in (select run from {{{{ this }}}}) {{% endif %}}""",
}
# Repeats one command, each time with a new number, until a file exists; prints each number when it is done.
LOOP = """
import json, os, sys
from dbt.cli.main import dbtRunner
number = int(sys.argv[2])
while not os.path.exists(sys.argv[1]):
    result = dbtRunner().invoke([*sys.argv[3:], '--vars', json.dumps({'run': number})])
    assert result.success, result
    print('DONE', number, flush=True)
    number += 1
"""
OTHERS = {
    "maintain": ("run-operation", "maintain", "--args", "{force: true}"),
    "a second dbt": ("run",),
}


class Lake:
    """A project, and a session that reads its tables."""

    def __init__(self, folder: Path, spark_config: dict[str, Any]) -> None:
        from dbt.adapters.paimon.spark.runtime import Runtime
        from dbt.adapters.paimon.spark.session import open_session

        self.folder = folder
        self.runs = 0
        (folder / "models").mkdir()
        for name, sql in MODELS.items():
            (folder / "models" / f"{name}.sql").write_text(sql)
        (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "beside", "profile": "beside"}))
        lake = str(folder / "lake")
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "schema": "beside",
            "warehouse": lake,
            "threads": 3,
            "spark_config": spark_config,
        }
        (folder / "profiles.yml").write_text(
            yaml.safe_dump({"beside": {"target": "here", "outputs": {"here": target}}})
        )
        credentials = PaimonCredentials(
            paimon_version="0.9.0", schema="beside", warehouse=lake, spark_config=dict(spark_config)
        )
        self.session = open_session(Runtime(credentials)).session
        assert self.start(["-c", "from dbt.cli.main import cli; cli()", "run", "--vars", "{run: 0}"]).wait(300) == 0

    def start(self, command: list[str], own: str = "mine", **more: Any) -> subprocess.Popen[str]:
        folder = str(self.folder)
        return subprocess.Popen(
            [
                *(sys.executable, *command, "--project-dir", folder, "--profiles-dir", folder),
                *("--target-path", f"{folder}/{own}/target", "--log-path", f"{folder}/{own}/logs"),
            ],
            env=os.environ | {"PYTHONPATH": str(TESTS), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **more,
        )

    def run(self, point: dict[str, Any] | None = None) -> int:
        """Run dbt with the current run number, and kill it at `point`, if any; returns the exit code."""
        variables = ["--vars", json.dumps({"run": self.runs})]
        if point is None:
            command = ["-c", "from dbt.cli.main import cli; cli()", "run", *variables]
            return _code(self.start(command))
        command = ["-m", "faults.killed_run", json.dumps(point), "run", *variables]
        return _code(self.start(command, start_new_session=True))

    def counts(self, table: str) -> dict[int, int]:
        """The number of rows by run; fails if a run has an id twice."""
        rows = self.session.sql(
            f"select run, count(*), count(distinct id) from paimon.beside.{table} group by 1"
        ).collect()
        assert all(count == different for _, count, different in rows), table
        return {run: count for run, count, _ in rows}


def _code(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=300)
    return process.returncode


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> Lake:
    return Lake(tmp_path_factory.mktemp("beside"), spark_config)


@pytest.mark.parametrize("other", OTHERS)
def test_a_killed_run(
    lake: Lake, beside_kill: int, other: str, seed: int, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    lake.runs += 1
    first_of_other = 1000 * (1 + beside_kill)
    ends = tmp_path / "ends"
    beside = lake.start(["-c", LOOP, str(ends), str(first_of_other), *OTHERS[other]], own="other")
    assert beside.stdout is not None
    said = []
    while not said or "DONE" not in said[-1]:
        said.append(beside.stdout.readline())
        assert said[-1], "".join(said)
    chance = random.Random(f"{seed} {other} {beside_kill}")
    returned = lake.run({"after_seconds": chance.uniform(0, 3)})
    assert returned in (-9, 0)
    killed = {table: lake.counts(table) for table in MODELS}
    healed = lake.run() == 0
    ends.touch()
    output, _ = beside.communicate(timeout=300)
    after = {table: lake.counts(table) for table in MODELS}
    runs = [int(line.split()[1]) for line in (*said, *output.splitlines()) if line.startswith("DONE ")]
    theirs = dict.fromkeys(runs, BATCH) if other == "a second dbt" else {}
    wrong = [
        table for table, counts in killed.items() if counts.get(lake.runs, BATCH) != BATCH or counts.get(0) != BATCH
    ]
    wrong += [
        table
        for table, counts in after.items()
        if counts.get(lake.runs) != BATCH or not theirs.items() <= counts.items() or set(counts.values()) != {BATCH}
    ]
    record_property("kills tried", int(returned == -9))
    record_property("states wrong", len(wrong))
    record_property("runs that did not heal", int(not healed))
    assert wrong == []
    assert healed
    assert beside.returncode == 0, output
