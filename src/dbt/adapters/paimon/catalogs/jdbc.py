"""JDBC catalogs as they are opened: several at once make the same tables, and SQLite's file is left locked."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.concurrency.locks import TableLocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = AdapterLogger("Paimon")

_OPEN = Lock()
# Seconds that another process has to open a catalog on SQLite.
_LOCKS = TableLocks(bound=600)
# Seconds before the catalog is opened again, where another process made its tables at the same time.
_AGAIN_AFTER = (0.5, 2.0)
_MADE_MEANWHILE = ("already exists", "duplicate key")


def load(session: SparkSession, catalog: SparkCatalog) -> None:
    """Load a JDBC catalog into a session, one at a time in this process, and on SQLite on this machine.

    JdbcCatalog.initializeCatalogTablesIfNeed looks whether its tables are there and then makes them. SQLite refuses the
    second of two that have looked and want to write, and what Paimon leaves open then keeps the first one waiting.

    Raises:
        Exception: of Spark, where the catalog cannot be opened.
    """
    with _OPEN, _LOCKS.alone(catalog.uri or "", catalog.sqlite_folder):
        for wait in (*_AGAIN_AFTER, None):
            try:
                loaded = session._jsparkSession.sessionState().catalogManager().catalog(catalog.name)
                break
            except Exception as exc:
                if wait is None or not any(sign in str(exc) for sign in _MADE_MEANWHILE):
                    raise
                time.sleep(wait)
        if catalog.jdbc_protocol == "sqlite":
            _close_queries(loaded.paimonCatalog(), catalog.name)


def _close_queries(loaded: Any, name: str) -> None:
    """Close the queries by which a catalog on SQLite looked whether its own tables are there.

    They stay open up to Paimon 1.4 (2.0 closes them): an open query is a read lock on the file, and what its connection
    reads later would be as old as itself.
    """
    try:
        with suppress(AttributeError):
            while loaded.getClass().getSimpleName() != "JdbcCatalog":
                loaded = loaded.wrapped()
        pool = loaded.getConnections()
        for connection in _field(pool, "clients").toArray():
            for query in _field(connection.getDatabase(), "stmts").toArray():
                query.close()
    except Exception as exc:  # noqa: BLE001 - names of Paimon and of the driver: others than are known here
        logger.debug(f"The open queries of catalog {name} are not closed: {exc}")


def _field(owner: Any, name: str) -> Any:
    """The value of a private field, of whichever class in the line of its owner has it."""
    kind = owner.getClass()
    while kind is not None:
        for field in kind.getDeclaredFields():
            if field.getName() == name:
                field.setAccessible(True)
                return field.get(owner)
        kind = kind.getSuperclass()
    raise LookupError(f"{owner.getClass().getName()} has no {name}")
