"""A stream that is killed again and again ends as one that is not: no change lost, none there twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.session import open_session
from integration.services.kafka import Kafka
from integration.services.postgres import postgres
from integration.services.postgres_changes import Feed, Psql

TOPIC = "shop.public.orders"
CHANGES = 10_000
KILLS = 10
# Changes are made in so many parts, one while each of the runs is on its way.
PARTS = KILLS + 2
SEED = int(os.environ.get("DBT_PAIMON_KILL_SEED", "0")) or 20240229

TABLE = "create table orders (id bigint primary key, name text, amount numeric(12,2), changed timestamp);"
SOURCES = f"""
sources:
  - name: shop
    schema: shop
    tables:
      - name: orders
        external:
          using: kafka
          location: {TOPIC}
          value_format: debezium
          options: {{maxOffsetsPerTrigger: 800}}
        columns:
          - {{name: id, data_type: bigint}}
          - {{name: name, data_type: string}}
          - name: amount
            data_type: "decimal(12,2)"
            meta: {{semantic: org.apache.kafka.connect.data.Decimal}}
          - name: changed
            data_type: timestamp_ntz
            meta: {{semantic: io.debezium.time.MicroTimestamp}}
"""
# The rows, and every message there was: of a table without key a batch that is written twice would be there twice.
MODELS = {
    "orders.sql": """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=2,
    rowkind_field='_row_kind', sequence_field='_position'
) }}
select id, name, amount, changed, _row_kind, _position from {{ stream(source('shop', 'orders')) }}
""",
    "order_changes.sql": """
{{ config(materialized='streaming') }}
select id, _row_kind, _position, _partition, _offset from {{ stream(source('shop', 'orders')) }}
""",
}


@dataclass
class Orders:
    """Random changes of a table, each of which changes something."""

    random: random.Random
    there: list[int] = field(default_factory=list)
    next: int = 1

    def changes(self, count: int) -> str:
        """A script of so many, in transactions of their own lengths, with others that are rolled back."""
        lines = ["begin;"]
        for _ in range(count):
            lines.append(self._change())
            if self.random.random() < 0.15:
                lines += ["commit;", "begin;"]
                if self.random.random() < 0.1:
                    lines += ["delete from orders;", "rollback;", "begin;"]
        return "\n".join([*lines, "commit;"])

    def _change(self) -> str:
        amount = f"{self.random.randint(-(10**11), 10**11) / 100:.2f}"
        kind = self.random.random()
        if not self.there or kind < 0.4:
            # Some of those that were deleted come back.
            number = self.random.randint(1, self.next)
            if number in self.there:
                number = self.next
            self.next = max(self.next, number + 1)
            self.there.append(number)
            return f"insert into orders values ({number}, 'new', {amount}, clock_timestamp());"
        index = self.random.randrange(len(self.there))
        number = self.there[index]
        if kind < 0.75:
            return f"update orders set name = name || 'x', amount = {amount}, changed = clock_timestamp() where id = {number};"
        if kind < 0.8:
            self.there[index] = self.next
            self.next += 1
            return f"update orders set id = {self.there[index]} where id = {number};"
        self.there.pop(index)
        return f"delete from orders where id = {number};"


@dataclass
class Project:
    """A dbt project that runs in processes of its own."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, broker: Kafka, spark_config: dict[str, Any]) -> Project:
        (folder / "models").mkdir(parents=True)
        project = {
            "name": "shop",
            "version": "1.0",
            "profile": "shop",
            "models": {"+persist_docs": {"relation": False}},
            "flags": {"send_anonymous_usage_stats": False},
        }
        target = {
            "type": "paimon",
            "method": "session",
            "schema": "shop",
            "warehouse": str(folder / "lake"),
            "threads": 2,
            "kafka_options": {"kafka.bootstrap.servers": broker.address},
            # The jars of this target alone: a process is killed ten times.
            "spark_config": {
                key: value for key, value in spark_config.items() if key != "spark.jars.packages"
            },
        }
        profiles = {"shop": {"target": "it", "outputs": {"it": target}}}
        (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
        (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
        for name, text in {**MODELS, "sources.yml": SOURCES}.items():
            (folder / "models" / name).write_text(text)
        return cls(folder)

    def start(self) -> subprocess.Popen[bytes]:
        """`dbt run`, in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", "run", "--profiles-dir", ".", "--log-path", "logs"],
            cwd=self.folder,
            start_new_session=True,
            stdout=(self.folder / "out.log").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def begun(self) -> int:
        """How many batches were begun."""
        return sum(len(_numbers(folder, "offsets", "*")) for folder in self._checkpoints())

    def within(self) -> int:
        """Of how many streams a batch was begun and not ended."""
        return sum(_last(folder, "offsets") > _last(folder, "commits") for folder in self._checkpoints())

    def snapshots(self) -> int:
        """How many commits the tables have."""
        return sum(len(_numbers(table, "snapshot", "snapshot-*")) for table in self._tables())

    def unnoted(self) -> int:
        """Of how many streams the last batch is in the table, and not noted as ended: it comes once more."""
        found = 0
        for table in self._tables():
            written = -1
            for number in _numbers(table, "snapshot", "snapshot-*"):
                user = json.loads((table / "snapshot" / f"snapshot-{number}").read_text())["commitUser"]
                batch = re.match(r"dbts-\w+[.](\d+)_", user)
                written = max(written, int(batch[1]) if batch else -1)
            found += any(written > _last(folder, "commits") for folder in self._checkpoints(table))
        return found

    def _tables(self) -> list[Path]:
        names = (name.removesuffix(".sql") for name in MODELS)
        return [path for name in names if (path := self.folder / "lake" / "shop.db" / name).exists()]

    def _checkpoints(self, *tables: Path) -> list[Path]:
        return [path for table in tables or self._tables() for path in table.glob("__dbt_checkpoint/*")]


def _numbers(folder: Path, part: str, pattern: str) -> list[int]:
    names = (path.name.removeprefix("snapshot-") for path in (folder / part).glob(pattern))
    return [int(name) for name in names if name.isdigit()]


def _last(folder: Path, part: str) -> int:
    return max(_numbers(folder, part, "*"), default=-1)


@pytest.fixture(scope="module")
def database() -> Iterator[Psql]:
    with postgres(wal_level="logical") as server:
        yield Psql(server)


class TestKills:
    def test_nothing_is_lost_or_there_twice(
        self,
        broker: Kafka,
        database: Psql,
        tmp_path: Path,
        spark_config: dict[str, Any],
        record_property: Any,
    ) -> None:
        began = time.monotonic()
        chance = random.Random(SEED)
        project = Project.make(tmp_path / "shop", broker, spark_config)
        broker.create(TOPIC, partitions=3)
        database.lines(TABLE)
        feed, orders = Feed(database), Orders(chance)
        assert feed.begin("orders") == []
        sent = tombstones = again = kills = within = unnoted = 0

        def change(count: int) -> None:
            nonlocal sent, tombstones, again
            database.lines(orders.changes(count))
            # Now and then the feed forgets how far it was.
            repeats = (True, False) if chance.random() < 0.25 else (False,)
            for keep in repeats:
                keys, values = zip(*feed.messages(keep=keep), strict=True)
                sent += broker.send(TOPIC, values, keys=keys)
                tombstones += values.count(None)
                again += len(values) - values.count(None) if keep else 0

        parts = [CHANGES // PARTS + (part < CHANGES % PARTS) for part in range(PARTS)]
        change(parts.pop())
        while kills < KILLS or parts:
            begun, snapshots = project.begun(), project.snapshots()
            process = project.start()
            if parts:
                change(parts.pop())
            # A batch is written; a batch has just been written and is not noted yet; whatever it does.
            moment = chance.choices(("batch", "written", "any"), (4, 5, 1))[0]
            while moment != "any" and process.poll() is None and project.begun() == begun:
                time.sleep(0.02)
            while moment == "written" and process.poll() is None and project.snapshots() == snapshots:
                time.sleep(0.002)
            try:
                process.wait(
                    timeout={"batch": chance.uniform(0, 5), "written": chance.uniform(0, 0.1)}.get(moment, 6)
                )
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
                within += project.within() > 0
                unnoted += project.unnoted() > 0
            else:
                assert process.returncode == 0, (project.folder / "out.log").read_text()[-5000:]
            assert time.monotonic() - began < 900
        process = project.start()
        assert process.wait(timeout=300) == 0, (project.folder / "out.log").read_text()[-5000:]

        session = open_session(
            PaimonCredentials(
                schema="shop", warehouse=str(project.folder / "lake"), spark_config=dict(spark_config)
            )
        ).session
        here = [
            tuple(row)
            for row in session.sql(
                "select id, name, amount, changed from paimon.shop.orders order by id"
            ).collect()
        ]
        there = [
            (row["id"], row["name"], Decimal(str(row["amount"])), _moment(row["changed"]))
            for row in database.rows("select * from orders order by id")
        ]
        (counted,) = session.sql(
            "select count(*), count(distinct _partition, _offset), count(distinct _position, id) from paimon.shop.order_changes"
        ).collect()
        (dead,) = session.sql("select count(*) from paimon.shop.orders__dead_letters").collect()
        figures = {
            "changes": CHANGES,
            "messages in": sent - tombstones,
            "of them sent twice": again,
            "messages out": counted[0],
            "lost": sent - tombstones - counted[1],
            "twice": counted[0] - counted[1],
            "dead letters": dead[0],
            "rows in PostgreSQL": len(there),
            "rows in Paimon": len(here),
            "rows that differ": len(set(here) ^ set(there)),
            "kills": kills,
            "within a batch": within,
            "batch not noted": unnoted,
            "seconds": round(time.monotonic() - began),
        }
        record_property("stream kills", json.dumps(figures))
        assert here == there
        assert (figures["lost"], figures["twice"], figures["dead letters"]) == (0, 0, 0)
        assert counted[0] == sent - tombstones
        assert kills >= KILLS and within >= KILLS // 2 and len(there) > 100


def _moment(text: str) -> datetime:
    head, _, fraction = text.partition(".")
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0")))
