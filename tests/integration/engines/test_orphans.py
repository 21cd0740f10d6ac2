"""A statement that outlives its client on a server is ended before the next run writes: no row is duplicated.

dbt is ended by KILL, TERM or HUP while a server runs its statement, and runs again at once. `--server-kills 60` does
this 60 times, at random moments. Other tests cut the network before the commit, or between commit and answer.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import server
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql.helper_names import OWN_STAGING
from integration.report import SERVER_KILLS
from integration.services.forwarder import Forwarder

ROWS = 10_000
# Hash rounds per row, so that a statement outlasts the next run, and the seconds in which it would have ended.
ROUNDS, OUTLASTS = 1000, 30
# A short value that takes one core a long time: the variable `rounds` says how long.
HASH = "substr(aggregate(sequence(1, {{ var('rounds') }}), '', (a, x) -> sha2(concat(a, x, id), 512)), 1, 8) as h"
SQL = f"select {{{{ var('n') }}}} as n, id, {HASH} from range(0, {ROWS}, 1, 1)"
MODELS = {
    # The model itself filters for new rows, as a user's would.
    "appended": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
{SQL}{{% if is_incremental() %}} where {{{{ var('n') }}}} > (select max(n) from {{{{ this }}}}){{% endif %}}""",
    "rebuilt": f"{{{{ config(materialized='table') }}}} {SQL}",
    "swapped": f"""{{{{ config(
    materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('n') % 2 == 0 else ['id', 'n'], bucket=1
) }}}} {SQL}""",
    "read": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select n, id, {HASH} from {{{{ paimon_changes(source('it', 'fed')) }}}}""",
}
# The statement that writes, in dbt's log.
WRITES = re.compile(r"^\s*insert (?:into|overwrite)\b", re.MULTILINE)
SOURCES = 'sources: [{name: it, schema: "{{ target.schema }}", tables: [{name: fed}]}]'


def write_profile(folder: Path, target: dict[str, Any]) -> None:
    (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "orphans", "profile": "it"}))
    outputs = {"it": {"type": "paimon", "paimon_version": "0.9.0", "threads": 1, **target}}
    (folder / "profiles.yml").write_text(yaml.safe_dump({"it": {"target": "it", "outputs": outputs}}))


class Project:
    """A project on a server: one model per kind of write, and the source table `fed`."""

    def __init__(self, folder: Path, target: dict[str, Any]) -> None:
        self.folder = folder
        # The number of the run, which its rows contain.
        self.n = 0
        (folder / "models").mkdir()
        (folder / "models" / "sources.yml").write_text(SOURCES)
        for name, sql in MODELS.items():
            (folder / "models" / f"{name}.sql").write_text(sql)
        write_profile(folder, target)
        self.has_other_clients = "host" in target
        self.schema = str(target["schema"])
        self._handle = open_handle(Runtime(PaimonCredentials(**{"warehouse": None, **target})))
        self.rows(f"drop schema if exists {self.schema} cascade")
        self.rows(f"create schema {self.schema}")
        self.rows(f"create table {self.schema}.fed (n int, id bigint)")
        self.feed()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self._handle.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    def start(self, model: str, rounds: int = 1) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run", "--select", model),
                *("--vars", json.dumps({"n": self.n, "rounds": rounds})),
            ],
            cwd=self.folder,
            env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, model: str) -> None:
        process = self.start(model)
        output, _ = process.communicate(timeout=900)
        assert process.returncode == 0, output

    def begun(self, model: str, rounds: int) -> subprocess.Popen[str]:
        """Start a run, and wait until it has sent the statement that writes."""
        log = self.folder / "logs" / "dbt.log"
        log.unlink(missing_ok=True)
        process = self.start(model, rounds)
        deadline = time.monotonic() + 600
        while process.poll() is None and not (log.exists() and WRITES.search(log.read_text())):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process

    def feed(self) -> None:
        """Set the next run's number, and insert its rows into the source table."""
        self.n += 1
        self.rows(f"insert into {self.schema}.fed select {self.n}, id from range({ROWS})")

    def counts(self, table: str) -> dict[int, int]:
        """Row counts by run."""
        return dict(self.rows(f"select n, count(*) from {self.schema}.{table} group by n"))

    def newest(self, table: str) -> int:
        """The newest table snapshot that is not a compaction."""
        ((number,),) = self.rows(
            f"select max(snapshot_id) from {self.schema}.`{table}$snapshots` where commit_kind <> 'COMPACT'"
        )
        return int(number)

    def tables(self) -> set[str]:
        return {row[1] for row in self.rows(f"show tables in {self.schema}")}


def broken_off(project: Project, model: str, number: int, delay: float) -> bool:
    """Run a model, and signal it `delay` seconds after its statement was sent. Returns whether it was still running."""
    process = project.begun(model, ROUNDS)
    time.sleep(delay)
    process.send_signal(number)
    output, _ = process.communicate(timeout=300)
    assert process.returncode in (0, -number), output
    return process.returncode != 0


def check(project: Project, model: str, number: int, delay: float) -> tuple[dict[str, int], str]:
    """End a run, run the model again at once, and check the table, then and after the first statement would have ended.

    Returns figures for the record, and the problem (empty if there is none).
    """
    project.feed()
    ended = broken_off(project, model, number, delay)
    project.run(model)
    found, newest = project.counts(model), project.newest(model)
    time.sleep(OUTLASTS)
    # On a shared server, the adapter keeps staging tables for a day, because another client might be building them.
    own = OWN_STAGING if project.has_other_clients else None
    left = {
        name for name in project.tables() if name.startswith(f"{model}__dbt_tmp") and not (own and own.search(name))
    }
    wrong = (
        found.get(project.n) != ROWS
        or set(found.values()) != {ROWS}
        or (model in ("rebuilt", "swapped") and len(found) != 1)
        or (project.counts(model), project.newest(model)) != (found, newest)
    )
    figures = {"kills tried": 1, "hit": int(ended), "states wrong": int(wrong or bool(left))}
    return figures, f"{found} at {newest}, left {left}" if wrong or left else ""


def warm_target(folder: Path) -> dict[str, Any]:
    return {
        "method": "connect",
        "warehouse": str(folder / "lake"),
        "spark_config": {"spark.master": "local[2]", "spark.driver.memory": "1g"},
    }


@pytest.fixture(
    params=[
        "connect",
        pytest.param("warm", marks=pytest.mark.full),
        pytest.param("thrift", marks=pytest.mark.full),
    ]
)
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    if request.param != "warm":
        port = request.getfixturevalue(f"{request.param}_port")
        target = {"method": request.param, "host": "127.0.0.1", "port": port}
        yield Project(tmp_path, target | {"schema": f"orphans_{request.param}"})
        return
    monkeypatch.setenv(server.FOLDER_VARIABLE, str(tmp_path / "servers"))
    write_profile(tmp_path, warm_target(tmp_path) | {"schema": "orphans"})
    tool = [sys.executable, "-m", "dbt_paimon.cli", "server"]
    subprocess.run([*tool, "start"], cwd=tmp_path, check=True)
    try:
        yield Project(tmp_path, warm_target(tmp_path) | {"schema": "orphans"})
    finally:
        subprocess.run([*tool, "stop", "--force"], cwd=tmp_path, check=True)


class Record:
    """The kills of one connection method and their figures; also written to a file if a path is given."""

    def __init__(self, method: str, path: Path | None, publish: Callable[[str, object], None]) -> None:
        self.method, self._path, self._publish = method, path, publish
        lines = path.read_text().splitlines() if path and path.exists() else []
        self._done = {(line["method"], line["kill"]): line["figures"] for line in map(json.loads, lines)}

    def has(self, kill: int) -> bool:
        return (self.method, kill) in self._done

    def add(self, kill: int, model: str, figures: dict[str, int]) -> None:
        self._done[self.method, kill] = figures
        if self._path:
            line = {"method": self.method, "kill": kill, "model": model, "figures": figures}
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        totals: Counter[str] = Counter()
        for (method, _), found in self._done.items():
            totals.update(found if method == self.method else {})
        self._publish(SERVER_KILLS, json.dumps(totals))


@pytest.fixture
def record(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Record:
    method = request.node.callspec.params["project"]
    return Record(method, request.config.getoption("server_kill_record"), record_property)


@pytest.mark.timeout(3 * 3600)
def test_ended(project: Project, server_kills: int, record: Record) -> None:
    models = list(MODELS)[: server_kills or 1]
    for model in models:
        project.n = max(project.n, 1)
        project.run(model)
    chance = random.Random(str(server_kills))
    for kill in range(max(1, server_kills)):
        # Half of the signals are KILL, after which dbt cannot clean up.
        number = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)[(kill // len(models)) % 4]
        model, delay = models[kill % len(models)], chance.uniform(0, 3)
        if not record.has(kill):
            figures, wrong = check(project, model, number, delay)
            record.add(kill, model, figures)
            assert not wrong


@pytest.mark.full
def test_terminated(project: Project) -> None:
    """TERM cancels the statement, as Ctrl-C does, and ends dbt. `test_ended` does not always send TERM."""
    project.n = 1
    project.run("rebuilt")
    newest = project.newest("rebuilt")
    project.n = 2
    assert broken_off(project, "rebuilt", signal.SIGTERM, 0.5)
    time.sleep(OUTLASTS)
    assert project.newest("rebuilt") == newest


class Cut:
    """A project whose connection to the server can be cut."""

    def __init__(self, folder: Path, method: str, port: int) -> None:
        self.way = Forwarder(port)
        self.way.open()
        target = {"method": method, "host": "127.0.0.1", "schema": f"cut_{method}"}
        self.project = Project(folder, target | {"port": port})
        write_profile(folder, target | {"port": self.way.port})
        self.project.n = 1
        self.project.run("appended")
        self.project.n = 2

    def newest_becomes(self, number: int) -> None:
        deadline = time.monotonic() + 300
        while self.project.newest("appended") != number:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.fixture(params=["connect", pytest.param("thrift", marks=pytest.mark.full)])
def cut(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cut]:
    found = Cut(tmp_path, request.param, request.getfixturevalue(f"{request.param}_port"))
    yield found
    found.way.shut()


@pytest.mark.full
def test_lost_after_the_commit(cut: Cut) -> None:
    process = cut.project.begun("appended", ROUNDS // 4)
    cut.way.withhold()
    cut.newest_becomes(2)
    cut.way.shut()
    # Wait for longer than the clients retry by themselves.
    time.sleep(25)
    cut.way.open()
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert cut.project.counts("appended") == {1: ROWS, 2: ROWS}
    (result,) = json.loads((cut.project.folder / "target" / "run_results.json").read_text())["results"]
    assert result["adapter_response"]["snapshot_id"] == 2


@pytest.mark.full
def test_lost_before_the_commit(cut: Cut) -> None:
    process = cut.project.begun("appended", ROUNDS // 4)
    cut.way.shut()
    cut.way.open()
    process.communicate(timeout=300)
    # Connect's client reattaches to its statement; a Thrift server has cancelled it.
    committed = cut.project.counts("appended") == {1: ROWS, 2: ROWS}
    assert committed == (process.returncode == 0)
    assert committed or cut.project.counts("appended") == {1: ROWS}
    cut.project.run("appended")
    time.sleep(OUTLASTS)
    assert cut.project.counts("appended") == {1: ROWS, 2: ROWS}
