"""Adds the names of similar tables to the error of a statement that names a table which does not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.host import Host
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables import missing


class Suggestions:
    """Suggests tables, schemas and catalogs that exist.

    Args:
        host: the adapter.
        catalogs: returns the names of the catalogs that are known to exist.
    """

    def __init__(self, host: Host, catalogs: Callable[[], Sequence[str]]) -> None:
        self._host = host
        self._catalogs = catalogs

    @contextmanager
    def added(self) -> Iterator[None]:
        """Wrap a statement of a node."""
        try:
            yield
        except DbtRuntimeError as exc:
            parts = missing.table_in(exc.msg)
            if parts and (advice := self._advice_on(parts)):
                exc.msg = f"{exc.msg}\n{advice}"
            raise

    def _advice_on(self, parts: Sequence[str]) -> str:
        node = (self._host.connections.get_thread_connection().name or "").rpartition(".")[2]
        try:
            named = [parts[0]] if len(parts) > 2 and self._host.has_catalog(parts[0]) else []
            known = sorted({*named, *self._catalogs()})
            return missing.advice(parts, node, known, self._schema_names, self._table_or_view_names)
        except DbtRuntimeError:
            # The statement's own error is the one to report.
            return ""

    def _schema_names(self, catalog: str) -> list[str]:
        return [row[0] for row in self._host.query(f"show databases in {quoted(catalog)}")]

    def _table_or_view_names(self, catalog: str, schema: str) -> list[str]:
        found: Sequence[Any] = self._host.list_relations(catalog, schema)
        return [relation.identifier for relation in found]
