"""Paimon's Java objects in this process (py4j)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName


def paimon_table(session: SparkSession, name: TableName) -> Any:
    """Load Paimon's Table object from the catalog; raises if the table does not exist."""
    jvm: Any = session._jvm
    catalogs = session._jsparkSession.sessionState().catalogManager()
    identifier = jvm.org.apache.paimon.catalog.Identifier.create(name.schema, name.identifier)
    return catalogs.catalog(name.catalog).paimonCatalog().getTable(identifier)


def file_catalog(session: SparkSession, name: str) -> Any:
    """Paimon's Catalog object with `fileIO()` and `warehouse()`; raises for a catalog without files, such as REST.

    From 1.0, the catalog may be wrapped in a DelegateCatalog, which does not have these methods.
    """
    from py4j.protocol import Py4JError

    jvm: Any = session._jvm
    catalog = session._jsparkSession.sessionState().catalogManager().catalog(name).paimonCatalog()
    with suppress(Py4JError):
        catalog = jvm.org.apache.paimon.catalog.DelegateCatalog.rootCatalog(catalog)
    return catalog


def manifest_entries(jvm: Any, table: Any, snapshot: int, kind: str) -> Any:
    """The manifest entries of a table snapshot; `kind` is Paimon's ScanMode, DELTA or CHANGELOG."""
    mode = getattr(jvm.org.apache.paimon.table.source.ScanMode, kind)
    return table.store().newScan().withSnapshot(snapshot).withKind(mode).plan().files()


def deleting_rows(files: Sequence[Any]) -> int | None:
    """The number of deletes and retractions in these files; None if a file does not record it."""
    counts = [file.deleteRowCount() for file in files]
    return sum(each.get() for each in counts) if all(each.isPresent() for each in counts) else None
