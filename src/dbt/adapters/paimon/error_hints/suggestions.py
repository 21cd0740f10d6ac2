"""Adds the source line and similar names to the error of a node's statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.error_hints import missing
from dbt.adapters.paimon.error_hints.node_errors import HOOKS_OF_A_RUN, NodeErrors
from dbt.adapters.paimon.errors.messages import StatementError, shorten
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.tables.known_catalogs import KnownCatalogs


class Suggestions:
    """Suggests existing tables, schemas, catalogs and functions."""

    def __init__(self, adapter: AdapterProtocol, catalogs: KnownCatalogs) -> None:
        self._adapter = adapter
        self._catalogs = catalogs
        self._node_errors = NodeErrors(adapter)
        self._functions: list[str] = []

    @contextmanager
    def added(self) -> Iterator[None]:
        """Add suggestions to an error of the statement that runs in this context."""
        try:
            yield
        except DbtRuntimeError as exc:
            if isinstance(exc, StatementError) and (where := self._node_errors.where(exc)):
                exc.msg = shorten(exc.text, exc.statement, where)
            parts = missing.table_in(exc.msg)
            if parts and (advice := self._advice_on(parts)):
                exc.msg = f"{exc.msg}\n{advice}"
            elif near := self._function_near(missing.function_in(exc.msg)):
                exc.msg = f"{exc.msg}\nDid you mean {near}?"
            raise

    def _function_near(self, name: str) -> str:
        if not name:
            return ""
        try:
            self._functions = self._functions or [row[0] for row in self._adapter.query("show functions")]
        except Exception:  # noqa: BLE001 - the statement's own error is the one to report
            return ""
        # SHOW FUNCTIONS qualifies the names of a catalog's functions, and also lists operators.
        known = [name for name in (full.rpartition(".")[2] for full in self._functions) if name.isidentifier()]
        return suggestion(name, known, cutoff=0.7) or ""

    def _advice_on(self, parts: Sequence[str]) -> str:
        name = self._adapter.connections.get_thread_connection().name or ""
        node = "" if name == HOOKS_OF_A_RUN else name.rpartition(".")[2]
        try:
            named = [parts[0]] if len(parts) > 2 and self._adapter.has_catalog(parts[0]) else []
            known = sorted({*named, *self._catalogs.names()})
            target = self._adapter.credentials.catalog
            return missing.advice(parts, node, target, known, self._adapter.list_schemas, self._table_or_view_names)
        except DbtRuntimeError:
            # The statement's own error is the one to report.
            return ""

    def _table_or_view_names(self, catalog: str, schema: str) -> list[str]:
        return [relation.identifier for relation in self._adapter.list_relations(catalog, schema)]
