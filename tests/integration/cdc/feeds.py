"""Debezium connectors for tables of a database, and their progress."""

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

# `wait` inserts rows into this table; their changes follow all earlier changes in the log.
_MARKS: Final = "marks"
_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"
_COMMON: Final = {
    "key.converter": _CONVERTER,
    "value.converter": _CONVERTER,
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "1",
    # Milliseconds between attempts to reach a database that is down.
    "retriable.restart.connector.wait.ms": "1000",
}


class Database(Protocol):
    """A database server, with the methods that tests need."""

    user: str
    password: str
    port: int

    def start(self) -> None:
        """Start the server again."""

    def kill(self) -> None:
        """Kill the server."""

    def lines(self, script: str) -> list[str]:
        """Run a script; returns the lines of its results."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query; numbers with a decimal point are Decimals."""


@dataclass(kw_only=True)
class Feed(ABC):
    """A Debezium connector, which sends the changes of some tables to Kafka.

    Attributes:
        worker: runs the connector.
        server: the database.
        name: the connector's name, and the first part of its topics' names.
        with_schema: whether messages contain their schema.
    """

    worker: Connect
    server: Database
    name: str
    with_schema: bool = False

    def begin(self, *tables: str, **settings: str) -> None:
        """Start the connector: it sends a snapshot of the tables, then their changes.

        Args:
            tables: the tables' names.
            settings: further settings of the connector, with `_` for `.`.
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
        """Wait until all earlier commits of the database are in Kafka.

        Raises:
            RuntimeError: they do not arrive in time; the message has the connector's status.
        """
        there, end = self.position(), time.monotonic() + TIMEOUT
        while not self._has_read(there):
            status = self.worker.status(self.name)
            if time.monotonic() > end or any(task["state"] == "FAILED" for task in status.get("tasks", ())):
                raise RuntimeError(f"{self.name} has not reached {there}: {status}")
            # Only changes move the offset: rows of a snapshot have the snapshot's position.
            self.server.lines(f"insert into {_MARKS} values (default);")
            time.sleep(0.2)

    def topic(self, table: str) -> str:
        """The name of a table's topic."""
        return f"{self.name}.{self.schema}.{table}"

    @property
    @abstractmethod
    def schema(self) -> str:
        """The middle part of the topics' names."""

    @abstractmethod
    def settings(self, tables: tuple[str, ...]) -> dict[str, str]:
        """The settings that only this database's connector has."""

    @abstractmethod
    def position(self) -> Any:
        """The current end of the database's log."""

    @abstractmethod
    def place(self, offset: Mapping[str, Any]) -> Any:
        """An offset's place in the log, comparable with `position`."""

    def _has_read(self, position: Any) -> bool:
        # A worker stores a record's offset once Kafka has all records up to it.
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
    """The changes of a MariaDB with a row-based binary log.

    Attributes:
        broker: Kafka's address; the connector stores the history of the tables' columns there.
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
            # The default mode works only with MySQL's driver.
            "database.ssl.mode": "disabled",
            # To the server, each connector is a replica with its own ID.
            "database.server.id": str(zlib.crc32(self.name.encode())),
            "database.include.list": DATABASE,
            "table.include.list": ",".join(f"{DATABASE}.{table}" for table in tables),
            "schema.history.internal.kafka.bootstrap.servers": self.broker,
            "schema.history.internal.kafka.topic": f"{self.name}.history",
            "schema.history.internal.producer.max.block.ms": "60000",
            # Milliseconds between checks whether the server is up.
            "connect.keep.alive.interval.ms": "1000",
        }

    def position(self) -> tuple[int, int]:
        file, position, *_ = self.server.lines("show master status;")[0].split("\t")
        return _number(file), int(position)

    def place(self, offset: Mapping[str, Any]) -> tuple[int, int]:
        return _number(offset["file"]), int(offset["pos"])


def _number(file: str) -> int:
    return int(file.rpartition(".")[2])
