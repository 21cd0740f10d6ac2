"""Counts what a run of each kind of model costs: statements, Spark jobs, bytes written. Nothing is timed.

`baseline.json` has the expected numbers. After an intended change, rewrite it with `make costs` and commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from functional.conftest import CONNECTOR

BASELINE = Path(__file__).with_name("baseline.json")
# Only bytes have a tolerance, because the lengths of names and times vary between runs.
TOLERANCE = 0.05
# If this variable is set, the test writes the baseline.
WRITE = "DBT_PAIMON_WRITE_COSTS"

_ROWS = """
select id, concat('name ', id) as name, {{ var('batch', 0) }} as batch
from range({{ 1000 if is_incremental() else 20000 }})
"""


def incremental(**config: Any) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in config.items())
    return f"{{{{ config(materialized='incremental', {given}) }}}}{_ROWS}"


MODELS = {
    "a_table.sql": "{{ config(materialized='table') }}" + _ROWS,
    "a_keyed_table.sql": "{{ config(materialized='table', primary_key='id') }}" + _ROWS,
    "a_view.sql": "{{ config(materialized='view') }} select * from {{ ref('a_table') }}",
    "append.sql": incremental(incremental_strategy="append"),
    "upsert.sql": incremental(incremental_strategy="upsert", primary_key="id"),
    "upsert_bucketed.sql": incremental(incremental_strategy="upsert", primary_key="id", bucket=2),
    "merged.sql": incremental(incremental_strategy="merge", primary_key="id"),
    "partial_update.sql": incremental(
        incremental_strategy="partial_update", primary_key="id", merge_engine="partial-update"
    ),
    "delete_insert.sql": incremental(incremental_strategy="delete+insert", unique_key="id"),
    "overwritten.sql": incremental(incremental_strategy="insert_overwrite", partition_by="batch"),
}
SEED = "id,name\n" + "".join(f"{number},name {number}\n" for number in range(500))
SNAPSHOT = {
    "snapshots": [
        {
            "name": "history",
            "relation": "ref('a_table')",
            "config": {"unique_key": "id", "strategy": "check", "check_cols": ["batch"]},
        }
    ]
}
NODES = {**{name.removesuffix(".sql"): "run" for name in MODELS}, "planted": "seed", "history": "snapshot"}


class Counted:
    """Counts a worker's statements and Spark jobs so far, and lists the files of its warehouse."""

    def __init__(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._warehouse = warehouse
        self._statements = 0
        spark_sql = SparkSession.sql

        def counted(session: SparkSession, *args: Any, **kwargs: Any) -> Any:
            self._statements += 1
            return spark_sql(session, *args, **kwargs)

        monkeypatch.setattr(SparkSession, "sql", counted)

    def now(self) -> tuple[int, int, dict[Path, int]]:
        context = SparkSession.builder.getOrCreate().sparkContext
        jobs = context._jsc.sc().dagScheduler().numTotalJobs()
        files = {path: path.stat().st_size for path in self._warehouse.rglob("*") if path.is_file()}
        return self._statements, jobs, files


class TestCosts:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        # Not zstd: the JVM's first Parquet file sets zstd's level, and any test may have written that file.
        codec = {"+tblproperties": {"file.compression": "snappy"}}
        return {"models": codec, "seeds": codec, "snapshots": codec}

    @pytest.fixture(scope="class")
    def models(self):
        return {**MODELS, "history.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": SEED}

    def test_costs(self, project, warehouse, monkeypatch):
        run_dbt(["build"])
        counted = Counted(warehouse, monkeypatch)
        found = {}
        # The counts include the statements that dbt sends in every run.
        for batch, (node, command) in enumerate(NODES.items(), start=1):
            statements, jobs, files = counted.now()
            run_dbt([command, "--select", node, "--vars", f"{{batch: {batch}}}"])
            now = counted.now()
            written = sum(size for path, size in now[2].items() if files.get(path) != size)
            found[node] = {"statements": now[0] - statements, "jobs": now[1] - jobs, "bytes": written}
        key = f"{CONNECTOR.major}.{CONNECTOR.minor}"
        baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
        if os.environ.get(WRITE):
            BASELINE.write_text(json.dumps({**baseline, key: found}, indent=2, sort_keys=True) + "\n")
            return
        if key not in baseline:
            pytest.skip(f"no baseline for Paimon {key}")
        expected = baseline[key]
        assert {node: (cost["statements"], cost["jobs"]) for node, cost in found.items()} == {
            node: (cost["statements"], cost["jobs"]) for node, cost in expected.items()
        }
        for node, cost in found.items():
            assert cost["bytes"] == pytest.approx(expected[node]["bytes"], rel=TOLERANCE), node
