"""A model follows a PostgreSQL table through Debezium: rows are equal after each kind of change except TRUNCATE."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.cdc.feeds import PostgresFeed
from integration.services.connect import Connect
from integration.services.postgres import Postgres

TABLE = """
create table planes (
  tail text, model int, name text, price numeric(12,2), ratio numeric, built date, seen timestamp, checked timestamp(3),
  landed timestamptz, flies boolean, wear float8, photo bytea, about jsonb, engines int[], primary key (tail, model)
);
insert into planes
select 'N' || n % 7, n, case when n % 3 > 0 then 'é"\\' || n end, (n * 7919 % 100000 - 50000) / 100.0, n / 8.0,
  date '1969-12-01' + n * 300, timestamp '1999-12-31 23:59:59.123456' + n * interval '1 hour',
  timestamp '2024-02-29 12:00:00.123' - n * interval '1 day', timestamptz '2024-03-31 01:30:00+01' + n * interval '1 minute',
  n % 2 = 0, n / 3.0, decode(lpad(to_hex(n), 2, '0'), 'hex'), json_build_object('n', n), array[n, null]
from generate_series(1, 50) as n;
insert into planes (tail, model) values ('bare', 0);
"""
SOURCES = """
sources:
  - name: airport
    schema: airport
    tables:
      - name: planes
        external: {using: kafka, location: airport.public.planes, value_format: debezium}
        columns:
          - {name: tail, data_type: string}
          - {name: model, data_type: int}
          - {name: name, data_type: string}
          - {name: price, data_type: "decimal(12,2)"}
          - {name: ratio, data_type: "decimal(20,6)"}
          - {name: built, data_type: date}
          - {name: seen, data_type: timestamp_ntz}
          - {name: checked, data_type: timestamp_ntz}
          - {name: landed, data_type: timestamp}
          - {name: flies, data_type: boolean}
          - {name: wear, data_type: double}
          - {name: photo, data_type: binary}
          - {name: about, data_type: string}
          - {name: engines, data_type: "array<int>"}
"""
MODEL = """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key=['tail', 'model'], bucket=2,
    rowkind_field='_row_kind', sequence_field='_position', on_schema_change='append_new_columns'
) }}
select * from {{ stream(source('airport', 'planes')) }}
"""
HERE = """
select tail, model, name, price, ratio, built, seen, checked, unix_micros(landed) as landed, flies, wear, photo,
  about, engines{more} from {{schema}}.planes order by tail, model
"""
THERE = """
select tail, model, name, price, ratio, built, seen, checked, extract(epoch from landed)::numeric * 1000000 as landed, flies,
  wear, photo, about::text, engines{more} from planes order by tail collate "C", model
"""


def plain(value: Any) -> Any:
    """A Spark value in the form of PostgreSQL's JSON."""
    if isinstance(value, (date, datetime)):
        return datetime.isoformat(value) if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + value.hex()
    return Decimal(repr(value)) if isinstance(value, float) else value


def moments(row: dict[str, Any]) -> list[Any]:
    """A row's values; timestamps get back the trailing zeros that PostgreSQL drops."""
    return [
        datetime.fromisoformat(value.partition(".")[0])
        .replace(microsecond=int(value.partition(".")[2].ljust(6, "0")))
        .isoformat()
        if name in ("seen", "checked") and value
        else value
        for name, value in row.items()
    ]


class TestPostgres:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "planes.sql": MODEL}

    def test_the_table_here_is_the_table_there(
        self, project: Any, rows: Any, database: Postgres, worker: Connect
    ) -> None:
        def assert_same(more: str = "") -> None:
            feed.wait()
            run_dbt(["run"])
            here = [[plain(value) for value in row] for row in rows(HERE.format(more=more))]
            there = [moments(row) for row in database.rows(THERE.format(more=more))]
            assert here == there

        database.lines(TABLE)
        feed = PostgresFeed(worker=worker, server=database, name="airport", with_schema=True)
        feed.begin("planes", skipped_operations="none")
        assert_same()
        database.lines(
            """
            begin; delete from planes; insert into planes (tail, model) values ('never', 1); rollback;
            begin; delete from planes where model % 5 = 1; update planes set price = -price, ratio = null; commit;
            begin; delete from planes where model = 2; insert into planes (tail, model) values ('N2', 2); commit;
            -- Rows get new values of either part of the key.
            update planes set model = 1000 - model where model between 40 and 45;
            update planes set tail = 'N3' where tail = 'N4' and model = 4;
            """
        )
        assert_same()

        database.lines(
            """
            alter table planes add column seats int, add column fee numeric(9,3);
            update planes set seats = model, fee = model / 1000.0 where model % 2 = 0;
            update planes set name = (select string_agg(md5(n::text), '') from generate_series(1, 1000) as n) where model = 3;
            """
        )
        assert_same(", seats, fee")
        assert rows("select count(*) from {schema}.planes__dead_letters") == [(0,)]

        # With the key as replica identity, the unchanged long name is not sent, so this change is a dead letter.
        database.lines("update planes set wear = 1 where model = 3; alter table planes replica identity full;")
        database.lines("update planes set wear = 2 where model = 3; truncate planes;")
        feed.wait()
        run_dbt(["run"])
        wear = rows("select wear, length(name) from {schema}.planes where model = 3")
        assert wear == [(2.0, 32000)]
        reasons = sorted(reason for (reason,) in rows("select reason from {schema}.planes__dead_letters"))
        assert len(reasons) == 2 and "REPLICA IDENTITY FULL" in reasons[0] and "truncated" in reasons[1]
