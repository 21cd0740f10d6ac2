"""A model follows a MariaDB table through Debezium: rows are equal after each kind of change except TRUNCATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.cdc.feeds import MariaDbFeed
from integration.services.connect import Connect
from integration.services.kafka import Kafka
from integration.services.mariadb import MariaDb, mariadb

pytestmark = pytest.mark.full

TABLE = """
create table planes (tail varchar(10), model int, name text, price decimal(12,2), primary key (tail, model));
insert into planes
select concat('N', seq % 7), seq, if(seq % 3 > 0, concat('é"', seq), null), (cast(seq as signed) * 7919 % 100000 - 50000) / 100
from seq_1_to_50;
insert into planes (tail, model) values ('bare', 0);
"""
SOURCES = """
sources:
  - name: airfield
    schema: airfield
    tables:
      - name: planes
        external: {using: kafka, location: airfield.registry.planes, value_format: debezium}
        columns:
          - {name: tail, data_type: string}
          - {name: model, data_type: int}
          - {name: name, data_type: string}
          - {name: price, data_type: "decimal(12,2)"}
"""
MODEL = """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key=['tail', 'model'], bucket=2,
    rowkind_field='_row_kind', sequence_field='_position', on_schema_change='append_new_columns'
) }}
select * from {{ stream(source('airfield', 'planes')) }}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDb]:
    with mariadb(log_bin="log", binlog_format="row", server_id="1") as server:
        yield server


class TestMariaDb:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "planes.sql": MODEL}

    def test_the_table_here_is_the_table_there(
        self, project: Any, rows: Any, server: MariaDb, worker: Connect, broker: Kafka
    ) -> None:
        def assert_same(*more: str) -> None:
            feed.wait()
            run_dbt(["run"])
            names = ("tail", "model", "name", "price", *more)
            here = rows(f"select {', '.join(names)} from {{schema}}.planes")
            pairs = ", ".join(f"'{name}', {name}" for name in names)
            there = server.rows(f"select json_object({pairs}) from planes")
            assert sorted(here, key=str) == sorted((tuple(row.values()) for row in there), key=str)

        server.lines(TABLE)
        feed = MariaDbFeed(worker=worker, server=server, name="airfield", with_schema=True, broker=broker.address)
        feed.begin("planes", skipped_operations="none")
        assert_same()
        server.lines(
            """
            begin; delete from planes; insert into planes (tail, model) values ('never', 1); rollback;
            begin; delete from planes where model % 5 = 1; update planes set price = -price; commit;
            begin; delete from planes where model = 2; insert into planes (tail, model) values ('N2', 2); commit;
            -- Rows that move, and within one event each to the key that the row before has left.
            update planes set model = 1000 - model where model between 40 and 45;
            update planes set model = model + 7 where tail = 'N3' order by model desc;
            -- To MariaDB these keys are equal.
            update planes set tail = 'n4' where tail = 'N4';
            replace into planes (tail, model, name) values ('bare', 0, 'replaced');
            insert into planes (tail, model, name) values ('bare', 0, 'x') on duplicate key update name = 'twice';
            """
        )
        assert_same()

        server.lines(
            """
            alter table planes add column seats int unsigned, add column fee decimal(9,3) after name;
            update planes set seats = model, fee = model / 1000 where model % 2 = 0;
            """
        )
        assert_same("seats", "fee")
        assert rows("select count(*) from {schema}.planes__dead_letters") == [(0,)]

        before = rows("select count(*) from {schema}.planes")
        server.lines("truncate table planes;")
        feed.wait()
        run_dbt(["run"])
        assert rows("select count(*) from {schema}.planes") == before
        ((reason,),) = rows("select reason from {schema}.planes__dead_letters")
        assert "truncated" in reason
