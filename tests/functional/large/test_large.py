"""Ten million rows, with a driver of 1 GiB that may collect almost no data, in a separate process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from own_process import OwnProcess, write_project

pytestmark = pytest.mark.full

ROWS = 10_000_000
# Rows of the other models: far more than the driver may collect.
SOME = 200_000
ROW = "id, cast(id % 1000 as int) as part, sha2(cast(id as string), 256) as word, id / 7 as number"
MODELS = {
    "ten_million.sql": f"{{{{ config(materialized='table') }}}} select {ROW} from range({ROWS})",
    "keyed.sql": "{{ config(materialized='incremental', primary_key='id', bucket=2) }} "
    f"select {ROW} from range({SOME}) {{% if is_incremental() %}} where id % 2 = 0 {{% endif %}}",
    "merged.sql": "{{ config(materialized='incremental', primary_key='id', bucket=2, incremental_strategy='merge') }} "
    f"select {ROW} from range({SOME}) {{% if is_incremental() %}} where id % 2 = 0 {{% endif %}}",
    "replaced.sql": "{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='decade') }} "
    f"select {ROW}, part % 10 as decade from range({SOME})",
    "python.py": "def model(dbt, session):\n    return dbt.ref('keyed').where('id % 3 = 0')\n",
    "models.yml": yaml.safe_dump(
        {
            "version": 2,
            "models": [
                {
                    "name": "keyed",
                    "columns": [{"name": "id", "data_tests": ["unique", "not_null"]}],
                    "data_tests": [],
                }
            ],
        }
    ),
}
SNAPSHOT = """
{% snapshot versions %}{{ config(unique_key='id', strategy='check', check_cols=['word']) }}
select id, case when id % 2 = 0 then '{{ var("run") }}' else word end as word from {{ ref('keyed') }}
{% endsnapshot %}
"""
# Every row fails this test and is stored.
TEST = "{{ config(store_failures=true, severity='warn') }} select * from {{ ref('keyed') }}"


COUNTS = {
    "keyed": SOME,
    "merged": SOME,
    "replaced": SOME,
    "python": (SOME + 2) // 3,
    "versions": SOME + SOME // 2,
    "seeded": SOME // 10,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("large")


@pytest.fixture(scope="module")
def answers(folder: Path, spark_config: dict[str, Any]) -> list[Any]:
    """The results of the steps: ten million rows, two builds of the rest, its row counts, a show of too many rows."""
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "s",
        "warehouse": str(folder / "lake"),
        "threads": 1,
        "spark_config": {
            **spark_config,
            "spark.driver.memory": "1g",
            # Limits the total size of task results, which include the metadata of written files.
            "spark.driver.maxResultSize": "1m",
            # Otherwise Spark sends the small side of a join (up to 10 MiB) through the driver.
            "spark.sql.autoBroadcastJoinThreshold": "-1",
        },
    }
    files = {
        "snapshots/versions.sql": SNAPSHOT,
        "seeds/seeded.csv": "id,word\n" + "".join(f"{i},{'w' * 60}{i}\n" for i in range(SOME // 10)),
        "tests/stored.sql": TEST,
        **{f"models/{name}": text for name, text in MODELS.items()},
    }
    write_project(folder, target, files)
    counts = ", ".join(f"(select count(*) from paimon.s.{name}) as {name}" for name in COUNTS)
    steps = [
        {"dbt": ["run", "--select", "ten_million"]},
        *({"dbt": ["build", "--exclude", "ten_million", "--vars", f"run: {run}"]} for run in (1, 2)),
        {"sql": f"select {counts}"},
        {"dbt": ["show", "--limit", "-1", "--inline", "select * from {{ ref('keyed') }}"]},
    ]
    return OwnProcess(folder, target, steps).answers()


class TestLarge:
    def test_ten_million_rows_in_one_gibibyte(self, folder: Path, answers: list[Any]) -> None:
        assert answers[0] == {"ten_million": "success"}
        table = folder / "lake" / "s.db" / "ten_million"
        newest = (table / "snapshot" / "LATEST").read_text()
        assert json.loads((table / "snapshot" / f"snapshot-{newest}").read_text())["totalRecordCount"] == ROWS

    def test_no_rows_come_to_the_driver(self, answers: list[Any]) -> None:
        for build in answers[1:3]:
            assert set(build) > set(COUNTS)
            assert set(build.values()) == {"success", "pass", "warn"}
        assert answers[3] == [list(COUNTS.values())]

    def test_the_limit_is_one(self, answers: list[Any]) -> None:
        """The limit has an effect: a command that collects rows exceeds it."""
        assert "spark.driver.maxResultSize" in str(answers[4])
