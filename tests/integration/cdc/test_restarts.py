"""Whatever is killed on the way, the stream, Kafka Connect or the database: no change is lost, and none is there twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.session import open_session
from integration.cdc import shop
from integration.cdc.feeds import Feed, MariaDbFeed, PostgresFeed
from integration.report import KILLS
from integration.services.connect import Connect, connect
from integration.services.kafka import Kafka
from integration.services.mariadb import MariaDb, mariadb
from integration.services.postgres import Postgres

pytestmark = pytest.mark.full

# What comes between two kills: some batches.
CHANGES_A_KILL = 1000
AT_FIRST = 300
SEED = int(os.environ.get("DBT_PAIMON_KILL_SEED", "0")) or 20240229


@pytest.fixture(scope="class")
def worker(broker: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Kafka Connect, which notes now and then how far it is: a killed one has forgotten some seconds."""
    with connect(tmp_path_factory.mktemp("connect"), broker.address, offset_flush_interval_ms="5000") as it:
        it.start()
        yield it


def kill_at_a_moment(project: shop.Project, chance: random.Random, process: subprocess.Popen[bytes]) -> bool:
    """Kill a run while a batch is written, or when it has just been written and is not noted yet, or at any time.

    Returns:
        Whether it was killed; it may have come to its end before.
    """
    moment = chance.choices(("batch", "written", "any"), (4, 5, 1))[0]
    model = chance.choice([name.removesuffix(".sql") for name in shop.MODELS])
    begun, snapshots = project.begun(model), project.snapshots(model)
    while moment != "any" and process.poll() is None and project.begun(model) == begun:
        time.sleep(0.02)
    while moment == "written" and process.poll() is None and project.snapshots(model) == snapshots:
        time.sleep(0.002)
    waits = {"batch": chance.uniform(0, 4), "written": chance.uniform(0, 0.1), "any": chance.uniform(0, 8)}
    try:
        process.wait(timeout=waits[moment])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    assert process.returncode == 0, project.said()
    return False


@contextlib.contextmanager
def meanwhile(task: Callable[[], None]) -> Iterator[None]:
    """Have another thread do something while the block runs, and wait for it."""
    thread = threading.Thread(target=task)
    thread.start()
    try:
        yield
    finally:
        thread.join()


class Restarts:
    """A subclass says what the database is."""

    TABLE: str

    @pytest.fixture(scope="class")
    def server(self) -> Any:
        raise NotImplementedError

    @pytest.fixture
    def feed(self, server: Any, worker: Connect, broker: Kafka) -> Feed:
        raise NotImplementedError

    def rows(self, server: Any) -> list[dict[str, Any]]:
        """The rows of the table, as JSON has them."""
        return list(server.rows("select * from orders"))

    def test_nothing_is_lost_or_there_twice(
        self,
        feed: Feed,
        server: Any,
        worker: Connect,
        broker: Kafka,
        tmp_path: Path,
        spark_config: dict[str, Any],
        record_property: Any,
        pytestconfig: pytest.Config,
    ) -> None:
        began = time.monotonic()
        chance = random.Random(SEED)
        wanted: int = pytestconfig.getoption("--stream-kills")
        kills = dict.fromkeys(("stream", "Connect", "database"), 0)
        within = unnoted = 0
        server.lines(self.TABLE)
        orders = shop.Orders(server, chance)
        orders.change(AT_FIRST)
        # Of what was there before the snapshot, the rows are told.
        server.lines("delete from counted; insert into counted select '+I', id, made from orders;")
        feed.begin("orders")
        project = shop.Project.make(tmp_path / "shop", broker, feed.topic("orders"), spark_config)

        def change() -> None:
            # What a database that is killed has not committed did not happen.
            with contextlib.suppress(RuntimeError):
                orders.change(CHANGES_A_KILL)

        feed.wait()
        while min(kills.values()) < wanted:
            victim = min(kills, key=lambda name: (kills[name], chance.random()))
            process = project.start()
            killed = True
            with meanwhile(change):
                if victim == "stream":
                    killed = kill_at_a_moment(project, chance, process)
                    within += killed and project.within() > 0
                    unnoted += killed and project.unnoted() > 0
                else:
                    time.sleep(chance.uniform(0.3, 2))
                    service: Connect | Postgres | MariaDb = worker if victim == "Connect" else server
                    service.kill()
                    service.start()
            kills[victim] += killed
            feed.wait()
            assert process.wait(timeout=1200) == 0 or (victim == "stream" and killed), project.said()
        orders.change(CHANGES_A_KILL)
        feed.wait()
        worker.stop()
        process = project.start()
        assert process.wait(timeout=1200) == 0, project.said()

        credentials = PaimonCredentials(
            schema=shop.NAME, warehouse=str(project.folder / "lake"), spark_config=dict(spark_config)
        )
        session = open_session(credentials).session

        def query(sql: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in session.sql(sql).collect()]

        here = query("select id, name, amount, changed, made from paimon.shop.orders")
        there = [
            (row["id"], row["name"], Decimal(str(row["amount"])), _moment(row["changed"]), row["made"])
            for row in self.rows(server)
        ]
        counted = [
            tuple(line.split(","))
            for line in server.lines("select concat_ws(',', kind, id, made) from counted;")
        ]
        changes = query("select _row_kind, string(id), string(made) from paimon.shop.changes")
        messages, places = query("select count(*), count(distinct _partition, _offset) from paimon.shop.messages")[0]
        sent = query("select count(distinct _row_kind, id, made) from paimon.shop.messages")[0][0]
        dead = sum(query(f"select count(*) from paimon.shop.{name}__dead_letters")[0][0] for name in ("orders", "changes", "messages"))
        in_kafka = sum(value is not None for _, value in broker.messages(feed.topic("orders")))
        figures = {
            "changes in the database": len(counted),
            "changes in Paimon": len(changes),
            "changes lost": len(set(counted) - set(changes)),
            "changes twice": len(changes) - len(set(changes)),
            "changes that never were": len(set(changes) - set(counted)),
            "messages": in_kafka,
            "of them sent again": places - sent,
            "messages in Paimon": messages,
            "messages lost": in_kafka - places,
            "messages twice": messages - places,
            "dead letters": dead,
            "rows in the database": len(there),
            "rows in Paimon": len(here),
            "rows that differ": len(set(here) ^ set(there)),
            **{f"kills of {name}": count for name, count in kills.items()},
            "within a batch": within,
            "batch not noted": unnoted,
            "seconds": round(time.monotonic() - began),
        }
        record_property(KILLS, json.dumps(figures))
        assert sorted(here) == sorted(there)
        assert sorted(changes) == sorted(counted)
        assert (figures["messages lost"], figures["messages twice"], dead) == (0, 0, 0)
        # Otherwise nothing was tried.
        assert figures["of them sent again"] > 0 and within > 0 and len(there) > 100


class TestPostgresRestarts(Restarts):
    TABLE = shop.POSTGRES

    @pytest.fixture(scope="class")
    def server(self, database: Postgres) -> Postgres:
        return database

    @pytest.fixture
    def feed(self, server: Any, worker: Connect, broker: Kafka) -> Feed:
        return PostgresFeed(worker=worker, server=server, name=shop.NAME)


class TestMariaDbRestarts(Restarts):
    TABLE = shop.MARIADB

    @pytest.fixture(scope="class")
    def server(self) -> Iterator[MariaDb]:
        with mariadb(log_bin="log", binlog_format="row", server_id="1", sync_binlog="1") as server:
            yield server

    @pytest.fixture
    def feed(self, server: Any, worker: Connect, broker: Kafka) -> Feed:
        return MariaDbFeed(worker=worker, server=server, name=shop.NAME, broker=broker.address)

    def rows(self, server: Any) -> list[dict[str, Any]]:
        columns = ", ".join(f"'{name}', {name}" for name in ("id", "name", "amount", "changed", "made"))
        return list(server.rows(f"select json_object({columns}) from orders"))


def _moment(text: str) -> datetime:
    head, _, fraction = text.replace(" ", "T").partition(".")
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0")))
