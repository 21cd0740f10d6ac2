"""JDBC catalogs on SQLite: a query that Paimon leaves open would keep every writer out of the file."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = AdapterLogger("Paimon")


def close_queries(session: SparkSession, catalog: str) -> None:
    """Load a catalog, and close the queries by which it looked whether its own tables are there.

    JdbcCatalog.initializeCatalogTablesIfNeed leaves them open up to Paimon 1.4 (2.0 closes them): an open query is a
    read lock on the file, and what its connection reads later would be as old as itself.

    Args:
        session: an embedded one; the catalog is its own.
        catalog: the catalog's name in Spark.
    """
    manager = session._jsparkSession.sessionState().catalogManager()
    loaded = manager.catalog(catalog).paimonCatalog()
    try:
        with suppress(AttributeError):
            while loaded.getClass().getSimpleName() != "JdbcCatalog":
                loaded = loaded.wrapped()
        pool = loaded.getConnections()
        for connection in _field(pool, "clients").toArray():
            for query in _field(connection.getDatabase(), "stmts").toArray():
                query.close()
    except Exception as exc:  # noqa: BLE001 - names of Paimon and of the driver: others than are known here
        logger.debug(f"The open queries of catalog {catalog} are not closed: {exc}")


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
