"""Several catalogs in one project: models write to other kinds of catalogs, and sources come from any catalog."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from dbt.adapters.factory import get_adapter_by_type
from dbt.tests.util import run_dbt

from integration.catalogs.base import Reader

MODELS = {
    "in_hive.sql": """{{ config(materialized='incremental', primary_key='id', catalog_name='archive') }}
select id, 'hive' as place from {{ source('added', 'landed') }}""",
    # A new primary key in each run, so the table is swapped in that catalog.
    "in_sqlite.sql": """{{ config(
    materialized='table', on_rebuild='drop_history', catalog_name='small', primary_key=['id'] if var('step') % 2 else ['id', 'place']
) }}
select id, 'sqlite' as place from {{ ref('in_hive') }}""",
    "here.sql": """{{ config(materialized='table') }}
select h.id, h.place as h, s.place as s, p.word
from {{ ref('in_hive') }} as h
join {{ ref('in_sqlite') }} as s using (id)
join {{ source('parquet', 'words') }} as p using (id)""",
    "back_in_hive.sql": """{{ config(materialized='table', catalog_name='archive') }}
select id, word from {{ ref('here') }}""",
    "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('back_in_hive') }}",
    "sources.yml": yaml.safe_dump(
        {
            "sources": [
                {"name": "added", "database": "added", "schema": "landing", "tables": [{"name": "landed"}]},
                {
                    "name": "parquet",
                    "database": "spark_catalog",
                    "schema": "landing",
                    "tables": [{"name": "words", "columns": [{"name": "id", "data_tests": ["unique"]}]}],
                },
            ]
        }
    ),
}


class TestSeveralCatalogs:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def folder(self, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("several")

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, folder, spark_config):
        added = "spark.sql.catalog.added"
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "warehouse": str(folder / "lake"),
            "threads": 2,
            "spark_config": spark_config
            | {added: "org.apache.paimon.spark.SparkCatalog", f"{added}.warehouse": str(folder / "added")},
        }

    @pytest.fixture(scope="class")
    def integrations(self, hive, folder):
        kinds = {
            "archive": {
                "catalog_type": "hive",
                "external_volume": str(hive.warehouse),
                "adapter_properties": {"uri": hive.uri},
            },
            "small": {
                "catalog_type": "jdbc",
                "external_volume": str(folder / "small"),
                "adapter_properties": {"uri": f"jdbc:sqlite:{folder / 'small.db'}"},
            },
        }
        return {
            "catalogs": [
                {"name": name, "write_integrations": [{"name": f"{name}_lake"} | kind]} for name, kind in kinds.items()
            ]
        }

    def test_build(self, project, folder, dbt_profile_target, integrations):
        (Path(project.project_root) / "catalogs.yml").write_text(yaml.safe_dump(integrations))
        session = Reader(dbt_profile_target).session
        for sql in (
            "create database if not exists added.landing",
            "create table added.landing.landed (id int)",
            "insert into added.landing.landed values (1), (2)",
            "create database if not exists spark_catalog.landing",
            f"create table spark_catalog.landing.words using parquet location '{folder / 'words'}' "
            "as select * from values (1, 'one'), (2, 'two') as t(id, word)",
        ):
            session.sql(sql)
        for step in (1, 2):
            results = run_dbt(["build", "--vars", f"{{step: {step}}}"])
        assert {str(r.node.database) for r in results if r.node.resource_type == "model"} == {
            "paimon",
            "archive_lake",
            "small_lake",
        }

    def test_rows(self, project, folder, dbt_profile_target, hive):
        here = Reader(dbt_profile_target)
        assert here.state("here") == [(1, "hive", "sqlite", "one"), (2, "hive", "sqlite", "two")]
        assert here.tables() - {"_dbt_views"} == {"here"}
        base = dbt_profile_target
        archive = Reader(
            base | {"catalog": "a", "metastore": "hive", "uri": hive.uri, "warehouse": str(hive.warehouse)}
        )
        assert archive.tables() == {"in_hive", "back_in_hive"}
        assert archive.state("in_hive") == [(1, "hive"), (2, "hive")]
        assert archive.state("back_in_hive") == [(1, "one"), (2, "two")]
        assert archive.rows("select count(*) from {schema}.`in_hive$snapshots`") == [(2,)]
        small = Reader(
            base
            | {
                "catalog": "s",
                "metastore": "jdbc",
                "uri": f"jdbc:sqlite:{folder / 'small.db'}",
                "warehouse": str(folder / "small"),
            }
        )
        assert small.tables() == {"in_sqlite"}
        assert small.state("in_sqlite") == [(1, "sqlite"), (2, "sqlite")]
        assert small.primary_key("in_sqlite") == '["id","place"]'
        assert list((folder / "small").glob("*.db/in_sqlite/bucket-*"))

    def test_the_view_reads_another_catalog(self, project):
        adapter = get_adapter_by_type("paimon")
        with adapter.connection_named("view"):
            rows = adapter.query(f"select count(*) from spark_catalog.{project.test_schema}.seen")
        assert [tuple(row) for row in rows] == [(2,)]

    def test_docs(self, project):
        nodes = run_dbt(["docs", "generate", "--vars", "{step: 2}"])
        assert nodes.nodes["model.test.in_hive"].metadata.database == "archive_lake"
        words = nodes.sources["source.test.parquet.words"]
        assert [(c.name, c.type) for c in words.columns.values()] == [("id", "int"), ("word", "string")]
        landed = nodes.sources["source.test.added.landed"]
        assert landed.stats["rows"].value == 2
