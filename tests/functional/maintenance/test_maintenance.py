"""Maintenance macros, as post-hooks and as operations."""

from __future__ import annotations

import time

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

MODEL = """
{{ config(
    materialized='incremental', primary_key=['id', 'day'], partition_by='day', bucket=1,
    post_hook=["{{ create_tag(this, 'run_' ~ var('run')) }}", "{{ compact(this, partitions=[{'day': \\"it's\\"}]) }}"]
) }}
select {{ var('run') }} as id, "it's" as day union all select {{ var('run') }}, '2024-01-01'
"""

DATED = """
{{ config(materialized='table', partition_by='day') }} select 1 as id, date'2024-01-01' as day
"""


PLACES = """
{{ config(materialized='table', partition_by='place') }} select 1 as id, 'us,ca' as place union all select 2, 'us'
"""


def operate(macro, *, expect_pass=True, **arguments):
    run_dbt(["run-operation", macro, "--args", str({"relation": "kept"} | arguments)], expect_pass=expect_pass)


class TestMaintenance:
    @pytest.fixture(scope="class")
    def models(self):
        return {"kept.sql": MODEL, "dated.sql": DATED, "places.sql": PLACES}

    def test_hooks_and_operations(self, project, rows):
        def files(day):
            # The partition is `[it's]` up to Paimon 0.9 and `{it's}` later, so search for the value in it.
            return rows(f'select count(*) from {{schema}}.`kept$files` where partition like "%{day}%"')[0][0]

        for run in (1, 2, 3):
            run_dbt(["run", "--select", "kept", "--vars", f"run: {run}"])
        assert [row[0] for row in rows("select tag_name from {schema}.`kept$tags` order by 1")] == [
            "run_1",
            "run_2",
            "run_3",
        ]
        assert rows("select count(*) from {schema}.kept version as of 'run_2'") == [(4,)]
        assert files("it's") == 1

        assert files("2024-01-01") > 1
        operate("compact")
        assert files("2024-01-01") == 1
        rows("insert into {schema}.kept values (9, '2024-01-01')")
        assert files("2024-01-01") == 2
        # Call the procedure in SQL, as a user would.
        rows("call paimon.sys.compact('{schema}.kept', \"day='2024-01-01'\")")
        assert files("2024-01-01") == 1
        operate("delete_tag", tag="run_33", expect_pass=False)
        operate("delete_tag", tag="run_3")
        assert len(rows("select * from {schema}.`kept$tags`")) == 2
        operate("rollback_to", version="run_2")
        assert rows("select max(id) from {schema}.kept") == [(2,)]
        operate("expire_snapshots", retain_max=1, retain_min=1, older_than="2100-01-01 00:00:00")
        assert len(rows("select * from {schema}.`kept$snapshots`")) == 1
        operate("remove_orphan_files")
        operate(
            "expire_partitions",
            expiration_time="30 d",
            timestamp_formatter="yyyy-MM-dd",
            timestamp_pattern="$day",
        )
        assert rows("select distinct day from {schema}.kept") == [("it's",)]

    def test_partitions_by_a_date_expire_only_by_their_last_update(self, project, rows):
        run_dbt(["run", "--select", "dated"])
        expire = {"relation": "dated", "timestamp_formatter": "yyyy-MM-dd"}
        operate("expire_partitions", **expire, expiration_time="30 d", expect_pass=False)
        assert rows("select id from {schema}.dated") == [(1,)]
        time.sleep(2)
        operate("expire_partitions", **expire, expiration_time="1 s", expire_strategy="update-time")
        assert rows("select id from {schema}.dated") == []

    def test_partitions_with_a_comma_are_not_expired_in_place_of_others(self, project, rows):
        run_dbt(["run", "--select", "places"])
        right = VERSIONS.supports(Capability.EXPIRE_PARTITIONS_WITH_COMMAS)
        expire = {"relation": "places", "expiration_time": "30 d", "expire_strategy": "update-time"}
        operate("expire_partitions", **expire, expect_pass=right)
        assert rows("select place from {schema}.places order by 1") == [("us",), ("us,ca",)]
