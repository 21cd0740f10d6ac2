"""Joining a partitioned table by its partition with an empty input gives no rows, and does not fail."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

SOURCES = "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: sales}, {name: days}]}]"
JOINED = "select s.id, s.day from {{ source('raw', 'sales') }} s join {{ source('raw', 'days') }} d on d.day = s.day"

# With adaptive execution, Spark would skip the join when it sees at run time that an input is empty.
WHOLE = "spark_config={'spark.sql.adaptive.enabled': 'false'}"


class TestEmptyJoin:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES,
            "whole.sql": f"{{{{ config(materialized='table', {WHOLE}) }}}} {JOINED} and d.open > 0",
            "added.sql": f"{{{{ config(materialized='incremental', primary_key='id', bucket=1, {WHOLE}) }}}} {JOINED} and d.open > 0",
        }

    def test_rows(self, project, rows):
        rows("create table {schema}.sales (id int, day string) partitioned by (day)")
        rows("create table {schema}.days (day string, open int)")
        rows("insert into {schema}.sales values (1, 'mon'), (2, 'tue')")
        rows("insert into {schema}.days values ('mon', 0)")
        run_dbt(["run"])
        assert rows("select * from {schema}.whole") == rows("select * from {schema}.added") == []
        rows("insert overwrite {schema}.days values ('mon', 1)")
        run_dbt(["run"])
        assert rows("select * from {schema}.whole") == rows("select * from {schema}.added") == [(1, "mon")]
        rows("insert overwrite {schema}.days values ('mon', 0)")
        run_dbt(["run"])
        assert rows("select * from {schema}.whole") == []
        assert rows("select * from {schema}.added") == [(1, "mon")]
