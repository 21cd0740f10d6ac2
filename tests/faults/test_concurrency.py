"""Two dbt processes run one project at once: no row is lost or duplicated. Rebuilt tables are never missing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt_here import dbt_passes

ROUNDS = 2
BATCH = 100
READ_SECONDS = 0.02

MODELS = {
    # Each run writes rows with its own number.
    "appended": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, {{ var('run') }} as run from range(<batch>)""",
    "appended_and_compacted": """{{ config(
    materialized='incremental', incremental_strategy='append', bucket=2, bucket_key='id', post_hook="{{ compact(this) }}"
) }}
select id, {{ var('run') }} as run from range(<batch>)""",
    "upserted": """{{ config(materialized='incremental', primary_key=['run', 'id'], bucket=2, post_hook="{{ compact(this) }}") }}
select {{ var('run') }} as run, id from range(<batch>)""",
    "counted": """{{ config(
    materialized='incremental', primary_key='id', merge_engine='aggregation', fields={'n': {'aggregate_function': 'sum'}},
    bucket=-1, dynamic_bucket={'target_row_num': 2}
) }}
select id, 1 as n from range(<batch>)""",
    "merged": """{{ config(materialized='incremental', incremental_strategy='merge', unique_key=['run', 'id']) }}
select {{ var('run') }} as run, id from range(<batch>)""",
    "overwritten": """{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='run') }}
select id, {{ var('run') }} as run from range(<batch>)""",
    "rebuilt": "{{ config(materialized='table') }} select id, {{ var('run') }} as run from range(<batch>)",
    "swapped": """{{ config(materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('run') % 2 else ['id', 'run']) }}
select id, {{ var('run') }} as run from range(<batch>)""",
    "seen": "{{ config(materialized='view') }} select id, {{ var('run') }} as run from range(<batch>)",
}
# Each of the two processes creates its own views; one table stores all of them.
VIEWS = {
    f"seen_by_{process}_{number}": f"""{{{{ config(materialized='view', enabled=var('run') % 2 == {process}) }}}}
select {number} as id"""
    for process in range(2)
    for number in range(8)
}


@pytest.fixture(scope="class")
def folder(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> Path:
    folder = tmp_path_factory.mktemp("concurrency")
    (folder / "models").mkdir()
    (folder / "lake").mkdir()
    for name, sql in (MODELS | VIEWS).items():
        (folder / "models" / f"{name}.sql").write_text(sql.replace("<batch>", str(BATCH)))
    (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "both", "profile": "both"}))
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "both",
        "warehouse": str(folder / "lake"),
        "threads": 8,
        "spark_config": spark_config,
    }
    (folder / "profiles.yml").write_text(yaml.safe_dump({"both": {"target": "here", "outputs": {"here": target}}}))
    return folder


@pytest.fixture(scope="class")
def read(folder: Path, spark_config: dict[str, Any]):
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    session = open_session(
        Runtime(
            PaimonCredentials(
                paimon_version="0.9.0",
                schema="both",
                warehouse=str(folder / "lake"),
                spark_config=dict(spark_config),
            )
        )
    ).session
    return lambda sql: [tuple(row) for row in session.sql(sql).collect()]


def start(folder: Path, run: int, *more: str) -> subprocess.Popen[str]:
    """Start a dbt process with its own logs and artifacts."""
    own = folder / f"process_{run % 2}"
    return subprocess.Popen(
        [
            *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run"),
            *("--project-dir", str(folder), "--profiles-dir", str(folder)),
            *("--target-path", str(own / "target"), "--log-path", str(own / "logs")),
            *("--vars", f"{{run: {run}}}", *more),
        ],
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class TestTwoProcesses:
    def test_no_row_is_lost(self, folder: Path, read) -> None:
        runs = range(2 * ROUNDS)
        for first in runs[::2]:
            both = [start(folder, first), start(folder, first + 1)]
            for process in both:
                output, _ = process.communicate(timeout=300)
                assert process.returncode == 0, output

        every = sorted((number, run) for run in runs for number in range(BATCH))
        by_run = sorted((run, number) for number, run in every)
        both_ways = {"appended": every, "appended_and_compacted": every, "overwritten": every}
        both_ways |= {"upserted": by_run, "merged": by_run}
        both_ways["counted"] = [(number, len(runs)) for number in range(BATCH)]
        for table, expected in both_ways.items():
            assert sorted(read(f"select * from paimon.both.{table}")) == expected, table
        # The last writer wins: the table has exactly the rows of one of the last two runs.
        for table in ("rebuilt", "swapped"):
            rows = sorted(read(f"select * from paimon.both.{table}"))
            assert rows in [[(number, run) for number in range(BATCH)] for run in runs[-2:]], table
        assert {row[1] for row in read("show tables in paimon.both")} == {*MODELS, "_dbt_views"} - {"seen"}
        kept = read("select key from paimon.both.`_dbt_views$options` where key like 'dbt.view.%'")
        assert {row[0] for row in kept} == {f"dbt.view.{name}" for name in ("seen", *VIEWS)}


class TestReader:
    """Another process reads two tables while dbt rebuilds them 5 times, or `--kills` times if that is more."""

    @pytest.fixture(scope="class")
    def rebuilds(self, request: pytest.FixtureRequest) -> int:
        return max(5, int(request.config.getoption("--kills")))

    @pytest.fixture(scope="class")
    def loop(self) -> str:
        """Starts dbt once and runs it many times, so that rebuilds follow each other without a pause."""
        return (
            "import sys; from dbt.cli.main import dbtRunner\n"
            "for run in range(int(sys.argv[1])):\n"
            "    result = dbtRunner().invoke(['run', *sys.argv[2:], '--vars', f'{{run: {run}}}'])\n"
            "    assert result.success, result\n"
        )

    def test_the_table_is_always_there(self, folder: Path, read, loop: str, rebuilds: int, record_property) -> None:
        for run in (0, 1):
            dbt_passes(folder, "run", "--vars", f"{{run: {run}}}", "--select", "rebuilt", "swapped")
        command = [
            "--project-dir",
            str(folder),
            "--profiles-dir",
            str(folder),
            "--select",
            "rebuilt",
            "swapped",
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", loop, str(rebuilds), *command, "--log-path", str(folder / "logs")],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        done = threading.Event()
        answers: dict[str, list[Any]] = {"rebuilt": [], "swapped": []}
        faults: dict[str, list[str]] = {"rebuilt": [], "swapped": []}

        def look(table: str) -> None:
            try:
                answers[table] += read(f"select count(*), count(distinct run) from paimon.both.{table}")
            except Exception as exc:  # noqa: BLE001 - any error counts
                faults[table].append(str(exc))

        def poll() -> None:
            while not done.is_set():
                for table in answers:
                    look(table)
                time.sleep(READ_SECONDS)

        reader = threading.Thread(target=poll)
        reader.start()
        try:
            output, _ = process.communicate(timeout=500)
        finally:
            done.set()
            reader.join()
        assert process.returncode == 0, output
        snapshots = read("select count(*) from paimon.both.`rebuilt$snapshots`")[0][0]
        assert snapshots >= rebuilds
        for table, found in answers.items():
            assert len(found) > rebuilds
            assert set(found) == {(BATCH, 1)}, table
        assert faults["rebuilt"] == []
        # A swap deletes the old table, so a read that has begun may miss its files. But the table is never missing.
        assert [fault for fault in faults["swapped"] if "NOT_FOUND" in fault or "FileNotFound" not in fault] == []
        record_property(f"reads during {rebuilds} rebuilds", sum(len(found) for found in answers.values()))
        record_property("reads that failed, of rebuilt tables", len(faults["rebuilt"]))
        record_property("reads that failed, of swapped tables", len(faults["swapped"]))
