"""Queries that Paimon answers from statistics or partitions alone: what goes wrong, and the ways round in the docs."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

MODEL = """{{ config(
    materialized='incremental', incremental_strategy='append', on_schema_change='append_new_columns', partition_by='day'
) }}
select '{{ var("run") }}' as day {% if var("run") > 1 %}, {{ var("run") }} as score {% endif %}"""
TOP = "select score from {schema}.scores order by {order} limit 1"


class TestTopN:
    @pytest.fixture(scope="class")
    def models(self):
        return {"scores.sql": MODEL}

    @pytest.fixture(scope="class", autouse=True)
    def runs(self, project):
        for run in (1, 2):
            run_dbt(["run", "--vars", f"run: {run}"])

    @pytest.mark.parametrize(
        "order",
        [
            pytest.param("score desc nulls last", marks=pytest.mark.lacks(Capability.TOP_N)),
            "score desc nulls last, day",
            "-score asc nulls last",
        ],
    )
    def test_the_greatest(self, rows, order):
        if order == "score desc nulls last":
            # Wrong: the other partition has only NULLs.
            assert rows(TOP.replace("{order}", order)) == [(None,)]
        else:
            assert rows(TOP.replace("{order}", order)) == [(2,)]

    def test_max_needs_statistics(self, rows):
        """Why a config with these statistics is refused."""
        rows("create table {schema}.counted (id int) using paimon tblproperties ('metadata.stats-mode' = 'counts')")
        rows("insert into {schema}.counted values (1), (3)")
        assert rows("select -min(-id) from {schema}.counted") == [(3,)]

    @pytest.mark.lacks(Capability.MAX_WITHOUT_STATISTICS)
    def test_max_without_statistics_is_wrong(self, rows):
        assert rows("select max(id) from {schema}.counted") == [(None,)]


class TestTextOfPartitions:
    @pytest.fixture(scope="class", autouse=True)
    def _table(self, project, rows):
        rows("create schema if not exists {schema}")
        rows("create table {schema}.hours (id int, hour timestamp) using paimon partitioned by (hour)")
        rows("insert into {schema}.hours values (1, timestamp'2024-01-31 05:00:00')")

    @pytest.mark.parametrize("text", ["date_format(hour, 'yyyy-MM-dd HH:mm:ss')", "hour"])
    def test_ways_round(self, rows, text):
        assert rows("select id from {schema}.hours where " + f"{text} = '2024-01-31 05:00:00'") == [(1,)]

    @pytest.mark.lacks(Capability.TEXT_OF_TIMESTAMP_PARTITIONS)
    def test_the_text_itself_is_wrong(self, rows):
        assert rows("select id from {schema}.hours where cast(hour as string) = '2024-01-31 05:00:00'") == []


@pytest.mark.lacks(Capability.LIMIT_WITH_DELETION_VECTORS)
def test_a_limit_counts_deleted_rows(project, rows):
    rows("create schema if not exists {schema}")
    rows(
        "create table {schema}.vectors (id int, day int) using paimon partitioned by (day) "
        "tblproperties ('deletion-vectors.enabled' = 'true')"
    )
    for statement in (
        "insert into {schema}.vectors select cast(id as int), 1 from range(0, 10, 1, 1)",
        "update {schema}.vectors set id = id + 100 where id < 8",
        "insert into {schema}.vectors select cast(id as int), 2 from range(0, 10, 1, 1)",
    ):
        rows(statement)
    assert len(rows("select id from {schema}.vectors limit 15")) == 10
    assert len(rows("select id from {schema}.vectors order by id limit 15")) == 15


@pytest.mark.lacks(Capability.FILTERS_WITH_FALLBACK_BRANCH)
def test_a_condition_finds_rows_of_the_fallback_branch(project, rows):
    rows("create schema if not exists {schema}")
    rows("create table {schema}.falls (v int, day string) using paimon partitioned by (day)")
    rows("insert into {schema}.falls values (1, 'd1')")
    rows("call paimon.sys.create_branch('{schema}.falls', 'b')")
    rows("insert into {schema}.`falls$branch_b` values (100, 'd1'), (2, 'd2')")
    rows("alter table {schema}.falls set tblproperties ('scan.fallback-branch' = 'b')")
    assert rows("select v from {schema}.falls order by v") == [(1,), (2,)]
    assert rows("select v from {schema}.falls where v = 100") == [(100,)]
    assert rows("select v from {schema}.falls where day = 'd1'") == [(1,)]
