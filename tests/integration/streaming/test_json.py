"""JSON messages of a topic become rows exactly once, even if the broker goes away. Bad ones become dead letters."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.kafka import Kafka

SOURCES = """
sources:
  - name: airport
    schema: airport
    tables:
      - name: flight_status
        external: {using: kafka, location: flight_status, options: {maxOffsetsPerTrigger: 1500, kafkaConsumer.pollTimeoutMs: 600000, kafka.default.api.timeout.ms: 600000}}
        columns: &columns
          - {name: flight, data_type: bigint, constraints: [{type: not_null}]}
          - {name: status, data_type: string}
      - name: misspelt
        external: {using: kafka, location: flight_state}
        columns: *columns
      - name: elsewhere
        external: {using: kafka, location: flight_status, options: {kafka.bootstrap.servers: "127.0.0.1:1"}}
        columns: *columns
      - name: short_lived
        external: {using: kafka, location: short_lived}
        columns: *columns
      - name: from_now_on
        external: {using: kafka, location: from_now_on, options: {startingOffsets: latest}}
        columns: *columns
"""
STATUS = """{{ config(materialized='streaming') }}
select flight, status, cast(_key as string) as key, _topic, _partition, _offset, unix_millis(_timestamp) as sent_at,
  transform(_headers, h -> concat(h.key, '=', decode(h.value, 'UTF-8'))) as headers
from {{ stream(source('airport', 'flight_status')) }}
"""
ANY = """{{{{ config(materialized='streaming') }}}} select flight from {{{{ stream(source('airport', '{}')) }}}}"""
SENT_AT = 1_700_000_000_000
# Bad message -> the reason in its dead letter.
BAD: dict[bytes | None, str] = {
    None: "there is no value",
    b"": "the value is empty",
    b'{"flight":': "not one JSON object",
    b'{"flight":1}{"flight":2}': "not one JSON object",
    b'{"flight":"x"}': 'flight: "x" does not fit bigint',
    b'{"status":"late"}': "flight: there is no value, and the column is not_null",
    b'{"flight":1,"status":"\xff"}': "not valid UTF-8",
}


def messages(numbers: Iterable[int]) -> list[str]:
    return [json.dumps({"flight": number, "status": f"s{number % 7}"}) for number in numbers]


def failure(model: str) -> str:
    results = run_dbt(["run", "--select", model], expect_pass=False)
    return str(results.results[0].message)


class TestJson:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        names = ("misspelt", "elsewhere", "short_lived", "from_now_on")
        return {
            "sources.yml": SOURCES,
            "status.sql": STATUS,
            **{f"{name}.sql": ANY.format(name) for name in names},
        }

    def test_each_message_is_a_row_once(self, project: Any, rows: Any, broker: Kafka, warehouse: Path) -> None:
        broker.create("flight_status", partitions=2, **{"retention.ms": "-1"})
        keys = [f"k{number}" for number in range(1000)]
        broker.send(
            "flight_status",
            messages(range(1000)),
            keys=keys,
            headers=[("from", b"tower")],
            timestamp=SENT_AT,
        )
        broker.send("flight_status", BAD, keys=[f"bad{index}" for index in range(len(BAD))], partition=1)
        run_dbt(["run", "--select", "status"])
        told = rows("select * from {schema}.status")
        assert sorted(row[0] for row in told) == list(range(1000))
        assert [row[1:4] + row[6:] for row in told if row[0] == 11] == [
            ("s4", "k11", "flight_status", SENT_AT, ["from=tower"])
        ]
        assert len({(row[4], row[5]) for row in told}) == 1000
        dead = rows(
            "select value, reason, decode(key, 'UTF-8'), place from {schema}.status__dead_letters order by place"
        )
        assert {None if row[0] is None else bytes(row[0]): row[1] for row in dead} == BAD
        assert len(dead) == len(BAD)
        assert all(row[3].startswith("flight_status partition 1 offset ") for row in dead)
        assert {row[2] for row in dead} == {f"bad{index}" for index in range(len(BAD))}

        # The broker goes away while a stream of several batches runs, and comes back.
        broker.send("flight_status", messages(range(1000, 7000)))
        commits = f"{project.test_schema}.db/status/__dbt_checkpoint/*/commits/2"
        with ThreadPoolExecutor(1) as pool:
            stream = pool.submit(run_dbt, ["run", "--select", "status"])
            wait_for(warehouse, commits)
            with broker.away():
                time.sleep(2)
            stream.result()
        # The broker is already away when a stream starts.
        with broker.away():
            said = failure("status")
            assert "airport.flight_status" in said and broker.address in said and "does not answer" in said
        broker.send("flight_status", messages(range(7000, 8000)))
        run_dbt(["run", "--select", "status"])
        assert sorted(row[0] for row in rows("select flight from {schema}.status")) == list(range(8000))
        assert rows("select count(*) from {schema}.status__dead_letters") == [(len(BAD),)]

    def test_a_missing_topic_is_an_error(self, project: Any, rows: Any, broker: Kafka) -> None:
        said = failure("misspelt")
        assert "airport.misspelt" in said and broker.address in said and "there is no such topic" in said
        said = failure("elsewhere")
        assert "airport.elsewhere" in said and "127.0.0.1:1" in said and "does not answer" in said

    def test_from_now_on(self, project: Any, rows: Any, broker: Kafka) -> None:
        """`startingOffsets: latest` skips the messages from before the first run, and none after it."""
        broker.create("from_now_on")
        broker.send("from_now_on", messages(range(5)))
        run_dbt(["run", "--select", "from_now_on"])
        assert rows("select count(*) from {schema}.from_now_on") == [(0,)]
        for first in (5, 8):
            broker.send("from_now_on", messages(range(first, first + 3)))
            run_dbt(["run", "--select", "from_now_on"])
        assert sorted(rows("select flight from {schema}.from_now_on")) == [(number,) for number in range(5, 11)]

    def test_messages_that_retention_removed_are_an_error(self, project: Any, rows: Any, broker: Kafka) -> None:
        broker.create("short_lived")
        broker.send("short_lived", messages(range(10)))
        run_dbt(["run", "--select", "short_lived"])
        broker.send("short_lived", messages(range(10, 30)))
        broker.forget("short_lived", before=25)
        said = failure("short_lived")
        assert "short_lived-0" in said and "its retention deleted them" in said and "--full-refresh" in said
        assert rows("select count(*) from {schema}.short_lived") == [(10,)]
        run_dbt(["run", "--select", "short_lived", "--full-refresh"])
        assert sorted(rows("select flight from {schema}.short_lived")) == [(number,) for number in range(25, 30)]

    def test_a_recreated_topic_is_refused(self, project: Any, rows: Any, broker: Kafka) -> None:
        broker.delete("short_lived")
        broker.create("short_lived")
        # The new topic has more messages than were read from the old one.
        broker.send("short_lived", messages(range(100, 150)))
        before = rows("select flight from {schema}.short_lived")
        said = failure("short_lived")
        assert "topic ids short_lived=" in said and "--full-refresh" in said
        assert rows("select flight from {schema}.short_lived") == before
        run_dbt(["run", "--select", "short_lived", "--full-refresh"])
        assert sorted(rows("select flight from {schema}.short_lived")) == [(number,) for number in range(100, 150)]


def wait_for(folder: Path, pattern: str) -> None:
    """Wait until a file matches a pattern."""
    end = time.monotonic() + 600
    while not any(folder.glob(pattern)):
        assert time.monotonic() < end, f"there is no {pattern}"
        time.sleep(0.05)
