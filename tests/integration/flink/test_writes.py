"""Flink jobs write tables while dbt reads their changes: no row is lost or duplicated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import Session

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

ROWS = 3000
KEYS = 100
MODELS = {
    # Flink writes these: it appends rows to `events` and upserts rows into `latest`.
    "events.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id, id as v from range(-5, 1)
""",
    "latest.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, 0L as v from range(3)
""",
    # dbt makes these from the changes.
    "event_log.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id, v from {{ paimon_changes(ref('events')) }}
""",
    "copy.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=1, rowkind_field='_row_kind') }}
select id, v, _row_kind from {{ paimon_changes(ref('latest')) }}
""",
    "grown.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, v from {{ ref('events') }}
{% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}
""",
    "streamed.sql": """
{{ config(materialized='streaming') }}
select id, v from {{ stream(ref('events')) }}
""",
}
READERS = ("event_log", "copy", "grown", "streamed")
GENERATED = f"""
create temporary table generated (id bigint) with (
  'connector' = 'datagen', 'rows-per-second' = '75',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}')
"""


class TestFlinkWrites:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    def test_nothing_is_lost_or_there_twice(self, project: Any, flink: Session, rows: Rows) -> None:
        run_dbt(["run", "--select", "events", "latest"])
        flink.define(GENERATED)
        seen: list[int] = []
        with (
            flink.writing("insert into {schema}.events select id, id from generated") as added,
            flink.writing(f"insert into {{schema}}.latest select mod(id, {KEYS}), id from generated") as replaced,
        ):
            while not seen or "RUNNING" in (added.status, replaced.status):
                run_dbt(["run", "--select", *READERS])
                seen += rows("select count(*) from {schema}.event_log")[0]
            added.wait()
            replaced.wait()
        run_dbt(["run", "--select", *READERS])

        events = [(number, number) for number in range(-5, ROWS + 1)]
        latest = [(number % KEYS, number) for number in range(ROWS - KEYS + 1, ROWS + 1)]
        for table in ("events", "event_log", "grown", "streamed"):
            assert sorted(rows(f"select id, v from {{schema}}.{table}")) == events, table
        for table in ("latest", "copy"):
            assert sorted(rows(f"select id, v from {{schema}}.{table}")) == sorted(latest), table
        # At least two runs read while Flink wrote.
        between = {count for count in seen if 6 < count < len(events)}
        assert len(between) > 1
        # The stream wrote several batches.
        batches = (
            "select count(distinct commit_user) from {schema}.`streamed$snapshots` where commit_user like 'dbts-%'"
        )
        assert rows(batches)[0][0] > 2
