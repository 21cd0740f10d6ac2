"""Debezium on tables of a database: a connector, and how far it has come."""

from __future__ import annotations

import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from integration.services.connect import TIMEOUT, Connect
from integration.services.mariadb import DATABASE, MariaDb
from integration.services.postgres import Postgres
from integration.services.process import LOOPBACK

# Gets a row when all that was done before is to be read: its change comes behind them.
_MARKS: Final = "marks"
_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"
_COMMON: Final = {
    "key.converter": _CONVERTER,
    "value.converter": _CONVERTER,
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "1",
    # Between two attempts to reach a database that is away, in milliseconds.
    "retriable.restart.connector.wait.ms": "1000",
}


class Database(Protocol):
    """A server, and what a test asks of it."""

    user: str
    password: str
    port: int

    def start(self) -> None:
        """Start it again."""

    def kill(self) -> None:
        """End it at once."""

    def lines(self, script: str) -> list[str]:
        """Run a script; the lines of its results."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query; numbers with a point are decimals."""


@dataclass(kw_only=True)
class Feed(ABC):
    """A connector of Debezium's: what happens to some tables of a database, as messages in Kafka.

    Attributes:
        worker: runs it.
        server: the database.
        name: the connector's, and the first part of its topics' names.
        with_schema: whether a message brings its schema along.
    """

    worker: Connect
    server: Database
    name: str
    with_schema: bool = False

    def begin(self, *tables: str, **settings: str) -> None:
        """Have the worker follow tables, from a snapshot of their rows on.

        Args:
            tables: their names.
            settings: of the connector, beside those that it needs; `_` for `.`.
        """
        self.server.lines(f"create table if not exists {_MARKS} (id serial primary key);")
        has_schema = str(self.with_schema).lower()
        config = {
            **_COMMON,
            "topic.prefix": self.name,
            "key.converter.schemas.enable": has_schema,
            "value.converter.schemas.enable": has_schema,
            "database.hostname": LOOPBACK,
            "database.port": str(self.server.port),
            "database.user": self.server.user,
            "database.password": self.server.password,
            **self.settings((*tables, _MARKS)),
            **{key.replace("_", "."): text for key, text in settings.items()},
        }
        self.worker.create(self.name, **config)

    def wait(self) -> None:
        """Until all that was committed in the database before is in Kafka.

        Raises:
            RuntimeError: it is not in time; with what the worker says of the connector.
        """
        there, end = self.position(), time.monotonic() + TIMEOUT
        while not self._has_read(there):
            status = self.worker.status(self.name)
            if time.monotonic() > end or any(task["state"] == "FAILED" for task in status.get("tasks", ())):
                raise RuntimeError(f"{self.name} does not come to {there}: {status}")
            # Rows of the first snapshot are at the place in the log that the snapshot is of, not at that of a change.
            self.server.lines(f"insert into {_MARKS} values (default);")
            time.sleep(0.2)

    def topic(self, table: str) -> str:
        """The name of a table's topic."""
        return f"{self.name}.{self.schema}.{table}"

    @property
    @abstractmethod
    def schema(self) -> str:
        """The middle part of its topics' names."""

    @abstractmethod
    def settings(self, tables: tuple[str, ...]) -> dict[str, str]:
        """The settings that only this database's connector has."""

    @abstractmethod
    def position(self) -> Any:
        """The end of the database's log."""

    @abstractmethod
    def place(self, offset: Mapping[str, Any]) -> Any:
        """The place in the log of an offset, to compare with positions."""

    def _has_read(self, position: Any) -> bool:
        # A worker notes the offset of a record when Kafka has taken all records up to it.
        noted = self.worker.ask("GET", f"/connectors/{self.name}/offsets")["offsets"]
        offset = noted[0]["offset"] if noted else {}
        return bool(offset) and not offset.get("snapshot") and self.place(offset) >= position


@dataclass(kw_only=True)
class PostgresFeed(Feed):
    """The changes of a PostgreSQL whose wal_level is logical."""

    server: Postgres

    @property
    def schema(self) -> str:
        return "public"

    def settings(self, tables: tuple[str, ...]) -> dict[str, str]:
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "publication.autocreate.mode": "filtered",
            "publication.name": self.name,
            "slot.name": self.name,
            "database.dbname": "postgres",
            "table.include.list": ",".join(f"public.{table}" for table in tables),
        }

    def position(self) -> int:
        return int(self.server.lines("select pg_current_wal_lsn() - '0/0'::pg_lsn;")[0])

    def place(self, offset: Mapping[str, Any]) -> int:
        return int(offset["lsn"])


@dataclass(kw_only=True)
class MariaDbFeed(Feed):
    """The changes of a MariaDB with a binary log of rows.

    Attributes:
        broker: the address of Kafka, where the connector keeps what it knows of the tables' columns.
    """

    server: MariaDb
    broker: str

    @property
    def schema(self) -> str:
        return DATABASE

    def settings(self, tables: tuple[str, ...]) -> dict[str, str]:
        return {
            "connector.class": "io.debezium.connector.mysql.MySqlConnector",
            "connector.adapter": "mariadb",
            "database.protocol": "jdbc:mariadb",
            "database.jdbc.driver": "org.mariadb.jdbc.Driver",
            # The default is a word of MySQL's driver.
            "database.ssl.mode": "disabled",
            # Each connector is a replica to the server.
            "database.server.id": str(zlib.crc32(self.name.encode())),
            "database.include.list": DATABASE,
            "table.include.list": ",".join(f"{DATABASE}.{table}" for table in tables),
            "schema.history.internal.kafka.bootstrap.servers": self.broker,
            "schema.history.internal.kafka.topic": f"{self.name}.history",
            "schema.history.internal.producer.max.block.ms": "60000",
            # Between two looks whether the server is there, in milliseconds.
            "connect.keep.alive.interval.ms": "1000",
        }

    def position(self) -> tuple[int, int]:
        file, position, *_ = self.server.lines("show master status;")[0].split("\t")
        return _number(file), int(position)

    def place(self, offset: Mapping[str, Any]) -> tuple[int, int]:
        return _number(offset["file"]), int(offset["pos"])


def _number(file: str) -> int:
    return int(file.rpartition(".")[2])
