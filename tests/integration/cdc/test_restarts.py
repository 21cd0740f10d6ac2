"""No change is lost or duplicated when the stream, Kafka Connect or the database is killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from integration.cdc import shop
from integration.cdc.feeds import Database, Feed, MariaDbFeed, PostgresFeed
from integration.report import KILLS
from integration.services.connect import Connect, connect
from integration.services.kafka import Kafka
from integration.services.mariadb import MariaDb, mariadb
from integration.services.postgres import Postgres

pytestmark = pytest.mark.full

# Changes per kill, made in parts over some seconds, so that they take several batches.
CHANGES_A_KILL = 1000
PARTS = 20
AT_FIRST = 300
# Seconds to wait for a run of dbt, on a busy machine.
WAIT = 1800
SEED = int(os.environ.get("DBT_PAIMON_KILL_SEED", "0")) or 20240229


@pytest.fixture(scope="class")
def worker(broker: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Kafka Connect, which stores its offsets every 5 s: after a kill it sends some changes again."""
    with connect(tmp_path_factory.mktemp("connect"), broker.address, offset_flush_interval_ms="5000") as it:
        it.start()
        yield it


def kill_at_a_moment(project: shop.Project, chance: random.Random, process: subprocess.Popen[bytes]) -> bool:
    """Kill a run during a batch, between a batch's commit and its checkpoint, or at any time.

    Returns:
        Whether the run was killed; it may have ended before.
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


@dataclass
class Kills:
    """Kills the stream, the worker and the database in turn, each while changes are made.

    Attributes:
        made: the number of kills of each victim.
        within: the number of kills of the stream during a batch.
        unnoted: the number of kills of the stream between a batch's commit and its checkpoint.
        amid: how often the database went down during changes.
    """

    project: shop.Project
    feed: Feed
    orders: shop.Orders
    chance: random.Random
    made: Counter[str] = field(default_factory=Counter)
    within: int = 0
    unnoted: int = 0
    amid: int = 0

    def make(self, wanted: int) -> None:
        """Kill each victim `wanted` times."""
        while self.made["stream"] < wanted:
            process = self.project.start()
            with self._changes():
                killed = kill_at_a_moment(self.project, self.chance, process)
            self.made["stream"] += killed
            self.within += killed and self.project.within() > 0
            self.unnoted += killed and self.project.unnoted() > 0
            for victim in ("Connect", "database"):
                if self.made[victim] < wanted:
                    self._kill(victim)

    def _kill(self, victim: str) -> None:
        service: Connect | Database = self.feed.worker if victim == "Connect" else self.feed.server
        process = self.project.start()
        with self._changes():
            time.sleep(self.chance.uniform(0.3, 2))
            service.kill()
            service.start()
        self.made[victim] += 1
        self.feed.wait()
        assert process.wait(timeout=WAIT) == 0, self.project.said()

    @contextlib.contextmanager
    def _changes(self) -> Iterator[None]:
        thread = threading.Thread(target=self._change)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def _change(self) -> None:
        for _ in range(PARTS):
            try:
                self.orders.change(CHANGES_A_KILL // PARTS)
            except RuntimeError:
                # A killed database loses its uncommitted changes.
                self.amid += 1
                return
            time.sleep(0.1)


class Restarts:
    """Subclasses define the database."""

    TABLE: str

    @pytest.fixture(scope="class")
    def server(self) -> Any:
        raise NotImplementedError

    @pytest.fixture
    def feed(self, server: Any, worker: Connect, broker: Kafka) -> Feed:
        raise NotImplementedError

    def rows(self, server: Any) -> list[dict[str, Any]]:
        """The rows of the table, from JSON."""
        return list(server.rows("select * from orders"))

    def test_nothing_is_lost_or_there_twice(
        self,
        feed: Feed,
        server: Any,
        broker: Kafka,
        tmp_path: Path,
        spark_config: dict[str, Any],
        record_property: Any,
        pytestconfig: pytest.Config,
    ) -> None:
        began = time.monotonic()
        chance = random.Random(SEED)
        server.lines(self.TABLE)
        orders = shop.Orders(server, chance)
        orders.change(AT_FIRST)
        # For changes from before the snapshot, Debezium sends one insert per row.
        server.lines("delete from counted; insert into counted select '+I', id, made from orders;")
        feed.begin("orders")
        # Wait, because changes made while MariaDB's snapshot begins are in the snapshot, and are sent again as changes.
        feed.wait()
        project = shop.Project.make(tmp_path / "shop", broker, feed.topic("orders"), spark_config)
        kills = Kills(project, feed, orders, chance)
        kills.make(pytestconfig.getoption("--stream-kills"))
        orders.change(CHANGES_A_KILL)
        feed.wait()
        feed.worker.stop()
        process = project.start()
        assert process.wait(timeout=WAIT) == 0, project.said()

        here = shop.Found.of(project, spark_config)
        there = [
            (row["id"], row["name"], Decimal(str(row["amount"])), _moment(row["changed"]), row["made"])
            for row in self.rows(server)
        ]
        counted = [
            tuple(line.split(",")) for line in server.lines("select concat_ws(',', kind, id, made) from counted;")
        ]
        in_kafka = sum(value is not None for _, value in broker.messages(feed.topic("orders")))
        figures = {
            "changes in the database": len(counted),
            "changes in Paimon": len(here.changes),
            "changes lost": len(set(counted) - set(here.changes)),
            "changes twice": len(here.changes) - len(set(here.changes)),
            "messages in Kafka": in_kafka,
            "of them sent again": in_kafka - here.sent,
            "messages in Paimon": here.messages,
            "messages lost": in_kafka - here.places,
            "messages twice": here.messages - here.places,
            "dead letters": here.dead_letters,
            "rows in the database": len(there),
            "rows in Paimon": len(here.rows),
            "rows that differ": len(set(here.rows) ^ set(there)),
            **{f"kills of {name}": count for name, count in kills.made.items()},
            "within a batch": kills.within,
            "batch not noted": kills.unnoted,
            "amid changes": kills.amid,
            "seconds": round(time.monotonic() - began),
        }
        record_property(KILLS, json.dumps(figures))
        assert sorted(here.rows) == sorted(there)
        assert sorted(here.changes) == sorted(counted)
        assert (figures["messages lost"], figures["messages twice"], here.dead_letters) == (0, 0, 0)
        # Otherwise the kills have tested nothing.
        assert figures["of them sent again"] > 0 and kills.within > 0 and kills.amid > 0 and len(there) > 100


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
