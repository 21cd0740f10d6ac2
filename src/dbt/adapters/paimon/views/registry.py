"""Stores view definitions as table properties, for catalogs that cannot store views (see `sql.views`)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.table_properties import set_options, unset_options
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import option_sql
from dbt.adapters.paimon.writing.table_writer import TableWriter


class ViewRegistry:
    """The registry tables of the target's catalog; `builds` locks them while they are written."""

    def __init__(self, adapter: AdapterProtocol, builds: TableWriter, directory: views.ViewDirectory) -> None:
        self._catalog = adapter.credentials.database
        self._query = adapter.query
        self._builds = builds
        self._directory = directory

    def load(self, schema: str, tables: Iterable[str]) -> list[views.ViewDefinition]:
        """Read a schema's views; sends no statement if `tables` has no registry. Raises NewerStateError."""
        properties: dict[str, str] = {}
        if views.REGISTRY_TABLE in tables:
            properties = dict(self._query(views.registry_sql(self._catalog, schema)))
        definitions = views.definitions_from_properties(schema, properties)
        self._directory.replace_schema(schema, definitions)
        return definitions

    def keep(self, definition: views.ViewDefinition) -> None:
        """Store the definition of a new view, unless it is stored already."""
        if self._directory.get(definition.schema, definition.identifier) != definition:
            stored = {views.PROPERTY_PREFIX + definition.identifier: definition.to_property()}
            with self._lock(definition.schema):
                self._create(definition.schema)
                self._write(set_options(self._table(definition.schema), stored))
        self._directory.remember(definition)

    def remove(self, schema: str, identifier: str) -> None:
        """Delete the definition of a dropped view."""
        if self._directory.get(schema, identifier) is not None:
            with self._lock(schema):
                self._write(unset_options(self._table(schema), views.PROPERTY_PREFIX + identifier))
        self._directory.forget(schema, identifier)

    def _lock(self, schema: str) -> AbstractContextManager[None]:
        # Paimon stores each version of a table's schema in a file named by its number. On S3 and local disks, if two
        # processes write the same number at once, a view is lost, or one of them fails.
        return self._builds.alone(PaimonRelation.create(self._catalog, schema, views.REGISTRY_TABLE))

    def _table(self, schema: str) -> str:
        return quoted(self._catalog, schema, views.REGISTRY_TABLE)

    def _create(self, schema: str) -> None:
        self._write(
            f"create table if not exists {self._table(schema)} (name string) "
            "comment 'The views of this schema, one per table property; maintained by dbt-paimon' "
            f"tblproperties ({option_sql(Kind.VIEWS)})"
        )

    def _write(self, sql: str) -> None:
        try:
            self._query(sql)
        except DbtRuntimeError:
            # A process without a shared lock may have created the table in between: IF NOT EXISTS is not atomic, and S3
            # refuses a schema number that is already taken.
            self._query(sql)
