"""catalogs.yml: a second Paimon catalog in one project, whose models are written, read and documented."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from dbt.adapters.factory import get_adapter_by_type
from dbt.tests.util import get_connection, run_dbt
from dbt_common.exceptions import DbtBaseException

ARCHIVED = """
{{ config(materialized='incremental', primary_key='id', catalog_name='archive') }}
select 1 as id, 'kept' as note
"""


def rows(sql: str) -> list[tuple]:
    """The rows of a query, run by the adapter of the last dbt command, which has read catalogs.yml."""
    adapter = get_adapter_by_type("paimon")
    with get_connection(adapter):
        return [tuple(row) for row in adapter.query(sql)]


def catalogs(**integration: object) -> dict[str, object]:
    return {"catalogs": [{"name": "archive", "write_integrations": [{"name": "archive_lake"} | integration]}]}


class _Project:
    @pytest.fixture(scope="class")
    def models(self):
        sources = {
            "sources": [
                {
                    "name": "old",
                    "database": "archive_lake",
                    "schema": "{{ target.schema }}",
                    "tables": [
                        {
                            "name": "archived",
                            "config": {"freshness": {"warn_after": {"count": 1, "period": "day"}}},
                        }
                    ],
                }
            ]
        }
        return {
            "archived.sql": ARCHIVED,
            "here.sql": "{{ config(materialized='table') }} select * from {{ ref('archived') }}",
            "seen.sql": "select * from {{ ref('archived') }} union all select * from {{ ref('here') }}",
            "sources.yml": yaml.safe_dump(sources),
        }

    def write(self, project, content) -> None:
        (Path(project.project_root) / "catalogs.yml").write_text(yaml.safe_dump(content))


class TestSecondCatalog(_Project):
    @pytest.fixture(scope="class")
    def archive(self, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("archive")

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema):
        target = {**dbt_profile_target, "schema": unique_schema}
        request = {**target, "schema": f"{unique_schema}_pr", "clone_by": "branch"}
        return {"test": {"outputs": {"default": target, "request": request}, "target": "default"}}

    def test_build(self, project, archive):
        self.write(
            project,
            catalogs(catalog_type="filesystem", external_volume=str(archive), file_format="orc"),
        )
        for _ in range(2):
            results = run_dbt(["run"])
        assert {str(result.node.database) for result in results} == {"archive_lake", "paimon"}
        table = archive / f"{project.test_schema}.db" / "archived"
        assert len(list(table.glob("bucket-*/*.orc"))) == 2
        assert not list(table.glob("bucket-*/*.parquet"))
        for place in (f"archive_lake.{project.test_schema}.archived", f"paimon.{project.test_schema}.here"):
            assert rows(f"select * from {place}") == [(1, "kept")]
        # The second run was an upsert into the first run's table.
        assert rows(f"select count(*) from archive_lake.{project.test_schema}.`archived$snapshots`") == [(2,)]
        assert rows(f"select count(*) from spark_catalog.{project.test_schema}.seen") == [(2,)]

        # For these commands, dbt-core itself does not read catalogs.yml.
        assert "test.archived" in run_dbt(["ls", "--no-partial-parse", "--resource-type", "model"])
        catalog = run_dbt(["docs", "generate"])
        node = catalog.nodes["model.test.archived"]
        assert node.metadata.database == "archive_lake"
        # One row that was written twice and is not merged yet.
        assert node.stats["rows"].value == 2
        run_dbt(["source", "freshness"])

    def test_an_interrupted_swap_is_finished(self, project, archive):
        self.write(project, catalogs(catalog_type="filesystem", external_volume=str(archive)))
        schema = f"archive_lake.{project.test_schema}"
        run_dbt(["run", "--select", "archived"])
        # As if a run had been killed between the renames of a swap.
        rows(f"create table {schema}.archived__dbt_backup using paimon as select 1 as id, 'old' as note")
        rows(f"alter table {schema}.archived rename to {project.test_schema}.archived__dbt_tmp")
        rows(f"insert into {schema}.archived__dbt_tmp values (7, 'staged')")
        run_dbt(["run", "--select", "archived"])
        assert sorted(rows(f"select * from {schema}.archived")) == [(1, "kept"), (7, "staged")]
        assert [row[1] for row in rows(f"show tables in {schema}")] == ["archived"]

    def test_a_clone_in_a_catalog_without_views_is_a_copy(self, project, archive):
        self.write(project, catalogs(catalog_type="filesystem", external_volume=str(archive)))
        run_dbt(["run", "--select", "archived"])
        target = Path(project.project_root) / "target"
        shutil.copytree(target, target.with_name("state"))
        run_dbt(["clone", "--select", "archived", "--state", "state", "--target", "request"])
        assert rows(f"select * from archive_lake.{project.test_schema}_pr.archived where note = 'kept'") == [
            (1, "kept")
        ]
        assert rows(f"select * from archive_lake.{project.test_schema}.`archived$branches`") == []
        rows(f"drop database archive_lake.{project.test_schema}_pr cascade")

    def test_a_view_has_no_place_there(self, project, archive):
        self.write(project, catalogs(catalog_type="filesystem", external_volume=str(archive)))
        model = Path(project.project_root) / "models" / "refused.sql"
        model.write_text("{{ config(materialized='view', catalog_name='archive') }} select 1 as id")
        (result,) = run_dbt(["run", "--select", "refused"], expect_pass=False)
        model.unlink()
        assert "model 'refused': a view in the catalog archive_lake" in result.message


class TestRefused(_Project):
    @pytest.mark.parametrize(
        ("integration", "said"),
        [
            ({"catalog_type": "filesystem"}, "external_volume: missing"),
            ({"catalog_type": "hive"}, "uri: missing"),
            (
                {"catalog_type": "hive", "adapter_properties": {"uri": "thrift://h:1", "nested": {}}},
                "nested: must be text",
            ),
            (
                {"catalog_type": "filesystem", "external_volume": "/tmp/x", "table_format": "iceberg"},
                "table_format",
            ),
            ({"catalog_type": "unity", "external_volume": "/tmp/x"}, "unity"),
        ],
    )
    def test_config(self, project, integration, said):
        self.write(project, catalogs(**integration))
        with pytest.raises(DbtBaseException, match=said):
            run_dbt(["parse"])
