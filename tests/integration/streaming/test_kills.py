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
from dbt.adapters.paimon.spark.session import open_session
from integration.report import KILLS as KILLS_PROPERTY
from integration.services.kafka import Kafka
from integration.services.postgres import postgres
from integration.services.postgres_changes import Feed, Psql

TOPIC = "shop.public.orders"
# What comes between two kills: some batches.
CHANGES_A_KILL = 1000
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
          options: {{maxOffsetsPerTrigger: 1500}}
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
class Source:
    """The table, its random changes, and what of them was sent."""

    database: Psql
    broker: Kafka
    random: random.Random
    messages: int = 0
    twice: int = 0

    def __post_init__(self) -> None:
        self.broker.create(TOPIC, partitions=3)
        self.database.lines(TABLE)
        self._feed, self._orders = Feed(self.database), Orders(self.random)
        assert self._feed.begin("orders") == []

    def change(self, count: int) -> None:
        """Make changes, and send what the database says of them; now and then the feed forgets how far it was."""
        self.database.lines(self._orders.changes(count))
        for forgets in (True, False) if self.random.random() < 0.25 else (False,):
            keys, values = zip(*self._feed.messages(keep=forgets), strict=True)
            self.broker.send(TOPIC, values, keys=keys)
            rows = len(values) - values.count(None)
            self.messages += rows
            self.twice += rows if forgets else 0

    def rows(self) -> list[tuple[Any, ...]]:
        found = self.database.rows("select * from orders order by id")
        return [
            (row["id"], row["name"], Decimal(str(row["amount"])), _moment(row["changed"])) for row in found
        ]


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
            # The jars of this target alone: a process is killed again and again.
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

    def said(self) -> str:
        """The end of what the runs said."""
        return (self.folder / "out.log").read_text()[-5000:]

    def begun(self, model: str) -> int:
        """How many batches of a model were begun."""
        folders = self._checkpoints(self._table(model))
        return sum(len(_numbers(folder, "offsets", "*")) for folder in folders)

    def within(self) -> int:
        """Of how many streams a batch was begun and not ended."""
        return sum(_last(folder, "offsets") > _last(folder, "commits") for folder in self._checkpoints())

    def snapshots(self, model: str) -> int:
        """How many commits its table has."""
        return len(_numbers(self._table(model), "snapshot", "snapshot-*"))

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

    def _table(self, model: str) -> Path:
        return self.folder / "lake" / "shop.db" / model

    def _tables(self) -> list[Path]:
        return [self._table(name.removesuffix(".sql")) for name in MODELS]

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


def kill_at_a_moment(project: Project, chance: random.Random, process: subprocess.Popen[bytes]) -> bool:
    """Kill a run while a batch is written, or when it has just been written and is not noted yet, or at any time.

    Returns:
        Whether it was killed; it may have come to its end before.
    """
    moment = chance.choices(("batch", "written", "any"), (4, 5, 1))[0]
    model = chance.choice(("orders", "order_changes"))
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


@pytest.mark.full
class TestKills:
    def test_nothing_is_lost_or_there_twice(
        self,
        broker: Kafka,
        database: Psql,
        tmp_path: Path,
        spark_config: dict[str, Any],
        record_property: Any,
        pytestconfig: pytest.Config,
    ) -> None:
        began = time.monotonic()
        wanted: int = pytestconfig.getoption("--stream-kills")
        changes = wanted * CHANGES_A_KILL
        # Changes are made in so many parts, one while each of the runs is on its way.
        count = wanted + 2
        chance = random.Random(SEED)
        project = Project.make(tmp_path / "shop", broker, spark_config)
        source = Source(database, broker, chance)
        kills = within = unnoted = 0
        parts = [changes // count + (part < changes % count) for part in range(count)]
        source.change(parts.pop())
        while kills < wanted or parts:
            process = project.start()
            if parts:
                source.change(parts.pop())
            if kill_at_a_moment(project, chance, process):
                kills += 1
                within += project.within() > 0
                unnoted += project.unnoted() > 0
        process = project.start()
        assert process.wait(timeout=600) == 0, project.said()

        credentials = PaimonCredentials(
            schema="shop", warehouse=str(project.folder / "lake"), spark_config=dict(spark_config)
        )
        session = open_session(credentials).session
        table = session.sql("select id, name, amount, changed from paimon.shop.orders order by id")
        here, there = [tuple(row) for row in table.collect()], source.rows()
        (counted,) = session.sql(
            "select count(*), count(distinct _partition, _offset), (select count(*) from paimon.shop.orders__dead_letters) "
            "from paimon.shop.order_changes"
        ).collect()
        figures = {
            "changes": changes,
            "messages in": source.messages,
            "of them sent twice": source.twice,
            "messages out": counted[0],
            "lost": source.messages - counted[1],
            "twice": counted[0] - counted[1],
            "dead letters": counted[2],
            "rows in PostgreSQL": len(there),
            "rows in Paimon": len(here),
            "rows that differ": len(set(here) ^ set(there)),
            "kills": kills,
            "within a batch": within,
            "batch not noted": unnoted,
            "seconds": round(time.monotonic() - began),
        }
        record_property(KILLS_PROPERTY, json.dumps(figures))
        assert here == there
        assert (figures["lost"], figures["twice"], figures["dead letters"]) == (0, 0, 0)
        assert kills >= wanted and within >= wanted // 2 and len(there) > 100


def _moment(text: str) -> datetime:
    head, _, fraction = text.partition(".")
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0")))
