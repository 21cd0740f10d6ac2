"""dbt's own suite: dbt show."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.dbt_show import fixtures
from dbt.tests.adapter.dbt_show.test_dbt_show import (
    BaseShowDoesNotHandleDoubleLimit,
    BaseShowLimit,
    BaseShowSqlHeader,
)
from dbt.tests.util import run_dbt


class TestShowLimit(BaseShowLimit):
    pass


# Without a semicolon: the query would become a part of the setting's value.
HEADER = "{{ config(sql_header='set spark.sql.session.timeZone=Asia/Tokyo') }} "


class TestShowSqlHeader(BaseShowSqlHeader):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sql_header.sql": fixtures.models__sql_header,
            "in_tokyo.sql": HEADER + "select current_timezone() as zone",
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"on_the_clock_of_tokyo.sql": HEADER + "select 1 as id where current_timezone() <> 'Asia/Tokyo'"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"flags": {"require_sql_header_in_test_configs": True}}

    def test_header_without_an_end(self, project):
        (result,) = run_dbt(["show", "--select", "in_tokyo"]).results
        assert [tuple(row) for row in result.agate_table.rows] == [("Asia/Tokyo",)]
        run_dbt(["test"])
        run_dbt(["test", "--store-failures"])


class TestShowDoesNotHandleDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    # Spark's message instead of PostgreSQL's `syntax error at or near "limit"`.
    DATABASE_ERROR_MESSAGE = "Syntax error at or near 'limit'"
