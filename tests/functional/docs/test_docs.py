"""`dbt docs generate`: columns, comments and correct statistics; `persist_docs` with special characters."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from browser import chromium

SOURCE = {"name": "landing", "schema": "{{ target.schema }}", "tables": [{"name": "arrived"}]}
TEXT = 'it\'s a "table" \\ of `all`\n  ünïcode ; -- 100 %'


class TestDocs:
    @pytest.fixture(scope="class")
    def models(self):
        columns = [{"name": "id", "description": TEXT}]
        config = {"persist_docs": {"relation": True, "columns": True}}
        described = [
            {"name": name, "description": TEXT, "config": config, "columns": columns} for name in ("described", "seen")
        ]
        return {
            "described.sql": "{{ config(materialized='table', primary_key='id') }} select 1 as id, 'x' as `odd name`",
            "laid_out.sql": "{{ config(materialized='table', primary_key=['id', 'day'], partition_by='day', bucket=2, "
            "sequence_field='at', merge_engine='partial-update', changelog_producer='lookup') }} "
            "select 1 as id, 2 as at, '2024-01-01' as day",
            "plain.sql": "{{ config(materialized='table') }} select 1 as id",
            "seen.sql": "select id from {{ ref('described') }}",
            "models.yml": yaml.safe_dump({"models": described, "sources": [SOURCE]}),
        }

    @pytest.fixture(scope="class")
    def catalog(self, project, rows) -> Any:
        run_dbt(["run"])
        rows("create table {schema}.arrived (id int) tblproperties ('primary-key' = 'id', 'bucket' = '3')")
        rows("insert into {schema}.arrived values (1), (2)")
        return run_dbt(["docs", "generate", "--static"])

    def test_docs(self, catalog):
        nodes = {key.rsplit(".", 1)[-1]: node for key, node in catalog.nodes.items()}
        assert nodes["described"].metadata.type == "table" and nodes["seen"].metadata.type == "view"
        for name in ("described", "seen"):
            assert nodes[name].metadata.comment == TEXT
            assert nodes[name].columns["id"].comment == TEXT
        assert nodes["described"].columns["odd name"].type == "string"
        statistics = {key: stat.value for key, stat in nodes["described"].stats.items()}
        assert statistics["rows"] == 1 and statistics["files"] == 1 and statistics["bytes"] > 0
        assert statistics["last_modified"]
        labels = {stat.label for stat in nodes["described"].stats.values()}
        assert "# Rows before merging" in labels
        assert statistics["merge_engine"] == "deduplicate" and statistics["bucket"] == 1
        laid_out = {key: stat.value for key, stat in nodes["laid_out"].stats.items()}
        assert (
            laid_out
            | {
                "primary_key": "id, day",
                "partition_by": "day",
                "bucket": 2,
                "merge_engine": "partial-update",
                "sequence_field": "at",
                "changelog_producer": "lookup",
            }
            == laid_out
        )
        assert nodes["laid_out"].metadata.owner == getpass.getuser()
        (source,) = catalog.sources.values()
        assert {key: source.stats[key].value for key in ("primary_key", "bucket", "rows")} == {
            "primary_key": "id",
            "bucket": 3,
            "rows": 2,
        }
        plain = nodes["plain"].stats
        assert plain["rows"].label == "# Rows"
        assert not {"primary_key", "merge_engine", "partition_by", "bucket"} & set(plain)

    @pytest.mark.parametrize(
        ("page", "says"),
        [
            (
                "model/model.test.laid_out",
                {
                    "primary key": "id, day",
                    "partitioned by": "day",
                    "buckets": "2",
                    "merge engine": "partial-update",
                    "sequence field": "at",
                    "changelog producer": "lookup",
                    "# rows before merging": "1",
                    "owner": getpass.getuser(),
                },
            ),
            ("source/source.test.landing.arrived", {"primary key": "id", "# rows before merging": "2"}),
        ],
    )
    def test_in_chromium(self, catalog, project, page, says):
        file = Path(project.project_root) / "target" / "static_index.html"
        with chromium() as browser:
            browser.get(f"{file.as_uri()}#!/{page}")
            wait = WebDriverWait(browser, 30)
            wait.until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".details dt"))
            shown = {
                each.text.lower(): each.find_element(By.XPATH, "following-sibling::dd[1]").text
                for each in browser.find_elements(By.CSS_SELECTOR, "dt")
            }
        assert shown | says == shown
