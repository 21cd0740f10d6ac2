"""`adapter.views`: views, including those for catalogs that cannot store them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import names, views
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables.column_changes import column_of_yaml
from dbt.adapters.paimon.views.registry import ViewRegistry
from dbt.adapters.paimon.writing.table_writer import TableWriter


class Views:
    """Creates and drops views, and stores their definitions if the catalog cannot; `builds` locks the registries."""

    def __init__(self, adapter: AdapterProtocol, builds: TableWriter, directory: views.ViewDirectory) -> None:
        self._adapter = adapter
        self._directory = directory
        self._registry = ViewRegistry(adapter, builds, directory)
        self._schemas: set[str] = set()

    def definition(self, relation: PaimonRelation, query: str, model: Mapping[str, Any]) -> views.ViewDefinition:
        """The definition of a model's view; raises DbtRuntimeError if its catalog cannot have views (catalogs.yml)."""
        catalog = self._adapter.credentials.integrations.get(relation.database or "")
        if catalog is not None:
            replace(self._adapter.versions, catalog_kind=catalog.metastore).require(
                Capability.VIEWS, f"model '{model['name']}': a view in the catalog {catalog.name}"
            )
        persist = model.get("config", {}).get("persist_docs") or {}
        columns = self._columns(query) if persist.get("columns") and model.get("columns") else ()
        comments = {name: text for name in columns if (text := column_of_yaml(model, name).get("description"))}
        comment = (model.get("description") or "") if persist.get("relation") else ""
        _, schema, identifier = relation.parts
        return views.ViewDefinition(schema, identifier, query.strip(), comment, comments, columns)

    def _columns(self, query: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._adapter.query(f"describe query {query}"))

    def create_as(self, relation: PaimonRelation, query: str) -> str:
        """Return `CREATE OR REPLACE VIEW` for a view that is not a node, and store its definition."""
        definition = self.definition(relation, query, {})
        self.remember(definition)
        return self.create_sql(relation, definition)

    def create_sql(self, relation: PaimonRelation, definition: views.ViewDefinition) -> str:
        """`CREATE OR REPLACE VIEW` with comments; raises DbtRuntimeError if the view catalog refuses the name."""
        home = self._directory.home_of_new(relation.database)
        if problem := names.view_problem(home, definition.schema, definition.identifier):
            raise DbtRuntimeError(problem)
        return views.create_view_sql(quoted(home, definition.schema, definition.identifier), definition)

    def load(self, schema: str, tables: Iterable[str]) -> list[views.ViewDefinition]:
        """The views of a schema whose catalog cannot store them (see `ViewRegistry.load`)."""
        return self._registry.load(schema, tables)

    def remember(self, definition: views.ViewDefinition) -> None:
        """Store a new view's definition for later sessions, if its catalog cannot."""
        if self._directory.needed:
            changed = self._adapter.handle.changed_settings()
            self._registry.keep(replace(definition, settings=views.stored_settings(changed)))

    def ensure_schema(self, relation: PaimonRelation) -> None:
        """Create a view's schema, once per process, if views and tables are in different catalogs.

        Skips a name that the view catalog rejects: creating a view reports it, and tables do not need the schema.
        """
        catalog, schema = self._adapter.view_catalog, relation.schema or ""
        if relation.database != self._adapter.credentials.database or catalog == relation.database:
            return
        if schema not in self._schemas and not names.view_problem(catalog, schema, "_"):
            self._adapter.query(f"create database if not exists {quoted(catalog, schema)}")
            self._schemas.add(schema)

    def forget(self, relation: PaimonRelation) -> None:
        """Delete the definition of a dropped view, or of all views of a dropped schema."""
        if not self._directory.needed or not relation.schema:
            return
        if relation.identifier:
            self._registry.remove(relation.schema, relation.identifier)
        elif relation.database == self._adapter.credentials.database:
            self._forget_schema(relation.schema)

    def _forget_schema(self, schema: str) -> None:
        self._schemas.discard(schema)
        catalog = self._adapter.view_catalog
        if not names.view_problem(catalog, schema, "_"):
            self._adapter.query(f"drop database if exists {quoted(catalog, schema)} cascade")
        self._directory.replace_schema(schema, [])
