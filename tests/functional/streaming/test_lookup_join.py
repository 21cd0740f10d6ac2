"""A stream joined with a table, like Flink's lookup join; and the position of a consumer in its source."""

from __future__ import annotations

import time

import pytest
from dbt.tests.util import run_dbt

ENRICHED = """
{{ config(materialized='streaming') }}
select o.order_id, o.customer_id, c.tier
from {{ stream(source('raw', 'orders')) }} as o
left join {{ ref('customers') }} as c on o.customer_id = c.customer_id
"""
CUSTOMERS = """
{{ config(materialized='incremental', primary_key='customer_id', bucket=1) }}
select 1 as customer_id, '{{ "gold" if var("run") == 1 else "platinum" }}' as tier
"""
READ_ON = """
{{ config(materialized='streaming') }}
select order_id from {{ stream(source('raw', 'orders'), options={'consumer-id': 'reader'}) }}
"""
RAW = "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: orders}]}]"


class TestLookupJoin:
    @pytest.fixture(scope="class")
    def models(self):
        return {"customers.sql": CUSTOMERS, "enriched.sql": ENRICHED, "raw.yml": RAW}

    def test_each_order_has_the_customer_of_its_time(self, project, write, rows):
        write("orders", "create table {t} (order_id int, customer_id int)", "insert into {t} values (10, 1)")
        run_dbt(["run", "--vars", "run: 1"])
        write("orders", "insert into {t} values (11, 1), (12, 2)")
        run_dbt(["run", "--vars", "run: 2"])
        found = rows("select order_id, tier from {schema}.enriched order by 1")
        # A joined row keeps the tier at the time of its run; a missing customer gives NULL.
        assert found == [(10, "gold"), (11, "platinum"), (12, None)]


class TestConsumer:
    @pytest.fixture(scope="class")
    def models(self):
        return {"read_on.sql": READ_ON, "raw.yml": RAW}

    def test_its_position_moves_and_is_forgotten(self, project, write, rows):
        def position():
            """Consumer -> the first table snapshot that the next run may need."""
            return dict(rows("select consumer_id, next_snapshot_id from {schema}.`orders$consumers`"))

        write(
            "orders",
            "create table {t} (order_id int) tblproperties ('consumer.expiration-time' = '5 s')",
            "insert into {t} values (1)",
        )
        positions = []
        for number in range(2, 6):
            run_dbt(["run"])
            positions.append(position()["reader"])
            write("orders", f"insert into {{t}} values ({number})")
        # The position moves in the next run, when Spark learns that a batch was committed.
        assert positions == sorted(positions) and 1 == positions[0] < positions[-1] <= 4
        assert rows("select order_id from {schema}.read_on order by 1") == [(1,), (2,), (3,), (4,)]
        # After consumer.expiration-time, the next commit deletes a consumer that was idle for that long.
        time.sleep(6)
        assert position() == {"reader": positions[-1]}
        write("orders", "insert into {t} values (6)")
        assert position() == {}
        # The stream continues from its own checkpoint.
        run_dbt(["run"])
        assert rows("select order_id from {schema}.read_on order by 1") == [(n,) for n in range(1, 7)]
