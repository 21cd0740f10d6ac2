"""Runs the adapter's own statements, and adds similar names to errors about missing tables."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.tables.known_catalogs import KnownCatalogs
from dbt.adapters.paimon.tables.suggestions import Suggestions


class Statements:
    """Runs statements on this thread's connection; `catalogs` are the catalogs that an error may suggest."""

    def __init__(self, adapter: AdapterProtocol, catalogs: KnownCatalogs) -> None:
        self._connections = adapter.connections
        self._suggestions = Suggestions(adapter, lambda: sorted(catalogs.names()))

    def rows(self, sql: str) -> list[Any]:
        """Run a statement and return its rows."""
        with self._connections.exception_handler(sql):
            _, cursor = self._connections.add_query(Statement(sql), auto_begin=False)
            return list(cursor.fetchall())

    def columns(self, sql: str) -> tuple[PaimonColumn, ...]:
        """The columns of a query, which is analyzed but not run.

        DESCRIBE QUERY would truncate the type of a wide struct (spark.sql.debug.maxToStringFields).
        """
        with self.names_suggested(), self._connections.exception_handler(sql):
            _, cursor = self._connections.add_query(Statement(sql), auto_begin=False)
            return tuple(
                PaimonColumn(column=name, dtype=data_type, column_index=index)
                for index, (name, data_type, *_) in enumerate(cursor.description)
            )

    def names_suggested(self) -> AbstractContextManager[None]:
        """Wrap a node's statement: if a table is not found, the error lists similar names."""
        return self._suggestions.added()
