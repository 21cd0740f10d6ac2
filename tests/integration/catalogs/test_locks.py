"""Two dbt processes on one catalog, and two writers that only Paimon's own locks keep apart: no row is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.catalogs.base import Reader
from integration.catalogs.own_process import OwnProcess, write_project

BATCH = 50
COMMITS = 15
FILES = {
    "models/appended.sql": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select id, {{{{ var('run') }}}} as run from range({BATCH})""",
    "models/upserted.sql": f"""{{{{ config(materialized='incremental', primary_key=['run', 'id'], bucket=2) }}}}
select {{{{ var('run') }}}} as run, id from range({BATCH})""",
    "models/counted.sql": f"""{{{{ config(
    materialized='incremental', primary_key='id', merge_engine='aggregation', fields={{'n': {{'aggregate_function': 'sum'}}}}
) }}}} select id, 1 as n from range({BATCH})""",
    "models/swapped.sql": f"""{{{{ config(
    materialized='table', primary_key=['id'] if var('run') % 2 else ['id', 'run']
) }}}} select id, {{{{ var('run') }}}} as run from range({BATCH})""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(params=["hive", "sqlite", "postgresql"])
def target(request, folder: Path, spark_config: dict[str, Any]) -> dict[str, Any]:
    """The locks of Paimon on, where it has them."""
    catalog: dict[str, Any] = {
        "sqlite": lambda: {
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{folder / 'catalog.db'}",
            "catalog_options": {"lock.enabled": True},
        },
        "hive": lambda: {
            "metastore": "hive",
            "uri": request.getfixturevalue("hive").uri,
            "catalog_options": {"lock.enabled": True},
        },
        "postgresql": lambda: {
            "metastore": "jdbc",
            "uri": request.getfixturevalue("postgresql").uri,
            "catalog_options": {
                "catalog-key": "locks",
                "jdbc.user": request.getfixturevalue("postgresql").user,
                "jdbc.password": request.getfixturevalue("postgresql").password,
            },
        },
    }[request.param]()
    return {
        "type": "paimon",
        "method": "session",
        "schema": f"{request.function.__name__}_{request.param}",
        "warehouse": str(folder / "lake"),
        "threads": 4,
        "spark_config": spark_config,
        **catalog,
    }


def test_two_runs_of_dbt(target, folder):
    write_project(folder, target, FILES)
    runs = [["run", "--vars", f"{{run: {number}}}"] for number in range(4)]
    both = [
        OwnProcess(folder, target, [{"dbt": runs[first]}, {"dbt": runs[first + 2]}], name=f"process_{first}")
        for first in (0, 1)
    ]
    for process in both:
        for answer in process.answers():
            assert set(answer.values()) == {"success"}, answer
    reader = Reader(target)
    every = sorted((number, run) for run in range(4) for number in range(BATCH))
    assert reader.state("appended") == every
    assert reader.state("upserted") == sorted((run, number) for number, run in every)
    assert reader.state("counted") == [(number, 4) for number in range(BATCH)]
    # The last writer wins, whole.
    assert reader.state("swapped") in [[(number, run) for number in range(BATCH)] for run in (2, 3)]
    assert reader.tables() == {"appended", "upserted", "counted", "swapped"}


@pytest.mark.parametrize("target", ["hive", "sqlite"], indirect=True)
def test_paimons_own_locks(target, folder):
    """Commits of two processes that know nothing of dbt; a local disk alone would let one take the other's place."""
    reader = Reader(target)
    schema = reader.schema
    reader.rows(f"create database {schema}")
    reader.rows(f"create table {schema}.both (writer int, commit int)")
    other = OwnProcess(
        folder, target, [{"sql": f"insert into {schema}.both values (1, {n})"} for n in range(COMMITS)]
    )
    # Its JVM starts meanwhile: these go on until it is done.
    mine = 0
    while other._process.poll() is None or mine < COMMITS:
        reader.rows(f"insert into {schema}.both values (2, {mine})")
        mine += 1
    other.answers()
    expected = [(1, n) for n in range(COMMITS)] + [(2, n) for n in range(mine)]
    assert reader.rows(f"select * from {schema}.both order by writer, commit") == expected
