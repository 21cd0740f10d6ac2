"""A shop's orders: random changes of a table, which the database counts, and a dbt project that follows them."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from integration.cdc.feeds import Database
from integration.services.kafka import Kafka

NAME: Final = "shop"
# `made` is the number of a row's last change. Triggers add each change to `counted`, in the same transaction.
POSTGRES: Final = """
create table orders (id bigint primary key, name text, amount numeric(12,2), changed timestamp, made bigint);
alter table orders replica identity full;
create table counted (kind text, id bigint, made bigint);
create function count_change() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then insert into counted values ('+I', new.id, new.made);
  elsif tg_op = 'DELETE' then insert into counted values ('-D', old.id, old.made);
  elsif new.id = old.id then insert into counted values ('+U', new.id, new.made);
  else insert into counted values ('-D', old.id, old.made), ('+I', new.id, new.made);
  end if;
  return null;
end $$;
create trigger counting after insert or update or delete on orders for each row execute function count_change();
"""
MARIADB: Final = """
create table orders (id bigint primary key, name text, amount numeric(12,2), changed datetime(6), made bigint);
create table counted (kind varchar(2), id bigint, made bigint);
delimiter //
create trigger counting_inserts after insert on orders for each row
  insert into counted values ('+I', new.id, new.made)//
create trigger counting_deletes after delete on orders for each row
  insert into counted values ('-D', old.id, old.made)//
create trigger counting_updates after update on orders for each row
  if new.id = old.id then insert into counted values ('+U', new.id, new.made);
  else insert into counted values ('-D', old.id, old.made), ('+I', new.id, new.made);
  end if//
delimiter ;
"""


@dataclass
class Orders:
    """Random changes of the table; each has an effect.

    Attributes:
        database: contains the table.
        random: chooses the changes.
        made: the number of the last change.
    """

    database: Database
    random: random.Random
    made: int = 0
    _there: list[int] = field(default_factory=list)
    _next: int = 1

    def change(self, count: int) -> None:
        """Make `count` changes in transactions of random lengths, and other transactions that are rolled back.

        Raises:
            RuntimeError: the database went down; earlier commits remain.
        """
        found = self.database.lines("select id from orders order by id;")
        self._there = [int(line) for line in found]
        self.database.lines(self._script(count))

    def _script(self, count: int) -> str:
        lines = ["begin;"]
        for _ in range(count):
            lines.append(self._change())
            if self.random.random() < 0.15:
                lines += ["commit;", "begin;"]
                if self.random.random() < 0.1:
                    lines += ["delete from orders;", "rollback;", "begin;"]
        return "\n".join([*lines, "commit;"])

    def _change(self) -> str:
        self.made += 1
        amount = f"{self.random.randint(-(10**11), 10**11) / 100:.2f}"
        kind = self.random.random()
        if not self._there or kind < 0.4:
            # Some deleted keys come back.
            number = self.random.randint(1, self._next)
            if number in self._there:
                number = self._next
            self._next = max(self._next, number + 1)
            self._there.append(number)
            return f"insert into orders values ({number}, 'new', {amount}, current_timestamp(6), {self.made});"
        index = self.random.randrange(len(self._there))
        number = self._there[index]
        if kind < 0.75:
            changes = f"name = concat(name, 'x'), amount = {amount}, changed = current_timestamp(6)"
        elif kind < 0.8:
            self._there[index] = self._next
            self._next += 1
            changes = f"id = {self._there[index]}"
        else:
            self._there.pop(index)
            return f"delete from orders where id = {number};"
        return f"update orders set {changes}, made = {self.made} where id = {number};"


def sources(topic: str) -> str:
    """The sources' YAML, for messages without schema."""
    table = {
        "name": "orders",
        "external": {
            "using": "kafka",
            "location": topic,
            "value_format": "debezium",
            "options": {"maxOffsetsPerTrigger": 1500},
        },
        "columns": [
            {"name": "id", "data_type": "bigint"},
            {"name": "name", "data_type": "string"},
            {
                "name": "amount",
                "data_type": "decimal(12,2)",
                "meta": {"semantic": "org.apache.kafka.connect.data.Decimal"},
            },
            {
                "name": "changed",
                "data_type": "timestamp_ntz",
                "meta": {"semantic": "io.debezium.time.MicroTimestamp"},
            },
            {"name": "made", "data_type": "bigint"},
        ],
    }
    return yaml.safe_dump({"sources": [{"name": NAME, "schema": NAME, "tables": [table]}]})


# `orders` has the rows, `messages` every message (twice if written twice), `changes` each change once.
MODELS: Final = {
    "orders.sql": """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=2,
    rowkind_field='_row_kind', sequence_field='_position'
) }}
select id, name, amount, changed, made, _row_kind, _position from {{ stream(source('shop', 'orders')) }}
""",
    "messages.sql": """
{{ config(materialized='streaming') }}
select id, made, _row_kind, _position, _partition, _offset from {{ stream(source('shop', 'orders')) }}
""",
    "changes.sql": """
{{ config(materialized='streaming', primary_key=['id', '_position', '_row_kind'], bucket=2) }}
select id, _position, _row_kind, made from {{ stream(source('shop', 'orders')) }}
""",
}


@dataclass
class Project:
    """A dbt project that runs in separate processes."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, broker: Kafka, topic: str, spark_config: dict[str, Any]) -> Project:
        (folder / "models").mkdir(parents=True)
        project = {
            "name": NAME,
            "version": "1.0",
            "profile": NAME,
            "models": {"+persist_docs": {"relation": False}},
            "flags": {"send_anonymous_usage_stats": False},
        }
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "schema": NAME,
            "warehouse": str(folder / "lake"),
            "threads": 2,
            "kafka_options": {"kafka.bootstrap.servers": broker.address},
            # Each of the many processes loads only this target's jars, not those of all tests.
            "spark_config": {key: value for key, value in spark_config.items() if key != "spark.jars.packages"},
        }
        profiles = {"shop": {"target": "it", "outputs": {"it": target}}}
        (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
        (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
        for name, text in {**MODELS, "sources.yml": sources(topic)}.items():
            (folder / "models" / name).write_text(text)
        return cls(folder)

    def start(self) -> subprocess.Popen[bytes]:
        """Start `dbt run` in a new process group."""
        return subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", "run", "--profiles-dir", ".", "--log-path", "logs"],
            cwd=self.folder,
            start_new_session=True,
            stdout=(self.folder / "out.log").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def said(self) -> str:
        """The end of the runs' output."""
        return (self.folder / "out.log").read_text()[-5000:]

    def begun(self, model: str) -> int:
        """The number of batches that a model has started."""
        folders = self._checkpoints(self._table(model))
        return sum(len(_numbers(folder, "offsets", "*")) for folder in folders)

    def within(self) -> int:
        """The number of streams whose last batch has started but not ended."""
        return sum(_last(folder, "offsets") > _last(folder, "commits") for folder in self._checkpoints())

    def snapshots(self, model: str) -> int:
        """The number of table snapshots of a model's table."""
        return len(_numbers(self._table(model), "snapshot", "snapshot-*"))

    def unnoted(self) -> int:
        """The number of streams whose last batch is in the table but not in the checkpoint: the batch will rerun."""
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


@dataclass(frozen=True)
class Found:
    """The content of the project's tables.

    Attributes:
        rows: the rows of `orders`, without the stream's own columns.
        changes: kind, id and number of each change, as text.
        messages: the number of rows of `messages`.
        places: the number of distinct partitions and offsets in `messages`.
        sent: the number of distinct changes in `messages`.
        dead_letters: the number of dead letters of all models.
    """

    rows: list[tuple[Any, ...]]
    changes: list[tuple[str, ...]]
    messages: int
    places: int
    sent: int
    dead_letters: int

    @classmethod
    def of(cls, project: Project, spark_config: dict[str, Any]) -> Found:
        """Read the tables."""
        warehouse = str(project.folder / "lake")
        credentials = PaimonCredentials(
            paimon_version="0.9.0", schema=NAME, warehouse=warehouse, spark_config=dict(spark_config)
        )
        session = open_session(Runtime(credentials)).session

        def query(sql: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in session.sql(sql).collect()]

        counts = (
            "select count(*), count(distinct _partition, _offset), count(distinct _row_kind, id, made) "
            f"from paimon.{NAME}.messages"
        )
        dead = "__dead_letters union all select * from ".join(
            f"paimon.{NAME}.{name.removesuffix('.sql')}" for name in MODELS
        )
        return cls(
            query(f"select id, name, amount, changed, made from paimon.{NAME}.orders"),
            query(f"select _row_kind, string(id), string(made) from paimon.{NAME}.changes"),
            *query(counts)[0],
            *query(f"select count(*) from (select * from {dead}__dead_letters)")[0],
        )


def _numbers(folder: Path, part: str, pattern: str) -> list[int]:
    names = (path.name.removeprefix("snapshot-") for path in (folder / part).glob(pattern))
    return [int(name) for name in names if name.isdigit()]


def _last(folder: Path, part: str) -> int:
    return max(_numbers(folder, part, "*"), default=-1)
