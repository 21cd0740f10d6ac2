"""A rebuild after a config change alters the table if Paimon can; otherwise a new table replaces it. No row is lost."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file


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
        for kind in ("view", "table", "view", "incremental", "view"):
            run_dbt(["run", "--vars", f"as: {kind}"])
            assert rows("select * from {schema}.reader") == [(2,)], kind
            tables = {row[1] for row in rows("show tables in {schema}")}
            assert ("turning" in tables) == (kind != "view"), kind
