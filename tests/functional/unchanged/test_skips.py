"""A run skips a table only if its query, config and inputs are the same as in its last commit."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from functional.unchanged.conftest import ORDERS, SOURCE, table


def jobs() -> int:
    """The number of Spark jobs of this process so far."""
    return int(SparkSession.builder.getOrCreate().sparkContext._jsc.sc().dagScheduler().numTotalJobs())


class TestInputs:
    """Each test begins with a table that the next run would skip."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCE,
            "copied.sql": table(ORDERS),
            "seen.sql": "{{ config(materialized='view') }} " + ORDERS,
            "over_view.sql": table(
                "with a as (select * from {{ ref('seen') }}) select a.* from a where id in (select id from a)"
            ),
        }

    @pytest.fixture(autouse=True)
    def built(self, runs, orders):
        orders()
        runs("copied")
        assert runs("copied")

    def test_no_spark_job(self, runs):
        before = jobs()
        (result,) = run_dbt(["run", "--select", "copied"])
        assert result.adapter_response["code"] == "REUSED"
        assert (
            result.adapter_response["reason"]
            == f"inputs and query as at snapshot {result.adapter_response['snapshot_id']}"
        )
        assert jobs() == before

    def test_new_rows(self, runs, rows):
        rows("insert into {schema}.orders values (3, 'c')")
        assert not runs("copied")
        assert rows("select count(*) from {schema}.copied") == [(3,)]
        assert runs("copied")

    def test_rolled_back_and_written_again(self, runs, rows):
        """The newest snapshot has the same id, but other rows."""
        rows("insert into {schema}.orders values (3, 'c')")
        assert not runs("copied")
        rows("call paimon.sys.rollback(table => '{schema}.orders', version => '1')")
        rows("insert into {schema}.orders values (4, 'd')")
        assert not runs("copied")
        assert rows("select id from {schema}.copied order by id") == [(1,), (2,), (4,)]

    def test_recreated(self, runs, orders, rows):
        orders("(7, 'g'), (8, 'h')")
        assert not runs("copied")
        assert rows("select id from {schema}.copied order by id") == [(7,), (8,)]

    def test_compacted(self, runs, orders, rows):
        orders(properties="tblproperties ('primary-key' = 'id', 'bucket' = '1')")
        rows("insert into {schema}.orders values (2, 'B')")
        assert not runs("copied")
        rows("call paimon.sys.compact(table => '{schema}.orders')")
        assert ("COMPACT",) in rows("select commit_kind from {schema}.`orders$snapshots`")
        assert runs("copied")

    def test_altered_input(self, runs, rows):
        rows("alter table {schema}.orders rename column name to old")
        rows("alter table {schema}.orders add columns (name string)")
        assert not runs("copied")
        assert rows("select max(name) from {schema}.copied") == [(None,)]

    def test_foreign_write_to_the_table(self, runs, rows):
        rows("insert into {schema}.copied values (9, 'x')")
        assert not runs("copied")
        assert rows("select count(*) from {schema}.copied") == [(2,)]
        assert runs("copied")

    def test_own_table_compacted(self, runs, rows):
        rows("call paimon.sys.compact(table => '{schema}.copied')")
        assert runs("copied")

    def test_foreign_alter_of_the_table(self, runs, rows):
        rows("alter table {schema}.copied set tblproperties ('write-only' = 'true')")
        assert not runs("copied")
        assert rows("select value from {schema}.`copied$options` where key = 'write-only'") == []
        assert runs("copied")

    def test_dropped_table(self, runs, rows):
        rows("drop table {schema}.copied")
        assert not runs("copied")
        assert rows("select count(*) from {schema}.copied") == [(2,)]

    def test_full_refresh(self, runs):
        assert not runs("copied", "--full-refresh")
        assert runs("copied")

    def test_empty(self, runs, rows):
        assert not runs("copied", "--empty")
        assert rows("select count(*) from {schema}.copied") == [(0,)]
        assert not runs("copied")
        assert rows("select count(*) from {schema}.copied") == [(2,)]

    def test_a_view_resolved_to_its_table(self, runs, rows):
        run_dbt(["run", "--select", "seen"])
        runs("over_view")
        assert runs("over_view")
        rows("insert into {schema}.orders values (3, 'c')")
        assert not runs("over_view")

    def test_a_view_redefined(self, runs, rows):
        runs.write("seen", "{{ config(materialized='view') }} " + ORDERS)
        run_dbt(["run", "--select", "seen"])
        runs("over_view")
        assert runs("over_view")
        runs.write(
            "seen",
            "{{ config(materialized='view') }} select id, upper(name) as name from {{ source('raw', 'orders') }}",
        )
        run_dbt(["run", "--select", "seen"])
        assert not runs("over_view")
        assert rows("select name from {schema}.over_view order by 1") == [("A",), ("B",)]
        assert runs("over_view")

    def test_query_and_config(self, runs, rows):
        runs.write("copied", table(ORDERS + " where id > 1"))
        assert not runs("copied")
        assert runs("copied")
        runs.write("copied", table(ORDERS + " where id > 1", ", tblproperties={'file.format': 'orc'}"))
        assert not runs("copied")
        assert runs("copied")
        runs.write("copied", table(ORDERS))
        assert not runs("copied")


CASES = {
    "clock": "select id, current_timestamp() as at from {{ source('raw', 'orders') }}",
    "today": "select id, cast('today' as date) as at from {{ source('raw', 'orders') }}",
    "to_today": "select id, to_date('now') as at from {{ source('raw', 'orders') }}",
    "chance": "select id, rand(42) as at from {{ source('raw', 'orders') }}",
    "uuids": "select id, uuid() as at from {{ source('raw', 'orders') }}",
    "clock_below": "select id from {{ source('raw', 'orders') }} where exists (select 1 where current_date() > date'2020-01-01')",
    "earlier": "select id from {{ at(source('raw', 'orders'), snapshot=1) }}",
    "system_table": "select count(*) as n from {{ system_table(source('raw', 'orders'), 'snapshots') }}",
    "java": "select id, java_method('java.lang.System', 'nanoTime') as at from {{ source('raw', 'orders') }}",
}
CONFIGS = {
    "hooked": ", post_hook='select 1'",
    "headed": ", sql_header='set spark.sql.ansi.enabled=false;'",
    "tagged": ", table_tag='x'",
}


class TestNever:
    @pytest.fixture(scope="class")
    def models(self):
        files = {f"{name}.sql": table(sql) for name, sql in CASES.items()}
        files |= {f"{name}.sql": table(ORDERS, config) for name, config in CONFIGS.items()}
        python = "def model(dbt, session):\n    dbt.config(materialized='table', skip_unchanged=True)\n    return session.range(3)\n"
        return {**files, "sources.yml": SOURCE, "py.py": python}

    def test_never(self, project, runs, orders, rows):
        orders()
        names = {*CASES, *CONFIGS, "py"}
        for _ in range(2):
            codes = {r.node.name: r.adapter_response["code"] for r in run_dbt(["run"])}
            assert codes.keys() == names
            assert "REUSED" not in codes.values()
        # The models' commits carry no key that a later run could match.
        for name in names:
            users = rows(f"select commit_user from {{schema}}.`{name}$snapshots`")
            assert not [user for (user,) in users if user.startswith("dbtk")]


class TestOff:
    """Without the config, commits carry no key, and nothing is skipped."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"plain.sql": "{{ config(materialized='table') }} select 1 as id"}

    def test_off(self, project, runs, rows):
        assert not runs("plain")
        assert not runs("plain")
        users = rows("select commit_user from {schema}.`plain$snapshots`")
        assert not [user for (user,) in users if user.startswith("dbtk")]
