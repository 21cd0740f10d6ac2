"""Two dbt processes write the same tables on one bucket, over and over; one is killed, or suspended for a while.

After each kill, the tables have every run's batch exactly once; only the killed run's batch may be missing. Then that
run is repeated.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.concurrency.leases import LEASE
from integration.catalogs.base import Reader
from integration.report import BUCKET_KILLS
from integration.storage.conftest import on_s3
from own_process import write_project

TESTS = Path(__file__).parents[2]
BATCH = 40
NEW = "{% if is_incremental() %} where {{ var('run') }} not in (select run from {{ this }}) {% endif %}"
FILES = {
    "models/appended.sql": "{{ config(materialized='incremental', incremental_strategy='append') }} "
    f"select id, {{{{ var('run') }}}} as run from range({BATCH}) {NEW}",
    "models/upserted.sql": "{{ config(materialized='incremental', primary_key=['run', 'id'], bucket=2) }} "
    f"select id, {{{{ var('run') }}}} as run from range({BATCH})",
    "models/rebuilt.sql": "{{ config(materialized='table') }} "
    f"select id, {{{{ var('run') }}}} as run from range({BATCH})",
}
# Where a run is hit: the table, the statement that writes it, and the longest delay after the statement's start.
HITS = [("appended", "insert into"), ("upserted", "insert into"), ("rebuilt", "insert overwrite")]
LONGEST_DELAY = 6.0
# Seconds that one in five runs is suspended instead of killed: with its JVM, or without.
STANDS_STILL = LEASE + 15
# The first run number of the other process.
OTHERS_FROM = 1_000_000
LOOP = """
import sys
from dbt.cli.main import dbtRunner
run = int(sys.argv[1])
while True:
    result = dbtRunner().invoke(["run", *sys.argv[2:], "--vars", f"{{run: {run}}}"])
    said = [f"{each.node.name}: {each.status} {each.message}" for each in result.result or () if each.status != "success"]
    print(f"RAN {run} {result.success} {said} {result.exception or ''}", file=sys.stderr, flush=True)
    run += 1
"""


@pytest.fixture
def target(object_store: Any, spark_config: dict[str, Any]) -> dict[str, Any]:
    storage = on_s3(object_store, "kills", s3_lock=True)
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "kills",
        "threads": 4,
        "spark_config": spark_config,
        **storage.target,
    }


def arguments(folder: Path, own: str) -> list[str]:
    return [
        *("--project-dir", str(folder), "--profiles-dir", str(folder)),
        *("--target-path", str(folder / own / "target"), "--log-path", str(folder / own / "logs")),
    ]


class Other:
    """The process that is not killed: it runs dbt over and over."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "other.txt"
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", LOOP, str(OTHERS_FROM), *arguments(folder, "other")],
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )

    def runs(self) -> dict[int, str]:
        """The messages of each finished run, by its number; empty if it succeeded."""
        assert self._process.poll() is None, self._said.read_text()[-3000:]
        lines = [line.split(" ", 3) for line in self._said.read_text().splitlines() if line.startswith("RAN ")]
        return {int(run): "" if success == "True" else said for _, run, success, said in lines}

    def end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@pytest.fixture
def other(target: dict[str, Any], tmp_path: Path) -> Iterator[Callable[[], Other]]:
    started: list[Other] = []

    def start() -> Other:
        started.append(Other(tmp_path))
        return started[-1]

    yield start
    for each in started:
        each.end()


def hit(folder: Path, point: dict[str, Any], run: int) -> int | None:
    """Run dbt in a process that is killed, or suspended for a while, at a point. Returns its exit code."""
    said = folder / f"hit_{run}.txt"
    with said.open("w") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "faults.killed_run", json.dumps(point), "run"),
                *(*arguments(folder, "hit"), "--vars", f"{{run: {run}}}"),
            ],
            env=os.environ | {"PYTHONPATH": str(TESTS)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    until = time.monotonic() + 900
    while process.poll() is None and time.monotonic() < until:
        if point.get("freeze") and psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
            time.sleep(STANDS_STILL)
            os.killpg(process.pid, signal.SIGCONT)
            point = {}
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        # A JVM notices only later that its driver is gone.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def wrong(reader: Reader, ran: set[int], may_have: set[int]) -> list[str]:
    """The problems in the tables after these runs; the other process may have written more since.

    Args:
        reader: reads the tables.
        ran: the runs that succeeded.
        may_have: the runs that may or may not have written a table.
    """
    problems = []
    for table in ("appended", "upserted"):
        rows = reader.state(table)
        found = {run for _, run in rows}
        whole = sorted((number, run) for run in found for number in range(BATCH))
        problems += [f"{table}: {len(rows)} rows of {len(found)} runs"] if rows != whole else []
        problems += [f"{table}: run {run} is missing" for run in sorted(ran - found)]
        unknown = {run for run in found if run < OTHERS_FROM} - ran - may_have
        problems += [f"{table}: run {run} is there" for run in unknown]
    rebuilt = reader.state("rebuilt")
    if rebuilt not in [[(number, run) for number in range(BATCH)] for _, run in rebuilt[:1]]:
        problems.append(f"rebuilt: {rebuilt[:3]} and {len(rebuilt)} rows in all")
    return problems


def test_kills(
    request: pytest.FixtureRequest, target: dict[str, Any], tmp_path: Path, other: Any, record_property: Any
) -> None:
    kills = request.config.getoption("--s3-kills")
    if not kills:
        pytest.skip("make s3-kills")
    write_project(tmp_path, target, FILES)

    def run(number: int) -> bool:
        done = dbtRunner().invoke(["run", *arguments(tmp_path, "own"), "--vars", f"{{run: {number}}}"])
        return bool(done.success)

    assert run(0)
    reader = Reader(target)
    ran = {0}
    beside = other()
    chance = random.Random(20261125 + kills)
    figures: Counter[str] = Counter()
    for number in range(1, kills + kills // 4 + 1):
        table, statement = HITS[number % len(HITS)]
        point = {"table": table, "statement": statement, "when": "during"}
        point |= {"delay": chance.uniform(0, LONGEST_DELAY), "driver_only": number % 4 == 3}
        if number % 5 == 0:
            point |= {"freeze": True, "driver_only": number % 2 == 1}
        returned = hit(tmp_path, point, number)
        stopped = "freeze" in point
        figures["stopped and let go on" if stopped else "killed"] += returned == -9 or stopped
        if returned == 0:
            ran.add(number)
        others = {run for run, said in beside.runs().items() if not said}
        problems = wrong(reader, ran | others, {number})
        healed = run(number)
        figures["runs that did not heal"] += not healed
        if healed:
            ran.add(number)
        others = {run for run, said in beside.runs().items() if not said}
        problems += wrong(reader, ran | others, set())
        figures["states wrong"] += len(problems)
        failed = {run: said for run, said in beside.runs().items() if said}
        figures["runs of the other that failed"] = len(failed)
        figures["runs of the other"] = len(beside.runs())
        with (tmp_path / "record.jsonl").open("a") as record:
            record.write(json.dumps([number, point, returned, problems, healed, failed]) + "\n")
        record_property(BUCKET_KILLS, json.dumps(figures))
        assert problems == [], point
        assert healed, point
        assert failed == {}, point
    record_property(BUCKET_KILLS, json.dumps(figures))
