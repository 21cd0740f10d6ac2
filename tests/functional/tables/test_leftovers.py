"""The next run finishes or removes what a killed run left behind."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt


class TestLeftovers:
    @pytest.fixture(scope="class")
    def models(self):
        log = "{{ config(materialized='incremental') }} select {{ var('n', 1) }} as n"
        return {
            "log.sql": log,
            "log2.sql": log,
            "flat.sql": "{{ config(materialized='table') }} select 1 as n",
        }

    def test_next_run_heals(self, project, rows):
        schema = f"`{project.test_schema}`"
        run_dbt(["run"])
        # As if killed between the renames, without (log) or with (log2) the staged table, or while staging (flat).
        rows(f"alter table {{schema}}.log rename to {schema}.log__dbt_backup")
        rows(f"alter table {{schema}}.log2 rename to {schema}.log2__dbt_backup")
        rows("create table {schema}.log2__dbt_tmp (n int)")
        rows("insert into {schema}.log2__dbt_tmp values (7)")
        rows("create table {schema}.flat__dbt_tmp (other int)")
        run_dbt(["run", "--vars", "n: 2"])
        assert sorted(rows("select n from {schema}.log")) == [(1,), (2,)]
        assert sorted(rows("select n from {schema}.log2")) == [(2,), (7,)]
        assert rows("select n from {schema}.flat") == [(1,)]
        assert {row[1] for row in rows("show tables in {schema}")} == {"log", "log2", "flat"}
