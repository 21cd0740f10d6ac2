"""`dbt clone` with `clone_by: branch`: a build writes to branches, and never changes production."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.time_travel.clones import Clones
from dbt_paimon.cli import main

SALES = """
{{ config(
    materialized='incremental', primary_key=['day', 'id'], partition_by='day', bucket=1,
    on_schema_change='append_new_columns', merge_engine='aggregation', skip_unchanged=true,
    fields={'amount': {'aggregate_function': 'sum'}}, snapshot_retention={"num_retained_min": 1, "num_retained_max": 1},
    table_tag='run', post_hook='{{ compact(this) }}', maintenance={'compact': {'every_commits': 1}}
) }}
select cast(id as int) as id, concat('2026-01-0', id) as day, cast({{ var('amount', 10) }} as bigint) as amount
from range(1, 4) as numbers (id)
{% if is_incremental() %} where id = 3 {% endif %}
"""
AUDITED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', wap=true,
    tblproperties={'tag.default-time-retained': '1 d'}) }}
select cast(id as int) as id, {{ var('amount', 10) }} as amount from range(1, 4) as numbers (id)
{% if is_incremental() %} where id > (select max(id) - 1 from {{ this }}) {% endif %}
"""
APPENDED = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id, text from {{ paimon_changes(source('raw', 'events')) }}
"""
FROM_CHANGES = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id, _row_kind as kind from {{ paimon_changes(ref('appended')) }}
"""
DELETING = """
{{ config(materialized='incremental', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='op', sequence_field='seq') }}
select * from values (1, '-D', 10), (2, '+I', 10) as t(id, op, seq)
"""
PROPERTIES = """
sources: [{name: raw, database: paimon, schema: "{{ var('raw') }}", tables: [{name: events}]}]
models:
  - name: audited
    columns: [{name: id, data_tests: [unique, not_null]}]
"""
MODELS = ("sales", "audited", "appended", "from_changes")


class Branches:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sales.sql": SALES,
            "audited.sql": AUDITED,
            "appended.sql": APPENDED,
            "from_changes.sql": FROM_CHANGES,
            "deleting.sql": DELETING,
            "properties.yml": PROPERTIES,
        }

    @pytest.fixture(scope="class")
    def there(self, unique_schema: str) -> str:
        """The schema of the pull request."""
        return f"{unique_schema}_pr_7"

    @pytest.fixture(scope="class")
    def profiles_config_update(
        self, dbt_profile_target: dict[str, Any], unique_schema: str, there: str
    ) -> dict[str, Any]:
        production = {**dbt_profile_target, "schema": unique_schema}
        request = {**dbt_profile_target, "schema": there, "clone_by": "branch"}
        return {"test": {"outputs": {"default": production, "pr": request}, "target": "default"}}

    @pytest.fixture(scope="class")
    def project_config_update(self, unique_schema: str) -> dict[str, Any]:
        return {"vars": {"raw": f"{unique_schema}_raw"}}

    @pytest.fixture(scope="class", autouse=True)
    def production(self, project: Any, rows: Any, there: str) -> Any:
        raw = f"paimon.{project.test_schema}_raw"
        rows(f"create database {raw}")
        rows(f"create table {raw}.events (id int, text string) using paimon")
        rows(f"insert into {raw}.events values (1, 'a'), (2, 'b')")
        run_dbt(["run"])
        state = Path(project.project_root) / "production"
        state.mkdir()
        (state / "manifest.json").write_bytes((Path(project.project_root) / "target/manifest.json").read_bytes())
        yield
        rows(f"drop database {raw} cascade")
        run_dbt(
            [
                "run-operation",
                "drop_schema",
                "--target",
                "pr",
                "--args",
                f"{{schema: {there}, confirm: {there}}}",
            ]
        )

    @pytest.fixture(scope="class")
    def clone(self, project: Any) -> Callable[..., Any]:
        def run(*flags: str, passes: bool = True) -> Any:
            return run_dbt(["clone", "--target", "pr", "--state", "production", *flags], expect_pass=passes)

        return run

    @pytest.fixture(scope="class")
    def build(self, project: Any) -> Callable[..., Any]:
        def run(*flags: str, passes: bool = True) -> Any:
            arguments = ["build", "--target", "pr", "--defer", "--state", "production", *flags]
            return run_dbt(arguments, expect_pass=passes)

        return run

    @pytest.fixture(scope="class")
    def main_of(self, project: Any, rows: Any, warehouse: Path) -> Callable[[str], Any]:
        """Function: returns a production table's rows, metadata files (hashed) and tags, all without its branches."""

        def read(name: str) -> Any:
            table = f"paimon.{project.test_schema}.{name}"
            folder = warehouse / f"{project.test_schema}.db" / name
            files = {
                str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for part in ("snapshot", "schema")
                for path in sorted((folder / part).rglob("*"))
                if path.is_file() and not path.name.endswith(".crc")
            }
            tags = rows(f"select tag_name, snapshot_id from {table.replace(name, f'`{name}$tags`')}")
            own = [tag for tag in tags if not tag[0].startswith("branch_")]
            return sorted(rows(f"select * from {table}")), files, own

        return read

    @pytest.fixture(scope="class")
    def of_table(self, project: Any, rows: Any) -> Callable[[str, str], list[Any]]:
        """Function: the names of a production table's branches or tags."""

        def read(name: str, what: str) -> list[Any]:
            column = {"branches": "branch_name", "tags": "tag_name"}[what]
            found = rows(f"select {column} from paimon.{project.test_schema}.`{name}${what}`")
            return sorted(row[0] for row in found)

        return read

    @pytest.fixture(scope="class")
    def commits(self, project: Any, rows: Any, there: str) -> Callable[[str], list[int]]:
        def read(name: str) -> list[int]:
            snapshots = f"paimon.{project.test_schema}.`{name}$branch_{there}$snapshots`"
            return [row[0] for row in rows(f"select snapshot_id from {snapshots} order by 1")]

        return read

    @pytest.fixture(scope="class")
    def differs(self, project: Any) -> Callable[..., dict[str, Any]]:
        """Function: the output of `dbt-paimon diff` for a model."""

        def run(*arguments: str) -> dict[str, Any]:
            places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
            done = CliRunner().invoke(main, ["diff", "--target", "pr", "--output", "json", *places, *arguments])
            (line,) = (json.loads(text) for text in done.stdout.splitlines() if text.startswith("{"))
            assert "problem" not in line, line["problem"]
            return line

        return run

    @pytest.fixture(scope="class")
    def of_clone(self, rows: Any, there: str) -> Callable[[str], list[Any]]:
        return lambda name: sorted(rows(f"select * from spark_catalog.{there}.{name}"))


class TestIncrements(Branches):
    """Each test continues from the state that the previous one left."""

    def test_a_clone_is_a_branch_and_a_view(self, clone, of_table, of_clone, main_of, rows, there, project):
        before = {name: main_of(name) for name in MODELS}
        clone()
        for name in MODELS:
            assert of_table(name, "branches") == [there]
            assert f"branch_{there}" in of_table(name, "tags")
            assert of_clone(name) == before[name][0]
        assert {name: main_of(name) for name in MODELS} == before
        # The tags of the table and of the branch are kept longer than the table's default (1 day).
        for tags in ("`audited$tags`", f"`audited$branch_{there}$tags`"):
            kept = rows(f"select time_retained from paimon.{project.test_schema}.{tags}")
            assert kept == [("PT876000H",)]
        # A table that cannot be cloned as a branch is copied.
        assert of_table("deleting", "branches") == []
        assert rows(f"select id from paimon.{there}.deleting") == [(2,)]
        tables = {row[1] for row in rows(f"show tables in paimon.{there}")}
        assert not tables & set(MODELS)

    def test_an_increment_goes_to_the_branch(self, build, of_clone, main_of, commits, rows, project):
        before = {name: main_of(name) for name in MODELS}
        raw = f"paimon.{project.test_schema}_raw.events"
        rows(f"insert into {raw} values (3, 'c')")
        sources = rows(f"select * from {raw.replace('events', '`events$tags`')}")
        results = build("--vars", "{amount: 5}")
        assert {result.status.value for result in results} <= {"success", "pass"}
        assert of_clone("sales") == [(1, "2026-01-01", 10), (2, "2026-01-02", 10), (3, "2026-01-03", 15)]
        assert of_clone("audited") == [(1, 10), (2, 10), (3, 5)]
        # Readers of changes continue from production's positions, even if they read a cloned table.
        assert of_clone("appended") == [(1, "a"), (2, "b"), (3, "c")]
        assert of_clone("from_changes") == [(1, "+I"), (2, "+I"), (3, "+I")]
        assert {name: main_of(name) for name in MODELS} == before
        assert rows(f"select * from {raw.replace('events', '`events$tags`')}") == sources
        build("--select", "appended", "from_changes")
        assert len(of_clone("appended")) == len(of_clone("from_changes")) == 3

    def test_a_second_clone_changes_nothing(self, clone, of_clone, commits):
        there = {name: (of_clone(name), commits(name)) for name in MODELS}
        assert {result.message for result in clone()} == {"No-op"}
        assert {name: (of_clone(name), commits(name)) for name in MODELS} == there

    def test_production_expires_and_the_branch_stays(self, build, of_clone, main_of, rows, project):
        """Production and the branch rewrite and expire files that they share; neither loses rows."""
        there = of_clone("sales")
        for _ in range(3):
            run_dbt(["run", "--select", "sales", "audited", "--vars", "{amount: 1}"])
            for name in ("sales", "audited"):
                keep = f"{{relation: {name}, retain_max: 1, retain_min: 1, older_than: '2999-12-31 00:00:00'}}"
                run_dbt(["run-operation", "expire_snapshots", "--args", keep])
        assert of_clone("sales") == there
        before = {name: main_of(name) for name in MODELS}
        for _ in range(3):
            build("--select", "sales", "audited", "--vars", "{amount: 1}")
        assert of_clone("sales")[-1] == (3, "2026-01-03", 18)
        assert {name: main_of(name) for name in MODELS} == before

    def test_diff_reads_only_changed_partitions(self, differs):
        line = differs("sales", "--state", "production")
        assert (line["added"], line["gone"], line["changed"]) == (0, 0, 1)
        assert line["samples"][0]["key"] == {"day": "2026-01-03", "id": "3"}
        assert line["read"].endswith("of 1 of 3 partitions")
        # Without --state, diff shows the last commit's changes.
        assert "problem" not in differs("audited")

    def test_a_new_column_is_added_to_the_branch_only(self, build, main_of, of_clone, project):
        before = main_of("sales")
        write_file(
            SALES.replace(" as amount\n", " as amount, id as code\n"),
            project.project_root,
            "models",
            "sales.sql",
        )
        build("--select", "sales", "--vars", "{amount: 0}")
        assert of_clone("sales") == [
            (1, "2026-01-01", 10, None),
            (2, "2026-01-02", 10, None),
            (3, "2026-01-03", 18, 3),
        ]
        assert main_of("sales") == before

    def test_diff_shows_an_added_column(self, differs):
        line = differs("sales", "--state", "production")
        assert (line["added"], line["gone"], line["changed"]) == (0, 0, 1)
        assert line["schema"] == ["adds code bigint"]

    def test_with_full_refresh_a_clone_begins_again(self, clone, of_clone, main_of, commits):
        before = main_of("sales")
        clone("--full-refresh", "--select", "sales")
        assert of_clone("sales") == before[0]
        assert len(commits("sales")) == 1
        assert main_of("sales") == before

    def test_dropping_the_schema_deletes_the_branches(self, of_table, main_of, there, rows, monkeypatch):
        before = {name: main_of(name) for name in MODELS}
        drop = ["run-operation", "drop_schema", "--target", "pr", "--args", f"{{schema: {there}, confirm: {there}}}"]
        # If a branch cannot be deleted, its schema stays, because views there read it. The operation can be repeated.
        with monkeypatch.context() as failing:
            failing.setattr(Clones, "end", Mock(side_effect=DbtRuntimeError("the store does not answer")))
            run_dbt(drop, expect_pass=False)
        assert (there,) in rows("show databases in paimon")
        assert of_table("sales", "branches") == [there]
        run_dbt(drop)
        assert (there,) not in rows("show databases in paimon")
        for name in MODELS:
            assert of_table(name, "branches") == []
            assert not [tag for tag in of_table(name, "tags") if tag.startswith("branch_")]
        assert {name: main_of(name) for name in MODELS} == before
        rows(f"create database paimon.{there}")


class TestFallbacks(Branches):
    """If a branch cannot be used, there is a table instead, or an error. Each test continues the previous one."""

    def test_a_new_primary_key(self, project, clone, build, of_table, main_of, rows, there):
        clone("--select", "sales", "audited", "appended")
        before = main_of("sales")
        other = SALES.replace("['day', 'id']", "['day', 'id', 'code']").replace(
            " as amount\n", " as amount, id as code\n"
        )
        write_file(other, project.project_root, "models", "sales.sql")
        build("--select", "sales")
        # The new table has all rows, not only those of an increment.
        assert len(rows(f"select * from paimon.{there}.sales")) == 3
        assert of_table("sales", "branches") == []
        assert f"branch_{there}" not in of_table("sales", "tags")
        assert main_of("sales") == before
        write_file(SALES, project.project_root, "models", "sales.sql")

    def test_full_refresh(self, build, of_table, main_of, rows, there):
        before = main_of("audited")
        build("--select", "audited", "--full-refresh", "--vars", "{amount: 7}")
        assert sorted(rows(f"select * from paimon.{there}.audited")) == [(1, 7), (2, 7), (3, 7)]
        assert of_table("audited", "branches") == []
        assert main_of("audited") == before

    def test_a_view_replaces_the_clone(self, project, build, of_table):
        write_file("{{ config(materialized='view') }} select 1 as id", project.project_root, "models", "appended.sql")
        build("--select", "appended")
        assert of_table("appended", "branches") == []
        write_file(APPENDED, project.project_root, "models", "appended.sql")

    def test_a_branch_with_commits_is_not_overwritten(self, project, clone, rows, there, of_table):
        name = f"{project.test_schema}.audited"
        rows(f"call paimon.sys.create_branch(table => '{name}', branch => '{there}')")
        # A clone may replace a branch without commits: an interrupted clone may have created it.
        clone("--full-refresh", "--select", "audited")
        rows(f"drop view spark_catalog.{there}.audited")
        rows(f"alter table paimon.{there}._dbt_views unset tblproperties ('dbt.view.audited')")
        rows(f"insert into paimon.{project.test_schema}.`audited$branch_{there}` values (9, 9)")
        (result,) = clone("--select", "audited", passes=False)
        assert "with commits of its own" in result.message
        assert rows(f"select count(*) from paimon.{project.test_schema}.`audited$branch_{there}`") == [(4,)]
        clone("--select", "audited", "--full-refresh")
        assert len(rows(f"select * from spark_catalog.{there}.audited")) == 3

    def test_a_table_that_was_recreated(self, clone, build, rows, project, there):
        rows(f"drop table paimon.{project.test_schema}.audited")
        run_dbt(["run", "--select", "audited"])
        for results in (
            clone("--select", "audited", passes=False),
            build("--select", "audited", passes=False),
        ):
            messages = [result.message or "" for result in results]
            assert any(f"has no branch {there}: the table was dropped or recreated" in text for text in messages)
        clone("--select", "audited", "--full-refresh")
        rows(f"call paimon.sys.delete_tag(table => '{project.test_schema}.audited', tag => 'branch_{there}')")
        (result,) = clone("--select", "audited", passes=False)
        assert f"has no tag branch_{there}" in result.message
