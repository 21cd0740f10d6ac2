"""Flink reads dbt's tables as Spark does: every merge engine and changelog producer, every type, earlier snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import Session

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

# First three rows; then a changed row, a row with only a part of its values, and a new row.
ROWS = """
{% if var('step', 1) == 1 %}
select * from values (1L, 'a', 10L), (2L, 'b', 20L), (3L, 'c', 30L) as t(id, name, v)
{% else %}
select * from values (1L, 'A', 5L), (2L, cast(null as string), 7L), (4L, 'd', 40L) as t(id, name, v)
{% endif %}
"""
OF_ENGINE = {
    "deduplicate": "",
    "partial-update": "",
    "aggregation": ", fields={'name': {'aggregate_function': 'last_non_null_value'}, 'v': {'aggregate_function': 'sum'}}",
    "first-row": "",
}
# Every pair that Paimon supports: first-row tables do not support `input` and `full-compaction`.
PAIRS = [
    (engine, producer)
    for engine in OF_ENGINE
    for producer in ("none", "input", "lookup", "full-compaction")
    if engine != "first-row" or producer in ("none", "lookup")
]
EXPECTED = {
    "deduplicate": [(1, "A", 5), (2, None, 7), (3, "c", 30), (4, "d", 40)],
    "partial-update": [(1, "A", 5), (2, "b", 7), (3, "c", 30), (4, "d", 40)],
    "aggregation": [(1, "A", 15), (2, "b", 27), (3, "c", 30), (4, "d", 40)],
    "first-row": [(1, "a", 10), (2, "b", 20), (3, "c", 30), (4, "d", 40)],
}


def name(engine: str, producer: str) -> str:
    return f"{engine}_{producer}".replace("-", "_")


def model(engine: str, producer: str) -> str:
    hook = ', post_hook="{{ compact(this) }}"' if producer == "full-compaction" else ""
    return (
        f"{{{{ config(materialized='incremental', primary_key='id', bucket=2, merge_engine='{engine}', "
        f"changelog_producer='{producer}'{OF_ENGINE[engine]}{hook}) }}}}{ROWS}"
    )


class TestMergeEngines:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {f"{name(*pair)}.sql": model(*pair) for pair in PAIRS}

    @pytest.fixture(scope="class", autouse=True)
    def _two_runs(self, project: Any) -> None:
        for step in (1, 2):
            run_dbt(["run", "--vars", f"step: {step}"])

    @pytest.mark.parametrize(("engine", "producer"), PAIRS)
    def test_rows(self, flink: Session, rows: Rows, engine: str, producer: str) -> None:
        query = f"select id, name, v from {{schema}}.{name(engine, producer)} order by id"
        assert flink.rows(query) == rows(query) == EXPECTED[engine]


TYPES = """
{{ config(materialized='table') }}
select true as a_boolean, 1Y as a_tinyint, 2S as a_smallint, 3 as an_int, 4L as a_bigint, 1.5F as a_float, 2.5D as a_double,
  12345.67BD as a_decimal, 'ä' as a_string, X'00FF' as a_binary, date '2024-02-29' as a_date,
  timestamp '2024-02-29 12:00:00.123456' as a_timestamp, timestamp_ntz '1999-12-31 23:59:59.5' as a_local_timestamp,
  array(1, 2) as an_array, map('k', 7) as a_map, named_struct('x', 1, 'y', 'z') as a_struct, cast(null as string) as nothing
"""


class TestTypes:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"kinds.sql": TYPES}

    def test_each_type(self, project: Any, flink: Session) -> None:
        run_dbt(["run"])
        (row,) = flink.rows(
            "select a_boolean, a_tinyint, a_smallint, an_int, a_bigint, a_float, a_double, a_decimal, a_string, a_binary, "
            "a_date, a_timestamp, a_local_timestamp, an_array[2], a_map['k'], t.a_struct.y, nothing from {schema}.kinds t"
        )
        assert row == (
            *(True, 1, 2, 3, 4, 1.5, 2.5, Decimal("12345.67"), "ä", b"\x00\xff"),
            *("2024-02-29", "2024-02-29T12:00:00.123456Z", "1999-12-31T23:59:59.500", 2, 7, "z", None),
        )


HISTORY = {
    "states.sql": "{{ config(materialized='incremental', primary_key='id', bucket=1) }}" + ROWS,
    "over_made.sql": """
{{ config(materialized='table') }}
select id, v * 10 as v from {{ source('raw', 'made') }}
""",
    "taken_over.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select * from values (1L, 10L), (3L, 30L) as t(id, v)
""",
    "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: made}]}]",
}
MACROS = "{% macro tag_it() %}{% do create_tag(ref('states'), 'first', snapshot=1) %}{% endmacro %}"
FIRST = [(1, "a", 10), (2, "b", 20), (3, "c", 30)]


class TestStates:
    """Flink's time travel, and tables that one engine creates and the other uses."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return HISTORY

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {"macros.sql": MACROS}

    @pytest.fixture(scope="class", autouse=True)
    def _two_runs(self, project: Any) -> None:
        for step in (1, 2):
            run_dbt(["run", "--select", "states", "--vars", f"step: {step}"])
        run_dbt(["run-operation", "tag_it"])

    @pytest.fixture
    def folder(self, project: Any, warehouse: Path) -> Path:
        return warehouse / f"{project.test_schema}.db"

    def test_snapshot_and_tag(self, flink: Session) -> None:
        states = "select * from {schema}.states /*+ options('%s' = '%s') */ order by id"
        assert flink.rows(states % ("scan.snapshot-id", "1")) == FIRST
        assert flink.rows(states % ("scan.tag-name", "first")) == FIRST
        assert flink.rows(states % ("scan.snapshot-id", "2")) == EXPECTED["deduplicate"]

    def test_timestamp(self, flink: Session, folder: Path) -> None:
        at = json.loads((folder / "states" / "snapshot" / "snapshot-1").read_text())["timeMillis"]
        moment = datetime.fromtimestamp(at / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        as_of = f"select * from {{schema}}.states for system_time as of timestamp '{moment}' order by id"
        assert flink.rows(as_of) == FIRST
        millis = f"select * from {{schema}}.states /*+ options('scan.timestamp-millis' = '{at}') */ order by id"
        assert flink.rows(millis) == FIRST

    def test_temporary_table_on_a_path(self, flink: Session, folder: Path) -> None:
        flink.define(
            "create temporary table over_path (id bigint, name string, v bigint, primary key (id) not enforced) "
            f"with ('connector' = 'paimon', 'path' = '{folder}/states')"
        )
        assert flink.rows("select * from over_path order by id") == EXPECTED["deduplicate"]

    def test_a_table_that_flink_made_by_auto_create(self, flink: Session, rows: Rows, folder: Path) -> None:
        flink.define(
            "create temporary table made (id bigint, v bigint, primary key (id) not enforced) "
            f"with ('connector' = 'paimon', 'path' = '{folder}/made', 'auto-create' = 'true', 'bucket' = '1')"
        )
        flink.run("insert into made values (1, 1), (2, 2)")
        run_dbt(["run", "--select", "over_made"])
        assert sorted(rows("select * from {schema}.over_made")) == [(1, 10), (2, 20)]

    def test_a_table_that_flink_made_and_dbt_goes_on_with(self, flink: Session, rows: Rows) -> None:
        flink.run(
            "create table {schema}.taken_over (id bigint, v bigint, primary key (id) not enforced) "
            "with ('bucket' = '1', 'sink.parallelism' = '1')"
        )
        flink.run("insert into {schema}.taken_over values (1, 1), (2, 2)")
        run_dbt(["run", "--select", "taken_over"])
        expected = [(1, 10), (2, 2), (3, 30)]
        query = "select * from {schema}.taken_over order by id"
        assert rows(query) == flink.rows(query) == expected
        options = "select `value` from {schema}.`taken_over$options` where `key` = 'sink.parallelism'"
        assert rows(options) == [("1",)]
        # dbt added a commit to the table instead of replacing it.
        assert rows("select count(*) from {schema}.`taken_over$snapshots`") == [(2,)]
