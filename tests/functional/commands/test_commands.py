"""dbt's commands on Paimon tables: retry, compile, show, build with failing tests, sample and empty runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt, write_file
from dbt_common.dataclass_schema import ValidationError

GOOD = "{{ config(materialized='table', primary_key='id') }} select id, n from {{ ref('numbers') }}"


class TestRetry:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "first.sql": "{{ config(materialized='table') }} select 1 as id",
            "second.sql": "{{ config(materialized='table') }} select id, missing from {{ ref('first') }}",
            "third.sql": "{{ config(materialized='table') }} select * from {{ ref('second') }}",
        }

    def test_only_what_failed_runs_again(self, project, rows):
        results = run_dbt(["run"], expect_pass=False)
        assert {r.node.name: r.status for r in results} == {
            "first": "success",
            "second": "error",
            "third": "skipped",
        }
        write_file(
            "{{ config(materialized='table') }} select id, 'mended' as note from {{ ref('first') }}",
            project.project_root,
            "models",
            "second.sql",
        )
        results = run_dbt(["retry"])
        assert {r.node.name: r.status for r in results} == {"second": "success", "third": "success"}
        assert rows("select * from {schema}.third") == [(1, "mended")]
        assert len(rows("select * from {schema}.`first$snapshots`")) == 1


class TestStoreFailures:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "id,n\n1,10\n2,\n3,\n"}

    @pytest.fixture(scope="class")
    def models(self):
        tests = """
models:
  - name: good
    columns:
      - name: n
        data_tests:
          - not_null: {name: kept_in_a_table, config: {store_failures: true}}
          - not_null: {name: kept_in_a_view, config: {store_failures_as: view}}
          - not_null: {name: kept_nowhere}
"""
        return {"good.sql": GOOD, "schema.yml": tests}

    def test_failing_rows_are_kept(self, project, rows):
        schema = f"paimon.{project.test_schema}_dbt_test__audit"
        for _ in range(2):
            results = run_dbt(["build"], expect_pass=False)
            failures = {r.node.name: r.failures for r in results if r.status == "fail"}
            assert failures == dict.fromkeys(("kept_in_a_table", "kept_in_a_view", "kept_nowhere"), 2)
            assert sorted(rows(f"select id from {schema}.kept_in_a_table")) == [(2,), (3,)]
            assert {row[1] for row in rows(f"show tables in {schema}")} - {"_dbt_views"} == {"kept_in_a_table"}
        (shown,) = run_dbt(
            [
                "show",
                "--inline",
                f"select id from {{{{ api.Relation.create(database=view_catalog(), schema='{project.test_schema}_dbt_test__audit', identifier='kept_in_a_view', type='view') }}}} order by 1",
            ]
        )
        assert [tuple(row) for row in shown.agate_table.rows] == [(2,), (3,)]

    @pytest.fixture(scope="class")
    def macros(self):
        return {"view_catalog.sql": "{% macro view_catalog() %}{{ return(target.database) }}{% endmacro %}"}


class TestCompileAndShow:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "id,n\n1,10\n2,20\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {"good.sql": GOOD, "doubled.sql": "select id, 2 * n as n from {{ ref('good') }}"}

    def test_compile_writes_nothing(self, project, rows):
        run_dbt(["compile"])
        compiled = Path(project.project_root, "target/compiled/test/models/doubled.sql").read_text()
        assert compiled == f"select id, 2 * n as n from `paimon`.`{project.test_schema}`.`good`"
        assert rows("show tables in {schema}") == []

    def test_show(self, project):
        run_dbt(["build"])
        (result,) = run_dbt(["show", "--select", "doubled", "--limit", "1"])
        assert len(result.agate_table.rows) == 1
        (result,) = run_dbt(["show", "--inline", "select id from {{ ref('doubled') }} order by 1", "--limit", "-1"])
        assert [tuple(row) for row in result.agate_table.rows] == [(1,), (2,)]

    def test_seed_empty(self, project, rows):
        run_dbt(["seed", "--empty"])
        assert rows("select * from {schema}.numbers") == []
        run_dbt(["seed"])
        assert len(rows("select * from {schema}.numbers")) == 2

    def test_build_empty(self, project, rows):
        run_dbt(["build", "--empty", "--select", "good"])
        assert rows("select * from {schema}.good") == []
        run_dbt(["build", "--select", "good"])
        assert len(rows("select * from {schema}.good")) == 2


class TestSnapshotWithoutKey:
    @pytest.fixture(scope="class")
    def models(self):
        return {"good.sql": "{{ config(materialized='table') }} select 1 as id"}

    # dbt-core fails while it parses the project, before it calls the adapter.
    def test_dbt_refuses_the_project(self, project, rows):
        write_file(
            "snapshots: [{name: keyless, relation: ref('good'), config: {strategy: check, check_cols: all}}]",
            project.project_root,
            "snapshots",
            "keyless.yml",
        )
        with pytest.raises(ValidationError, match="'strategy' and 'unique_key'"):
            run_dbt(["build"])
        assert rows("show tables in {schema}") == []


class TestSnapshotWithAKeyThatIsNoColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "source_table.sql": "{{ config(materialized='table') }} select 1 as id, 'a' as note",
            "good.sql": "{{ config(materialized='table') }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "config: {strategy: check, check_cols: all, unique_key: %s}"
        return {
            "snapshots.yml": "snapshots:\n"
            f"  - {{name: keyed, relation: ref('source_table'), {config % 'id'}}}\n"
            f"  - {{name: misnamed, relation: ref('source_table'), {config % 'idd'}}}\n"
            f"  - {{name: nothing_to_check, relation: ref('source_table'), config: "
            "{strategy: check, check_cols: [colour], unique_key: id}}\n"
        }

    def test_its_node_ends(self, project, rows):
        results = run_dbt(["build"], expect_pass=False)
        errors = {r.node.name: r.message for r in results if r.status == "error"}
        assert set(errors) == {"misnamed", "nothing_to_check"}
        assert "idd" in errors["misnamed"] and "colour" in errors["nothing_to_check"]
        for name, message in errors.items():
            assert f"snapshot {name}" in message and "snapshots.yml" in message
        assert {row[1] for row in rows("show tables in {schema}")} == {"source_table", "good", "keyed"}


class TestRunResults:
    """What orchestrators read in run_results.json."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"two_rows.sql": "{{ config(materialized='table') }} select * from values (1), (2) as t (id)"}

    def test_artifact(self, project):
        run_dbt(["run"])
        (result,) = json.loads(Path(project.project_root, "target/run_results.json").read_text())["results"]
        assert result["status"] == "success"
        assert result["relation_name"] == f"`paimon`.`{project.test_schema}`.`two_rows`"
