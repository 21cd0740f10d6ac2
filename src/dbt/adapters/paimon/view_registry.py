"""Where view definitions are kept for catalogs without views: a table property each (see `views`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql_text import quoted, string_literal
from dbt.adapters.paimon.views import (
    DIRECTORY,
    PROPERTY_PREFIX,
    REGISTRY_TABLE,
    ViewDefinition,
    definitions_from_properties,
    registry_sql,
)

Query = Callable[[str], Iterable[Any]]
_CREATE = Lock()


class ViewRegistry:
    """The registry tables of one catalog; what is written here the directory of the process knows at once."""

    def __init__(self, catalog: str, query: Query) -> None:
        self._catalog = catalog
        self._query = query

    def load(self, schema: str, tables: Iterable[str]) -> list[ViewDefinition]:
        """Read a schema's views, at most one statement.

        Args:
            schema: the schema.
            tables: its tables; without a registry among them there is nothing to read.
        """
        rows = self._query(registry_sql(self._catalog, schema)) if REGISTRY_TABLE in tables else []
        definitions = definitions_from_properties(schema, rows)
        DIRECTORY.replace_schema(schema, definitions)
        return definitions

    def keep(self, definition: ViewDefinition) -> None:
        """Keep a view that was just created; nothing is written when it is kept already."""
        if DIRECTORY.get(definition.schema, definition.identifier) != definition:
            self._create(definition.schema)
            key = string_literal(PROPERTY_PREFIX + definition.identifier)
            value = string_literal(definition.to_property())
            self._query(f"alter table {self._table(definition.schema)} set tblproperties ({key} = {value})")
        DIRECTORY.remember(definition)

    def remove(self, schema: str, identifier: str) -> None:
        """Forget a view that was dropped."""
        if DIRECTORY.get(schema, identifier) is not None:
            key = string_literal(PROPERTY_PREFIX + identifier)
            self._query(f"alter table {self._table(schema)} unset tblproperties ({key})")
        DIRECTORY.forget(schema, identifier)

    def _table(self, schema: str) -> str:
        return quoted(self._catalog, schema, REGISTRY_TABLE)

    def _create(self, schema: str) -> None:
        sql = (
            f"create table if not exists {self._table(schema)} (name string) "
            "comment 'The views of this schema, one a table property; kept by dbt-paimon'"
        )
        with _CREATE:
            try:
                self._query(sql)
            except DbtRuntimeError:
                # IF NOT EXISTS looks and then creates: another process may have come between.
                self._query(sql)
