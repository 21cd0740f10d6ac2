"""Flink's streaming joins of tables that dbt writes, into tables that dbt reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import TIMEOUT, Session

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

MODELS = {
    "sources.yml": "sources: [{name: flink, schema: '{{ target.schema }}', tables: [{name: enriched}, {name: paid}]}]",
    "orders.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
{% if var('step', 1) == 1 %}
select * from values (1L, 10L, timestamp '2024-01-01 10:00:00'), (2L, 11L, timestamp '2024-01-01 10:01:00'),
  (3L, 12L, timestamp '2024-01-01 10:02:00') as t(order_id, customer_id, ordered_at)
{% else %}
select * from values (4L, 10L, timestamp '2024-01-01 12:00:00'), (5L, 11L, timestamp '2024-01-01 12:01:00')
  as t(order_id, customer_id, ordered_at)
{% endif %}
""",
    "customers.sql": """
{{ config(materialized='incremental', primary_key='customer_id', bucket=1) }}
select * from values (10L, '{{ 'silver' if var('step', 1) == 1 else 'gold' }}'), (11L, 'platinum') as t(customer_id, tier)
""",
    # Order 1 is paid within an hour, 2 later, 3 and 5 never, 4 at once. Order 9 does not exist.
    "payments.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
{% if var('step', 1) == 1 %}
select * from values (1L, timestamp '2024-01-01 10:30:00'), (2L, timestamp '2024-01-01 11:30:00') as t(order_id, paid_at)
{% else %}
select * from values (4L, timestamp '2024-01-01 12:00:00'), (9L, timestamp '2024-01-01 12:00:00') as t(order_id, paid_at)
{% endif %}
""",
    "tiers.sql": """
{{ config(materialized='table') }}
select tier, count(*) as orders from {{ source('flink', 'enriched') }} group by tier
""",
    "paid_orders.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select order_id, minutes from {{ paimon_changes(source('flink', 'paid')) }}
""",
}
LOOKUP = """
insert into {schema}.enriched
select o.order_id, c.tier
from (select *, proctime() as at_work from {schema}.orders) as o
left join {schema}.customers /*+ options('continuous.discovery-interval' = '1 s') */
  for system_time as of o.at_work as c on o.customer_id = c.customer_id
"""
# Flink's event times have at most milliseconds; Spark's timestamps have microseconds.
STREAM = """
create temporary table {name} (
  order_id bigint, {more}{at} timestamp_ltz(6), happened as cast({at} as timestamp_ltz(3)),
  watermark for happened as happened - interval '1' minute
) with ('connector' = 'paimon', 'path' = '{folder}/{table}', 'continuous.discovery-interval' = '1 s')
"""
INTERVAL = """
insert into {schema}.paid
select o.order_id, timestampdiff(minute, o.happened, p.happened)
from order_stream as o join payment_stream as p on o.order_id = p.order_id
  and p.happened between o.happened and o.happened + interval '1' hour
"""


def write(step: int, *models: str) -> None:
    run_dbt(["run", "--select", *models, "--vars", f"step: {step}"])


def wait_for(rows: Rows, query: str, expected: list[tuple[Any, ...]]) -> None:
    """Wait until a Flink job has written the expected rows."""
    end = time.monotonic() + TIMEOUT
    while (found := sorted(rows(query), key=repr)) != sorted(expected, key=repr):
        assert time.monotonic() < end, found
        time.sleep(0.5)


class TestJoins:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def _first(self, project: Any, flink: Session) -> None:
        write(1, "orders", "customers", "payments")
        flink.run(
            "create table {schema}.enriched (order_id bigint, tier string, primary key (order_id) not enforced) with ('bucket' = '1')"
        )
        flink.run("create table {schema}.paid (order_id bigint, minutes int)")

    def test_joins(self, project: Any, flink: Session, rows: Rows, warehouse: Any) -> None:
        folder = f"{warehouse}/{project.test_schema}.db"
        flink.define(
            STREAM.replace("{name}", "order_stream")
            .replace("{more}", "customer_id bigint, ")
            .replace("{at}", "ordered_at")
            .replace("{folder}", folder)
            .replace("{table}", "orders")
        )
        flink.define(
            STREAM.replace("{name}", "payment_stream")
            .replace("{more}", "")
            .replace("{at}", "paid_at")
            .replace("{folder}", folder)
            .replace("{table}", "payments")
        )
        enriched, paid = "select * from {schema}.enriched", "select * from {schema}.paid"
        with flink.writing(LOOKUP), flink.writing(INTERVAL):
            wait_for(rows, enriched, [(1, "silver"), (2, "platinum"), (3, None)])
            wait_for(rows, paid, [(1, 30)])
            run_dbt(["run", "--select", "tiers", "paid_orders"])
            assert rows("select * from {schema}.paid_orders") == [(1, 30)]
            # A customer's new tier does not change earlier orders.
            write(2, "customers")
            time.sleep(2)
            write(2, "orders", "payments")
            wait_for(rows, enriched, [(1, "silver"), (2, "platinum"), (3, None), (4, "gold"), (5, "platinum")])
            wait_for(rows, paid, [(1, 30), (4, 0)])
        run_dbt(["run", "--select", "tiers", "paid_orders"])
        tiers = [(None, 1), ("gold", 1), ("platinum", 2), ("silver", 1)]
        assert sorted(rows("select * from {schema}.tiers"), key=repr) == sorted(tiers, key=repr)
        assert sorted(rows("select * from {schema}.paid_orders")) == [(1, 30), (4, 0)]
