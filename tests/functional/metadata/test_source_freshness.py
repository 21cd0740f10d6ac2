"""`dbt source freshness` uses a table's last commit that is not a compaction, without a scan."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
import yaml
from dbt.tests.util import get_artifact, run_dbt

TABLES = ("loaded", "compacted", "no_rows_yet")


def sources_yml(*tables: str) -> str:
    freshness = {"warn_after": {"count": 1, "period": "hour"}, "error_after": {"count": 1, "period": "day"}}
    listed = [{"name": table, "config": {"freshness": freshness}} for table in tables]
    return yaml.safe_dump({"sources": [{"name": "lake", "schema": "{{ target.schema }}", "tables": listed}]})


def checked(project) -> dict[str, dict]:
    results = get_artifact(project.project_root, "target", "sources.json")["results"]
    return {result["unique_id"].rsplit(".", 1)[-1]: result for result in results}


class TestFreshness:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": sources_yml(*TABLES, "a_view", "missing")}

    @pytest.fixture(scope="class", autouse=True)
    def _tables(self, project):
        home = f"paimon.{project.test_schema}"
        for table in TABLES:
            project.run_sql(
                f"create table {home}.{table} (id int) tblproperties ('primary-key' = 'id', 'bucket' = '1')"
            )
        for table in ("loaded", "compacted"):
            project.run_sql(f"insert into {home}.{table} values (1), (2)")
        project.run_sql(f"create view spark_catalog.{project.test_schema}.a_view as select 1 as id")

    def test_last_commit(self, project):
        before = datetime.now(timezone.utc)
        project.run_sql(f"insert into paimon.{project.test_schema}.loaded values (3)")
        run_dbt(["source", "freshness", "--select", "source:lake.loaded"])
        found = datetime.fromisoformat(checked(project)["loaded"]["max_loaded_at"])
        assert before - timedelta(milliseconds=1) <= found <= datetime.now(timezone.utc)
        assert checked(project)["loaded"]["status"] == "pass"

    def test_compaction_is_no_news(self, project, rows):
        snapshots = "select commit_kind, commit_time from {schema}.`compacted$snapshots` order by snapshot_id"
        project.run_sql(f"call sys.compact(table => '{project.test_schema}.compacted')")
        kinds = rows(snapshots)
        assert [kind for kind, _ in kinds] == ["APPEND", "COMPACT"]
        run_dbt(["source", "freshness", "--select", "source:lake.compacted"])
        found = datetime.fromisoformat(checked(project)["compacted"]["max_loaded_at"])
        assert found == kinds[0][1].replace(tzinfo=timezone.utc)

    def test_each_by_itself(self, project):
        nodes = run_dbt(["source", "freshness"], expect_pass=False)
        results = checked(project)
        assert results["loaded"]["status"] == results["compacted"]["status"] == "pass"
        # A table that was never loaded has the greatest age.
        assert results["no_rows_yet"]["status"] == "error"
        assert results["no_rows_yet"]["max_loaded_at"].startswith("0001-01-01")
        messages = {node.node.name: str(node.message) for node in nodes}
        for name in ("a_view", "missing"):
            assert "is not an existing Paimon table" in messages[name]

    def test_nothing_is_scanned(self, project, warehouse):
        """The result is the same without the table's data files."""
        run_dbt(["source", "freshness", "--select", "source:lake.loaded"])
        before = checked(project)["loaded"]["max_loaded_at"]
        files = list(warehouse.glob(f"{project.test_schema}.db/loaded/bucket-*/data-*"))
        assert files
        for file in files:
            file.rename(file.with_suffix(".away"))
        run_dbt(["source", "freshness", "--select", "source:lake.loaded"])
        assert checked(project)["loaded"]["max_loaded_at"] == before
