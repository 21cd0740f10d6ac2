"""A node's `adapter_response` agrees with the table's snapshots and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

ROWS = 500
NEWS = 40
_QUERY = f"""
select id, concat('name ', id, '{{{{ var("batch", 0) }}}}') as name, cast(id % 2 as int) as part
from range({{{{ 0 if var('batch', 0) == 'none' else {NEWS} if is_incremental() else {ROWS} }}}})
"""


def incremental(strategy: str, **config: Any) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in config.items())
    return f"{{{{ config(materialized='incremental', incremental_strategy='{strategy}', {given}) }}}}{_QUERY}"


MODELS = {
    "a_table": "{{ config(materialized='table') }}" + _QUERY,
    "append": incremental("append"),
    "upsert": incremental("upsert", primary_key="id"),
    "merge": incremental("merge", primary_key="id"),
    "partial_update": incremental("partial_update", primary_key="id", merge_engine="partial-update"),
    "delete_insert": incremental("delete+insert", unique_key="id"),
    "insert_overwrite": incremental("insert_overwrite", partition_by="part"),
}
SNAPSHOT = {
    "snapshots": [
        {
            "name": "history",
            "relation": "ref('a_table')",
            "config": {"unique_key": "id", "strategy": "check", "check_cols": ["name"]},
        }
    ]
}
CODES = {
    "a_table": "INSERT OVERWRITE",
    "append": "INSERT",
    "upsert": "UPSERT",
    "merge": "MERGE",
    "partial_update": "PARTIAL UPDATE",
    "delete_insert": "DELETE+INSERT",
    "insert_overwrite": "INSERT OVERWRITE",
    "planted": "INSERT OVERWRITE",
    "history": "SNAPSHOT",
}


class TestResponses:
    @pytest.fixture(scope="class")
    def models(self):
        a_view = "{{ config(materialized='view') }} select 1 as one"
        models = {f"{name}.sql": sql for name, sql in MODELS.items()}
        empty = "{{ config(materialized='table') }} select 1 as one where false"
        return {**models, "a_view.sql": a_view, "empty.sql": empty, "history.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "id,name\n" + "".join(f"{number},n\n" for number in range(7))}

    @pytest.fixture(scope="class")
    def responses(self, project):
        """The responses by node, of a first build and of a second one with changed rows."""

        def built(*arguments: str) -> dict[str, dict[str, Any]]:
            return {r.node.name: r.adapter_response for r in run_dbt(["build", *arguments])}

        return built(), built("--vars", "{batch: 1}")

    @pytest.fixture(scope="class")
    def committed(self, responses, rows):
        """Function: the commit user, commit kind, and added minus removed rows of a table snapshot."""

        def of(name: str, snapshot: int) -> tuple[str, str, int]:
            (found,) = rows(
                "select commit_user, commit_kind, delta_record_count "
                f"from {{schema}}.`{name}$snapshots` where snapshot_id = {snapshot}"
            )
            return found

        return of

    @pytest.mark.parametrize("name", [*MODELS, "planted", "history"])
    def test_a_first_build_creates_the_table(self, responses, committed, name):
        response = responses[0][name]
        expected = 7 if name == "planted" else ROWS
        assert (response["code"], response["rows_affected"]) == ("CREATE TABLE", expected)
        assert committed(name, response["snapshot_id"])[1:] == ("APPEND", expected)

    @pytest.mark.parametrize("name", [*MODELS, "planted", "history"])
    def test_an_increment(self, responses, committed, name):
        response = responses[1][name]
        assert response["code"] == CODES[name]
        user, kind, delta = committed(name, response["snapshot_id"])
        assert user.startswith("dbt_")
        assert kind == response["commit_kind"]
        if not response["files_removed"]:
            assert response["rows_affected"] == delta
        if name in ("append", "upsert", "merge", "partial_update", "insert_overwrite"):
            assert response["rows_affected"] == NEWS
        assert response["_message"].startswith(f"{CODES[name]} {response['rows_affected']:,} row")
        assert response["_message"].endswith(f"snapshot {response['snapshot_id']}")

    def test_files_and_bytes_are_those_in_the_folder(self, responses, warehouse, project):
        """Nothing compacts or rewrites this table, so its folder has exactly the files of both builds."""
        folder = warehouse / f"{project.test_schema}.db" / "append"
        sizes = [path.stat().st_size for path in folder.rglob("data-*")]
        both = [build["append"] for build in responses]
        assert sum(response["files_written"] for response in both) == len(sizes)
        assert sum(response["bytes_written"] for response in both) == sum(sizes)

    def test_files_that_a_rewrite_replaces(self, responses, rows):
        """delete+insert rewrites the files that hold the batch's keys, and removes the old ones from the table."""
        first, second = (build["delete_insert"] for build in responses)
        live = rows("select count(*), sum(file_size_in_bytes) from {schema}.`delete_insert$files`")
        assert second["files_removed"] > 0
        assert live == [
            tuple(
                first[f"{of}_written"] - second[f"{of}_removed"] + second[f"{of}_written"] for of in ("files", "bytes")
            )
        ]
        assert second["rows_affected"] > NEWS
        assert rows("select count(*) from {schema}.`delete_insert`") == [(ROWS,)]

    def test_what_spark_did(self, responses):
        response = responses[1]["merge"]
        tracker = SparkSession.builder.getOrCreate().sparkContext._jsc.sc().statusTracker()
        assert response["spark_job_ids"]
        assert sorted(tracker.getJobIdsForTag(response["query_id"])) == response["spark_job_ids"]
        assert response["spark_seconds"] > 0
        assert response["spill_bytes"] == 0

    def test_a_view(self, responses):
        assert responses[1]["a_view"]["_message"] == "CREATE VIEW"

    def test_a_table_without_rows(self, responses):
        said = [each["empty"]["_message"] for each in responses]
        assert said == ["CREATE TABLE 0 rows", "INSERT OVERWRITE 0 rows, 0 files, snapshot 1"]

    def test_a_build_without_news_says_so(self, responses, rows):
        before = rows("select max(snapshot_id) from {schema}.`upsert$snapshots`")
        (result,) = run_dbt(["run", "--select", "upsert", "--vars", "{batch: none}"])
        assert result.adapter_response["rows_affected"] == 0
        assert "snapshot_id" not in result.adapter_response
        assert result.message == "UPSERT 0 rows, table unchanged"
        assert rows("select max(snapshot_id) from {schema}.`upsert$snapshots`") == before

    def test_a_compaction_is_not_taken_for_the_commit(self, responses, rows):
        """If a write also compacts the table, in a second commit, the response describes the first commit."""
        (result,) = run_dbt(["run", "--select", "upsert", "--vars", "{batch: 2}"])
        newest = dict(rows("select snapshot_id, commit_kind from {schema}.`upsert$snapshots`"))
        assert newest[result.adapter_response["snapshot_id"]] == "APPEND"
        assert result.adapter_response["rows_affected"] == NEWS

    def test_run_results_hold_it(self, responses, project):
        run_dbt(["run", "--select", "append", "--vars", "{batch: 3}"])
        path = Path(project.project_root) / "target" / "run_results.json"
        (result,) = json.loads(path.read_text())["results"]
        assert result["adapter_response"]["rows_affected"] == NEWS
        assert result["adapter_response"]["query_id"].startswith("dbt-")
