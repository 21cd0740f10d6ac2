"""dbt is ended while a server runs its statement, and runs again at once: nothing of the first run is written after it.

KILL (SIGKILL to dbt alone), TERM and HUP, over Connect, Thrift and the warm server. `--server-kills 60` does each kill 60
times, at random moments of the statement.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import server

ROWS = 400_000
SQL = f"select {{{{ var('n') }}}} as n, id, sha2(cast(id as string), 512) as h from range(0, {ROWS}, 1, 1)"
MODELS = {
    # The model itself says what is new, as a user's would.
    "appended": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
{SQL}{{% if is_incremental() %}} where {{{{ var('n') }}}} > (select max(n) from {{{{ this }}}}){{% endif %}}""",
    "rebuilt": f"{{{{ config(materialized='table') }}}} {SQL}",
    "swapped": f"""{{{{ config(
    materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('n') % 2 == 0 else ['id', 'n'], bucket=1
) }}}} {SQL}""",
    "read": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select n, id, sha2(cast(id as string), 512) as h from {{{{ paimon_changes(source('it', 'fed')) }}}}""",
}
SOURCES = "sources: [{name: it, schema: \"{{ target.schema }}\", tables: [{name: fed}]}]"


class Project:
    """A project on a server: one model per kind of write, and a table that is fed."""

    def __init__(self, folder: Path, target: dict[str, Any]) -> None:
        self.folder = folder
        self.n = 0
        (folder / "models").mkdir()
        (folder / "models" / "sources.yml").write_text(SOURCES)
        for name, sql in MODELS.items():
            (folder / "models" / f"{name}.sql").write_text(sql)
        (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "orphans", "profile": "it"}))
        outputs = {"it": {"type": "paimon", "threads": 1, **target}}
        (folder / "profiles.yml").write_text(yaml.safe_dump({"it": {"target": "it", "outputs": outputs}}))
        self.schema = str(target["schema"])
        self._handle = open_handle(PaimonCredentials(**{"warehouse": None, **target}))
        self.rows(f"create schema if not exists {self.schema}")
        self.rows(f"create table {self.schema}.fed (n int, id bigint)")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self._handle.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    def start(self, model: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run", "--select", model),
                *("--vars", json.dumps({"n": self.n})),
            ],
            cwd=self.folder,
            env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def feed(self) -> None:
        """A run has a number of its own, and rows of it to read."""
        self.n += 1
        self.rows(f"insert into {self.schema}.fed select {self.n}, id from range({ROWS})")

    def writes(self, model: str) -> bool:
        """Whether the run has sent the statement that writes."""
        log = self.folder / "logs" / "dbt.log"
        return log.exists() and any(
            f"{model}" in line and "insert " in line for line in log.read_text().splitlines()
        )

    def counts(self, table: str) -> dict[int, int]:
        """Rows by run."""
        return dict(self.rows(f"select n, count(*) from {self.schema}.{table} group by n"))

    def tables(self) -> set[str]:
        return {row[1] for row in self.rows(f"show tables in {self.schema}")}


def broken_off(project: Project, model: str, number: int, delay: float) -> bool:
    """Run a model, end it so many seconds after its statement began; whether it was still running."""
    (project.folder / "logs" / "dbt.log").unlink(missing_ok=True)
    process = project.start(model)
    deadline = time.monotonic() + 240
    while not project.writes(model) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(delay)
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert process.returncode in (0, -number), output
    return process.returncode != 0


def run(project: Project, model: str) -> str:
    process = project.start(model)
    output, _ = process.communicate(timeout=400)
    assert process.returncode == 0, output
    return output


def check(project: Project, model: str, number: int, delay: float, record: Callable[..., None]) -> None:
    project.feed()
    ended = broken_off(project, model, number, delay)
    run(project, model)
    newest = project.rows(f"select max(snapshot_id) from {project.schema}.`{model}$snapshots`")
    found = project.counts(model)
    # As long as what was left running would take.
    time.sleep(8)
    wrong = {n: count for n, count in found.items() if count != ROWS} or found.get(project.n) != ROWS
    wrong = wrong or project.counts(model) != found
    wrong = wrong or project.rows(f"select max(snapshot_id) from {project.schema}.`{model}$snapshots`") != newest
    left = {name for name in project.tables() if name.startswith(f"{model}__")}
    record("kills tried", int(ended))
    record("states wrong", int(bool(wrong or left)))
    assert not wrong, (found, newest)
    assert not left
