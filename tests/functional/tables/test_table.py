"""The table materialization: what it creates, and what a rebuild keeps."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

MODEL = """
{{ config(materialized='table', primary_key='id', bucket=2, tblproperties={'file.format': 'orc'}) }}
select id, name from values (1, 'a'), (2, 'b') as t(id, name)
"""
FAILING = MODEL.replace("select id, name", "select id, cast(raise_error('stop') as string) as name")
VIEW = "select id, upper(name) as name from {{ ref('kept') }}"
PARTED = "{{ config(partition_by='p', CONFIG) }} select 1 as id, {{ var('p', 0) }} as p"
PARTED_CONFIGS = {
    "parted": "materialized='table'",
    "parted_published": "materialized='table', wap=true",
    "parted_refreshed": "materialized='incremental', incremental_strategy='insert_overwrite'",
    "parted_header": "materialized='table', sql_header='set spark.sql.sources.partitionOverwriteMode=dynamic'",
}


class TestRebuild:
    @pytest.fixture(scope="class")
    def models(self):
        parted = {f"{name}.sql": PARTED.replace("CONFIG", config) for name, config in PARTED_CONFIGS.items()}
        return {"kept.sql": MODEL, "seen.sql": VIEW} | parted

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"parted_seed.csv": "id,p\n1,0\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+partition_by": "p"}}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        """The profile with dynamic partition overwrite, which many users coming from dbt-spark have set."""
        conf = dbt_profile_target["spark_config"] | {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
        return dbt_profile_target | {"spark_config": conf}

    def test_rebuild_keeps_rows_and_snapshots(self, project, rows):
        run_dbt(["build"])
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "b")]
        options = dict(rows("select key, value from {schema}.`kept$options`"))
        assert options["bucket"] == "2" and options["file.format"] == "orc"
        assert sorted(rows("select * from `spark_catalog`.`" + project.test_schema + "`.`seen`")) == [
            (1, "A"),
            (2, "B"),
        ]

        write_file(FAILING, project.project_root, "models", "kept.sql")
        run_dbt(["run", "--select", "kept"], expect_pass=False)
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "b")]
        assert len(rows("select * from {schema}.`kept$snapshots`")) == 1

        write_file(MODEL.replace("'b'", "'c'"), project.project_root, "models", "kept.sql")
        write_file("id,p\n1,1\n", project.project_root, "seeds", "parted_seed.csv")
        run_dbt(["build", "--full-refresh", "--vars", "p: 1"])
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "c")]
        assert len(rows("select * from {schema}.`kept$snapshots`")) == 2

    @pytest.mark.parametrize("name", [*PARTED_CONFIGS, "parted_seed"])
    def test_a_rebuild_leaves_no_partition_of_before(self, project, rows, name):
        assert rows(f"select id, p from {{schema}}.{name}") == [(1, 1)]
