"""Loads JDBC catalogs into a session, one at a time, because Paimon creates their tables without a lock."""

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
# Seconds to wait while another process opens a catalog on SQLite.
_LOCKS = TableLocks(bound=600)
# Seconds before each retry, if another process created the catalog's tables at the same time.
_RETRY_AFTER = (0.5, 2.0)
_CREATED_MEANWHILE = ("already exists", "duplicate key")


def load(session: SparkSession, catalog: SparkCatalog) -> None:
    """Load a JDBC catalog into a session: one at a time in this process and, for SQLite, on this machine.

    JdbcCatalog.initializeCatalogTablesIfNeed checks whether its tables exist, and then creates them. If two processes
    do this at once, SQLite rejects the second, whose open query then blocks the first.
    """
    file = catalog.sqlite_file
    with _OPEN, _LOCKS.alone(catalog.uri or "", file and file.parent):
        for wait in (*_RETRY_AFTER, None):
            try:
                loaded = session._jsparkSession.sessionState().catalogManager().catalog(catalog.name)
                break
            except Exception as exc:
                if wait is None or not any(sign in str(exc) for sign in _CREATED_MEANWHILE):
                    raise
                time.sleep(wait)
        if catalog.jdbc_protocol == "sqlite":
            _close_queries(loaded.paimonCatalog(), catalog.name)
            # To cache a query, Spark clones the session. The clone would load its default catalog again and leave these
            # queries open. `open_session` sets this session's current catalog.
            session.conf.set("spark.sql.defaultCatalog", "spark_catalog")


def _close_queries(loaded: Any, name: str) -> None:
    # Paimon up to 1.4 leaves open the queries that check whether the catalog's tables exist. On SQLite, an open query
    # holds a read lock on the file, and its connection keeps reading old data.
    try:
        with suppress(AttributeError):
            while loaded.getClass().getSimpleName() != "JdbcCatalog":
                loaded = loaded.wrapped()
        pool = loaded.getConnections()
        for connection in _field(pool, "clients").toArray():
            for query in _field(connection.getDatabase(), "stmts").toArray():
                query.close()
    except Exception as exc:  # noqa: BLE001 - Paimon and the driver may change these private names
        logger.debug(f"The open queries of catalog {name} could not be closed: {exc}")


def _field(owner: Any, name: str) -> Any:
    """The value of a private field, which a superclass may declare."""
    kind = owner.getClass()
    while kind is not None:
        for field in kind.getDeclaredFields():
            if field.getName() == name:
                field.setAccessible(True)
                return field.get(owner)
        kind = kind.getSuperclass()
    raise LookupError(f"{owner.getClass().getName()} has no {name}")
