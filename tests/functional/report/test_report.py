"""`dbt-paimon report` shows the figures of the system tables, as JSON and on a page in Chromium."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from dbt.tests.util import get_connection, run_dbt
from selenium.webdriver.common.by import By

from browser import chromium, complaints
from dbt.adapters.paimon.adapter_protocol import table_name
from dbt.adapters.paimon.metadata import facts, health
from dbt_paimon.cli import main

RUNS = 7
MODELS = {
    "untended.sql": "{{ config(materialized='incremental', primary_key='id', bucket=2, tblproperties={'write-only': true}) }} "
    "select id, cast({{ var('run', 1) }} as string) as text from range(100)",
    "by_day.sql": "{{ config(materialized='table', partition_by=['day', 'hour']) }} "
    "select id, date'2024-01-01' + cast(id % 3 as int) as day, cast(id % 2 as int) as hour from range(100)",
    "reader.sql": "{{ config(materialized='incremental', primary_key='id') }} select id, text from {{ paimon_changes(ref('untended')) }}",
    "viewed.sql": "{{ config(materialized='view') }} select * from {{ ref('by_day') }}",
    "broken.sql": "{{ config(materialized='table') }} select 1 as id",
}


class TestReport:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "id\n1\n2\n"}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project, warehouse):
        run_dbt(["build"])
        for number in range(2, RUNS + 1):
            run_dbt(["run", "--select", "untended", "--vars", f"run: {number}"])
        run_dbt(["run", "--select", "by_day", "broken", "reader"])
        # run-operation overwrites run_results.json; the report must still have the run.
        run_dbt(["run-operation", "current_timestamp"])
        # compile also overwrites it, but its manifest has the queries from which column lineage is read.
        run_dbt(["compile"])
        folder = Path(warehouse) / f"{project.test_schema}.db"
        (folder / "untended" / "consumer").mkdir()
        (folder / "untended" / "consumer" / "consumer-downstream").write_text('{"nextSnapshot": 5}')
        for file in (folder / "broken" / "manifest").iterdir():
            file.unlink()
        return folder

    @pytest.fixture(scope="class")
    def report(self, project):
        def made(*arguments: str):
            places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
            return CliRunner().invoke(main, ["report", *places, *arguments])

        return made

    @pytest.fixture(scope="class")
    def read(self, report):
        done = report("--json")
        assert done.exit_code == 0, done.output
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))

    @pytest.fixture(scope="class")
    def tables(self, read):
        return {table["said"]: table for table in read["tables"]}

    def test_which_tables(self, tables):
        assert sorted(tables) == ["broken", "by_day", "planted", "reader", "untended"]
        assert tables["broken"]["problem"]
        assert not any(table["problem"] for name, table in tables.items() if name != "broken")

    @pytest.mark.parametrize("name", ["untended", "by_day", "reader", "planted"])
    def test_figures_are_those_of_the_system_tables(self, name, tables, rows):
        table = f"{{schema}}.`{name}$"
        ((files, count, size),) = rows(
            f"select count(*), sum(record_count), sum(file_size_in_bytes) from {table}files`"
        )
        found = tables[name]
        assert (found["files"], found["rows"], found["bytes"]) == (files, count, size)
        assert {int(level): pile[0] for level, pile in found["levels"].items()} == dict(
            rows(f"select level, count(*) from {table}files` group by level")
        )
        assert [(each["number"], each["kind"], each["added"], each["total"]) for each in found["snapshots"]] == rows(
            f"select snapshot_id, commit_kind, delta_record_count, total_record_count from {table}snapshots` order by 1"
        )
        assert len({each["partition"] for each in found["buckets"]}) == len(
            rows(f"select distinct partition from {table}files`")
        )

    @pytest.mark.parametrize("name", ["untended", "by_day", "planted"])
    def test_figures_are_those_of_table_health(self, name, tables, project):
        adapter = project.adapter
        with get_connection(adapter):
            relation = adapter.get_relation("paimon", project.test_schema, name)
            expected = asdict(health.of_table(adapter.query, relation))
        found = tables[name]
        # Without `partitions`: on Paimon 0.9, table_health counts 2 for an unpartitioned table with 2 buckets.
        same = (
            "rows",
            "bytes",
            "files",
            "small_files",
            "skew",
            "sorted_runs",
            "commits_since_compaction",
        )
        assert {key: found[key] for key in same} == {key: expected[key] for key in same}
        assert (len(found["buckets"]), len(found["snapshots"]), len(found["tags"])) == (
            expected["buckets"],
            expected["snapshots"],
            expected["tags"],
        )

    @pytest.mark.parametrize("name", ["untended", "by_day", "reader"])
    def test_both_ways_of_reading_agree(self, name, project):
        adapter = project.adapter
        with get_connection(adapter):
            relation = adapter.get_relation("paimon", project.test_schema, name)
            one = facts.by_classes(adapter.handle.session, table_name(relation))
            other = facts.by_sql(adapter.query, relation)
        moments = [(a.at, b.at) for a, b in zip(one.snapshots, other.snapshots, strict=True)]
        assert all(abs(a - b) < 10 for a, b in moments)
        same = [tuple(replace(each, at=0, unique="", index="") for each in read.snapshots) for read in (one, other)]
        assert same[0] == same[1]
        schemas = [replace(read.schema, options={}) for read in (one, other)]
        assert schemas[0] == schemas[1]
        assert replace(one, snapshots=(), schema=schemas[0], statements=0) == replace(
            other, snapshots=(), schema=schemas[0], statements=0
        )

    def test_advice(self, project, tables):
        (advice,) = tables["untended"]["advice"]
        assert advice["rule"] == "compaction_needed"
        assert f"{RUNS} sorted runs" in advice["reason"]
        assert advice["command"] == f"dbt run-operation compact --args '{{relation: {project.test_schema}.untended}}'"
        assert [name for name, table in tables.items() if table["advice"]] == ["untended"]

    def test_readers(self, tables):
        readers = {each["name"]: each for each in tables["untended"]["readers"]}
        assert (readers["downstream"]["behind"], readers["downstream"]["rows_behind"]) == (3, 300)
        assert (readers["reader"]["position"], readers["reader"]["behind"]) == (str(RUNS), 0)
        assert any("downstream reads table snapshot 5 next" in each for each in tables["untended"]["keeps"])

    def test_runs_and_lineage(self, read):
        (run,) = read["runs"]
        assert {node["name"] for node in run["nodes"]} == {"by_day", "broken", "reader"}
        by_name = {node["name"]: node for node in run["nodes"]}
        assert by_name["by_day"]["rows"] == 100
        assert by_name["by_day"]["seconds"] > 0
        reads = {node["name"]: node["reads"] for node in read["lineage"]}
        assert reads["reader"] == ["model.test.untended"]
        assert reads["viewed"] == ["model.test.by_day"]

    def test_columns(self, tables):
        day = next(each for each in tables["by_day"]["columns"] if each["name"] == "day")
        assert day["readers"] == [{"node": "model.test.viewed", "name": "viewed", "column": "day", "kind": "value"}]
        assert [each["name"] for each in tables["by_day"]["columns"]] == ["id", "day", "hour"]
        assert [each["name"] for each in tables["planted"]["columns"]] == ["id"]
        text = next(each for each in tables["reader"]["columns"] if each["name"] == "text")
        assert [each["name"] for each in text["reads"]] == ["untended"]

    def test_its_cost(self, read):
        # The statements read the positions of `reader`, the broken table (twice), and dbt's list of tables.
        assert (read["cost"]["by_classes"], read["cost"]["by_sql"]) == (4, 0)
        assert read["cost"]["statements"] <= 8

    def test_exit_codes(self, report, built):
        assert report("--json", "--select", "untended").exit_code == 0
        assert report("--json", "--fail-on", "warn", "--select", "untended").exit_code == 3
        assert report("--json", "--fail-on", "warn", "--select", "by_day", "planted").exit_code == 0
        assert report("--json", "--target", "nowhere").exit_code == 1

    def test_page(self, report, tables, tmp_path):
        file = tmp_path / "page.html"
        done = report("--output", str(file))
        assert done.exit_code == 0, done.output
        with chromium() as browser:
            browser.get(file.as_uri())
            for name, table in tables.items():
                details = (
                    browser.find_element(By.ID, f"t-model-test-{name.replace('_', '-')}")
                    if name != "planted"
                    else browser.find_element(By.ID, "t-seed-test-planted")
                )
                details.find_element(By.TAG_NAME, "summary").click()
                assert details.get_attribute("open") == "true"
                if table["problem"]:
                    assert "could not be read" in details.text
                    continue
                shown = {
                    each.get_attribute("data-figure"): (float(each.get_attribute("data-value")), each.text)
                    for each in details.find_elements(By.CSS_SELECTOR, "dd[data-figure]")
                }
                for figure in ("rows", "bytes", "files", "small_files", "partitions", "sorted_runs"):
                    if figure in shown:
                        assert shown[figure][0] == table[figure], (name, figure)
                assert shown["rows"][1] == f"{table['rows']:,}"
                assert shown["snapshots"][0] == len(table["snapshots"])
            assert complaints(browser) == []
