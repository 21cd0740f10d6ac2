"""A data test with `skip_unchanged` that has passed is not run again on the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from functional.unchanged.conftest import ORDERS, SOURCE

SCHEMA = """
models:
  - name: copied
    columns:
      - name: id
        data_tests:
          - not_null: {config: {skip_unchanged: true}}
          - unique: {config: {severity: warn, skip_unchanged: true}}
          - accepted_values:
              arguments: {values: [1, 2, 3]}
              config: {skip_unchanged: true, warn_if: '> 1', error_if: '> 5'}
      - name: name
        data_tests:
          - not_null
"""
LATE = """{{ config(skip_unchanged=true) }}
select id from {{ ref('copied') }} where id < 0 and current_date() > date '2000-01-01'
"""
# One depends on the time, and one on the rows of another table.
AGED = """{{ config(
    skip_unchanged=true, fail_calc="datediff(current_date(), max(day))", warn_if='> 3650000', error_if='> 3650000'
) }}
select date '2026-11-01' as day from {{ ref('copied') }}
"""
MEASURED = """{{ config(
    skip_unchanged=true, warn_if='> 5', error_if="> (select count(*) from paimon." ~ target.schema ~ ".orders)"
) }}
select id from {{ ref('copied') }}
"""
STORED = """{{ config(skip_unchanged=true, store_failures=true) }}
select id from {{ ref('copied') }} where id < 0
"""
NAMES = ("not_null_copied_id", "unique_copied_id", "accepted_values_copied_id__1__2__3")


class TestDataTests:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCE,
            "copied.sql": "{{ config(materialized='table') }}" + ORDERS,
            "schema.yml": SCHEMA,
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"late.sql": LATE, "stored.sql": STORED}

    @pytest.fixture(autouse=True)
    def built(self, orders):
        orders()
        run_dbt(["run"])

    def outcomes(self, *arguments, passes=True):
        """Status and failures of each test, and whether it was reused."""
        results = run_dbt(["test", *arguments], expect_pass=passes)
        return {
            result.node.name: (
                str(result.status),
                result.failures,
                result.adapter_response.get("code") == "REUSED",
            )
            for result in results
        }

    def test_passed_over_the_same_rows(self, project):
        first = self.outcomes()
        assert not any(reused for *_, reused in first.values())
        second = self.outcomes()
        assert {name for name, (*_, reused) in second.items() if reused} == set(NAMES)
        assert [outcome[:2] for outcome in second.values()] == [outcome[:2] for outcome in first.values()]
        (result,) = run_dbt(["test", "--select", NAMES[0]])
        assert result.adapter_response["reason"].startswith("inputs and query as when it passed at 20")
        assert project.run_sql("select count(*) from {schema}_dbt_test__audit.stored", fetch="one")[0] == 0

    def test_other_rows(self, rows):
        self.outcomes()
        rows("insert into {schema}.copied values (3, 'c'), (3, 'd')")
        found = self.outcomes()
        assert not any(reused for *_, reused in found.values())
        assert found[NAMES[1]] == ("warn", 1, False)
        # A warning is not a pass, so the test with the warning runs again; the others are reused.
        found = self.outcomes()
        assert found[NAMES[1]] == ("warn", 1, False)
        assert found[NAMES[0]] == ("pass", 0, True)

    def test_failed(self, rows):
        rows("insert into {schema}.copied values (null, 'x')")
        assert self.outcomes("--select", NAMES[0], passes=False)[NAMES[0]] == ("fail", 1, False)
        assert self.outcomes("--select", NAMES[0], passes=False)[NAMES[0]] == ("fail", 1, False)
        rows("delete from {schema}.copied where id is null")
        assert self.outcomes("--select", NAMES[0])[NAMES[0]] == ("pass", 0, False)
        assert self.outcomes("--select", NAMES[0])[NAMES[0]] == ("pass", 0, True)

    def test_thresholds(self, rows):
        """With warn_if > 1, a test with one failure passes, so it is reused."""
        rows("insert into {schema}.copied values (7, 'x')")
        assert self.outcomes("--select", NAMES[2])[NAMES[2]] == ("pass", 0, False)
        assert self.outcomes("--select", NAMES[2])[NAMES[2]] == ("pass", 0, True)

    def test_thresholds_of_other_inputs(self, project, rows):
        files = {"aged": AGED, "measured": MEASURED}
        paths = [Path(project.project_root) / "tests" / f"{name}.sql" for name in files]
        for path in paths:
            path.write_text(files[path.stem])
        try:
            self.outcomes("--select", *files)
            found = self.outcomes("--select", *files)
            assert {name: outcome[::2] for name, outcome in found.items()} == {
                "aged": ("pass", False),
                "measured": ("pass", True),
            }
            rows("truncate table {schema}.orders")
            assert self.outcomes("--select", *files, passes=False)["measured"] == ("fail", 2, False)
        finally:
            for path in paths:
                path.unlink()

    def test_rolled_back(self, rows):
        """After a rollback to rows that passed, the test is reused. Other rows with an old snapshot id are tested."""
        self.outcomes()
        ((newest,),) = rows("select max(snapshot_id) from {schema}.`copied$snapshots`")
        rows("insert into {schema}.copied values (null, 'x')")
        assert self.outcomes("--select", NAMES[0], passes=False)[NAMES[0]] == ("fail", 1, False)
        rows(f"call paimon.sys.rollback(table => '{{schema}}.copied', version => '{newest}')")
        assert self.outcomes("--select", NAMES[0])[NAMES[0]] == ("pass", 0, True)
        rows("insert into {schema}.copied values (null, 'y')")
        assert self.outcomes("--select", NAMES[0], passes=False)[NAMES[0]] == ("fail", 1, False)

    def test_another_query(self, project):
        self.outcomes()
        path = Path(project.project_root) / "models" / "schema.yml"
        text = path.read_text()
        path.write_text(text.replace("[1, 2, 3]", "[1, 2, 3, 4]"))
        try:
            assert not any(reused for name, (*_, reused) in self.outcomes().items() if name.startswith("accepted"))
        finally:
            path.write_text(text)

    def test_a_cut_line_is_no_pass(self, project):
        self.outcomes("--select", NAMES[0])
        path = Path(project.project_root) / "target" / "paimon_passed_tests.jsonl"
        lines = path.read_text().rstrip().splitlines()
        path.write_text("\n".join([*lines[:-1], lines[-1][:-9]]))
        assert self.outcomes("--select", NAMES[0])[NAMES[0]] == ("pass", 0, False)
        assert self.outcomes("--select", NAMES[0])[NAMES[0]] == ("pass", 0, True)

    def test_quoted_value(self, project):
        path = Path(project.project_root) / "tests" / "quoted.sql"
        path.write_text("{{ config(skip_unchanged='maybe') }} select 1 as one where 1 = 0")
        try:
            (result,) = run_dbt(["test", "--select", "quoted"], expect_pass=False)
            assert "true or false is needed" in result.message
        finally:
            path.unlink()
