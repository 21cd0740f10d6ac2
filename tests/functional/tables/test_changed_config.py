"""A rebuild after a config change alters the table if Paimon can; otherwise a new table replaces it. No row is lost."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main


def model(config: str, select: str = "select 1 as id, 'a' as name, 2 as n") -> str:
    return "{{ config(materialized='table', " + config + ") }}\n" + select


class TestChangedConfig:
    @pytest.fixture(scope="class")
    def models(self):
        return {"changing.sql": model("primary_key='id', bucket=1, tblproperties={'snapshot.num-retained.min': 5}")}

    def rebuild(self, project, config, select="select 1 as id, 'a' as name, 2 as n", expect_pass=True):
        write_file(model(config, select), project.project_root, "models", "changing.sql")
        return run_dbt(["run"], expect_pass=expect_pass)

    def options(self, rows):
        return dict(rows("select key, value from {schema}.`changing$options`"))

    def snapshots(self, rows):
        return len(rows("select * from {schema}.`changing$snapshots`"))

    def test_changes(self, project, rows):
        run_dbt(["run"])
        assert self.options(rows)["snapshot.num-retained.min"] == "5"

        self.rebuild(project, "primary_key='id', bucket=2, tblproperties={'snapshot.num-retained.max': 50}")
        options = self.options(rows)
        assert options["bucket"] == "2" and options["snapshot.num-retained.max"] == "50"
        assert "snapshot.num-retained.min" not in options
        assert self.snapshots(rows) == 2

        # ALTERs before and after a single overwrite add and drop columns, so the history stays.
        self.rebuild(project, "primary_key='id', bucket=2", "select 3 as id, cast(5 as bigint) as n, true as flag")
        assert rows("select id, n, flag from {schema}.changing") == [(3, 5, True)]
        assert [c[0] for c in rows("describe table {schema}.changing")] == ["id", "n", "flag"]
        assert self.snapshots(rows) == 3
        assert rows("select * from {schema}.changing version as of 1") == [(1, "a", 2)]

        # If the query fails after the ALTERs, all values stay.
        self.rebuild(project, "primary_key='id', bucket=2", "select raise_error('no') as id", expect_pass=False)
        assert rows("select id, n, flag from {schema}.changing") == [(3, 5, True)]

        # A change that Paimon cannot ALTER needs a new table without the history: refused, unless the config allows it.
        self.rebuild(project, "primary_key=['id', 'name'], partition_by='name'", expect_pass=False)
        assert rows("select id, n, flag from {schema}.changing") == [(3, 5, True)]
        assert self.snapshots(rows) == 3

        # The new table takes the name only when it is complete.
        failing = "select 1 as id, cast(raise_error('no') as string) as name"
        given_up = "on_rebuild='drop_history', primary_key=['id', 'name']"
        self.rebuild(project, given_up, failing, expect_pass=False)
        assert rows("select id, n, flag from {schema}.changing") == [(3, 5, True)]
        assert self.snapshots(rows) == 3
        self.rebuild(project, f"{given_up}, partition_by='name'")
        assert rows("select id, name, n from {schema}.changing") == [(1, "a", 2)]
        assert self.snapshots(rows) == 1

        self.rebuild(
            project,
            "primary_key=['id', 'name'], partition_by='name'",
            "select 1 as id, 'a' as name, 'x' as n",
        )
        assert rows("select id, name, n from {schema}.changing") == [(1, "a", "x")]
        assert {row[1] for row in rows("show tables in {schema}")} == {"changing"}


class TestViewToTableAndBack:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "turning.sql": "{{ config(materialized=var('as', 'view')) }} select 1 as id",
            "reader.sql": "{{ config(materialized='table') }} select id + 1 as id from {{ ref('turning') }}",
        }

    def test_turn(self, project, rows):
        # Tables of another program, whose names are those of positions tables.
        for name in ("turning", "reader"):
            rows(f"create table {{schema}}.{name}__dbt_changes as select '{name}' as word")
        for kind in ("view", "table", "view", "incremental", "view"):
            run_dbt(["run", "--vars", f"as: {kind}"])
            assert rows("select * from {schema}.reader") == [(2,)], kind
            tables = {row[1] for row in rows("show tables in {schema}")}
            assert ("turning" in tables) == (kind != "view"), kind
            for name in ("turning", "reader"):
                assert rows(f"select * from {{schema}}.{name}__dbt_changes") == [(name,)], kind


class TestHistoryToView:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "turning.sql": "{{ config(materialized=var('as', 'incremental'), incremental_strategy='append') }} select id "
            "from {{ source('raw', 'events') if var('as', '') == 'view' else paimon_changes(source('raw', 'events')) }}",
            "sources.yml": 'sources: [{name: raw, schema: "{{ target.schema }}", tables: [{name: events}]}]',
        }

    @staticmethod
    def tables(rows):
        """The tables of the schema, except the registry of its views."""
        return {row[1] for row in rows("show tables in {schema}")} - {"_dbt_views"}

    def state(self, rows):
        """The rows, the number of table snapshots, and the tables of the schema."""
        return (
            rows("select id from {schema}.turning order by id"),
            rows("select count(*) from {schema}.`turning$snapshots`")[0][0],
            self.tables(rows),
        )

    @staticmethod
    def plan(project, *arguments):
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        done = CliRunner().invoke(main, ["plan", "--output", "json", *places, *arguments])
        return next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))

    def test_only_with_consent(self, project, rows):
        rows("create table {schema}.events (id int)")
        for number in (1, 2):
            rows(f"insert into {{schema}}.events values ({number})")
            run_dbt(["run"])
        before = self.state(rows)
        assert before == ([(1,), (2,)], 2, {"events", "turning", "turning__dbt_changes"})
        as_view = ["--vars", "as: view"]
        planned = self.plan(project, *as_view)
        assert planned["does"] == "create view" and planned["asks"] and planned["lost"]["snapshots"] == 2
        (refused,) = run_dbt(["run", *as_view], expect_pass=False)
        assert "a view has to replace the existing table (it becomes a view)" in refused.message
        assert self.state(rows) == before
        assert "asks" not in self.plan(project, *as_view, "--full-refresh")
        run_dbt(["run", "--full-refresh", *as_view])
        assert self.tables(rows) == {"events"}
        run_dbt(["run"])
        assert self.state(rows) == ([(1,), (2,)], 1, {"events", "turning", "turning__dbt_changes"})
