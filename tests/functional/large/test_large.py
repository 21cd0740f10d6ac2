"""Ten million rows in a driver of 1 GiB, which may take next to none of them from the executors: its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]
ROWS = 10_000_000
# Rows of everything else: many times what the driver may be sent.
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
# Fails with every row, which are stored.
TEST = "{{ config(store_failures=true, severity='warn') }} select * from {{ ref('keyed') }}"


class Project:
    def __init__(self, root: Path, spark_config: dict) -> None:
        self.root = root
        target = {"type": "paimon", "method": "session", "schema": "s", "warehouse": "lake", "threads": 1}
        outputs = {"here": {**target, "spark_config": spark_config}}
        files = {
            "dbt_project.yml": yaml.safe_dump({"name": "large", "profile": "large"}),
            "profiles.yml": yaml.safe_dump({"large": {"target": "here", "outputs": outputs}}),
            "snapshots/versions.sql": SNAPSHOT,
            "seeds/seeded.csv": "id,word\n" + "".join(f"{i},{'w' * 60}{i}\n" for i in range(SOME // 10)),
            "tests/stored.sql": TEST,
            **{f"models/{name}": text for name, text in MODELS.items()},
        }
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)

    def dbt(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [*DBT, *arguments], cwd=self.root, capture_output=True, text=True, timeout=600, check=False
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory, spark_config) -> Project:
    config = {
        **spark_config,
        "spark.driver.memory": "1g",
        # The results of tasks, all told; what a write reports of its files is among them.
        "spark.driver.maxResultSize": "1m",
        # The small side of a join (up to 10 MiB) goes over the driver, by Spark's own choice.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
    return Project(tmp_path_factory.mktemp("large"), config)


class TestLarge:
    def test_ten_million_rows_in_one_gibibyte(self, project):
        code, output = project.dbt("run", "--select", "ten_million")
        assert code == 0, output
        folder = project.root / "lake" / "s.db" / "ten_million"
        newest = (folder / "snapshot" / "LATEST").read_text()
        assert (
            json.loads((folder / "snapshot" / f"snapshot-{newest}").read_text())["totalRecordCount"] == ROWS
        )

    def test_no_rows_come_to_the_driver(self, project):
        for run in (1, 2):
            code, output = project.dbt("build", "--exclude", "ten_million", "--vars", f"run: {run}")
            assert code == 0, output
        query = (
            "select (select count(*) from {{ ref('keyed') }}) as keyed, (select count(*) from {{ ref('merged') }}) as merged, "
            "(select count(*) from {{ ref('replaced') }}) as replaced, (select count(*) from {{ ref('python') }}) as python, "
            "(select count(*) from {{ ref('versions') }}) as versions, (select count(*) from {{ ref('seeded') }}) as seeded"
        )
        code, output = project.dbt("--quiet", "show", "--output", "json", "--inline", query)
        assert code == 0, output
        (counts,) = json.loads(output[output.index("{") :])["show"]
        assert counts == {
            "keyed": SOME,
            "merged": SOME,
            "replaced": SOME,
            "python": (SOME + 2) // 3,
            "versions": SOME + SOME // 2,
            "seeded": SOME // 10,
        }

    def test_the_limit_is_one(self, project):
        """Rows that somebody does ask for are more than the driver may be sent."""
        code, output = project.dbt("show", "--limit", "-1", "--inline", "select * from {{ ref('keyed') }}")
        assert code != 0
        assert "spark.driver.maxResultSize" in output
