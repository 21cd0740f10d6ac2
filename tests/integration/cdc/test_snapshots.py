"""First snapshots of PostgreSQL tables while other sessions write: the model's rows after all messages."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt

from integration.cdc.feeds import PostgresFeed
from integration.services.connect import TIMEOUT, Connect
from integration.services.kafka import Kafka
from integration.services.postgres import Postgres

pytestmark = pytest.mark.full

NAMES = ("around", "broken_off")
ROWS = 20_000


def source(name: str) -> dict[str, Any]:
    columns = [{"name": "id", "data_type": "int"}, {"name": "name", "data_type": "string"}]
    external = {"using": "kafka", "location": f"{name}.public.{name}", "value_format": "debezium"}
    return {"name": name, "external": external, "columns": columns}


def model(name: str) -> str:
    return (
        "{{ config(materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=1, "
        "rowkind_field='_row_kind', sequence_field='_position') }}\n"
        f"select id, name, _row_kind, _position from {{{{ stream(source('tower', '{name}')) }}}}"
    )


class Transaction:
    """A transaction that is open until it is committed."""

    def __init__(self, server: Postgres) -> None:
        self._client = subprocess.Popen(
            server.client,
            env=server.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.run("begin;")

    def run(self, statement: str) -> None:
        """Run a statement, and wait until it is done."""
        assert self._client.stdin is not None and self._client.stdout is not None
        self._client.stdin.write(f"{statement}\n\\echo done\n")
        self._client.stdin.flush()
        assert self._client.stdout.readline().strip() == "done"

    def commit(self) -> None:
        self.run("commit;")
        self._client.communicate(timeout=TIMEOUT)


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true.

    Raises:
        RuntimeError: the condition is still false after the timeout.
    """
    end = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("it does not come")
        time.sleep(0.1)


class TestSnapshots:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tables = {"sources": [{"name": "tower", "schema": "tower", "tables": [source(name) for name in NAMES]}]}
        return {"sources.yml": yaml.safe_dump(tables), **{f"{name}.sql": model(name) for name in NAMES}}

    @pytest.fixture(scope="class")
    def ran(self, project: Any, database: Postgres, worker: Connect, broker: Kafka) -> None:
        """Play both scenarios, and run the models."""
        database.lines(
            "create table others (id int); create table around (id int primary key, name text);"
            "insert into around values (1, 'one'), (2, 'two');"
            "create table broken_off (id int primary key, name text);"
            f"insert into broken_off select n, 'old' from generate_series(1, {ROWS}) as n;"
        )
        self.write_around(database, PostgresFeed(worker=worker, server=database, name="around"))
        self.break_off(database, PostgresFeed(worker=worker, server=database, name="broken_off"), broker)
        run_dbt(["run"])

    def write_around(self, database: Postgres, feed: PostgresFeed) -> None:
        """A transaction writes before the snapshot's position in the log, and commits after it."""

        def waits_for_others() -> bool:
            query = "select count(*) from pg_stat_activity where backend_type = 'walsender' and wait_event = 'transactionid';"
            return database.lines(query) == ["1"]

        # A new slot waits for open transactions, then for those begun meanwhile, but not for later ones like `last`.
        first = Transaction(database)
        first.run("insert into others values (1);")
        begun = threading.Thread(target=feed.begin, args=("around",))
        begun.start()
        until(waits_for_others)
        second = Transaction(database)
        second.run("insert into others values (2);")
        first.commit()
        until(lambda: database.lines("select count(*) from pg_locks where not granted;") == ["1"])
        last = Transaction(database)
        last.run("update around set name = 'last' where id = 1; delete from around where id = 2;")
        second.commit()
        begun.join()
        until(
            lambda: (
                database.lines(f"select count(*) from pg_replication_slots where active and slot_name = '{feed.name}';")
                == ["1"]
            )
        )
        last.commit()
        feed.wait()

    def break_off(self, database: Postgres, feed: PostgresFeed, broker: Kafka) -> None:
        """The worker is killed during its snapshot; other sessions write until it runs again."""
        feed.begin("broken_off")
        until(lambda: len(broker.messages(feed.topic("broken_off"))) > 500)
        feed.worker.kill()
        assert len(broker.messages(feed.topic("broken_off"))) < ROWS
        database.lines(
            "delete from broken_off where id < 10; update broken_off set name = 'new' where id < 20;"
            "insert into broken_off values (0, 'new');"
        )
        feed.worker.start()
        feed.wait()

    @pytest.mark.usefixtures("ran")
    def test_a_transaction_around_it(self, rows: Any) -> None:
        assert rows("select id, name from {schema}.around") == [(1, "last")]

    @pytest.mark.usefixtures("ran")
    def test_one_that_is_broken_off(self, rows: Any, database: Postgres) -> None:
        there = [tuple(row.values()) for row in database.rows("select id, name from broken_off")]
        here = rows("select id, name from {schema}.broken_off")
        # The next test is about the deleted rows.
        assert sorted(row for row in here if not 0 < row[0] < 10) == sorted(there)

    @pytest.mark.xfail(
        strict=True,
        reason="Debezium begins a first snapshot that was broken off again, and does not tell what was deleted meanwhile",
    )
    @pytest.mark.usefixtures("ran")
    def test_deletes_while_it_is_broken_off(self, rows: Any) -> None:
        assert rows("select id from {schema}.broken_off where id between 1 and 9") == []
