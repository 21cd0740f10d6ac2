"""`adapter.views`: views, including those for catalogs that cannot store them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.errors.conditions import is_not_empty, is_not_found
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import names, views
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.tables.column_changes import column_of_yaml
from dbt.adapters.paimon.views.registry import ViewRegistry
from dbt.adapters.paimon.writing.model_query import one_query
from dbt.adapters.paimon.writing.table_writer import TableWriter

logger = AdapterLogger("Paimon")


class Views:
    """Creates and drops views, and stores their definitions if the catalog cannot; `builds` locks the registries."""

    def __init__(self, adapter: AdapterProtocol, builds: TableWriter, directory: views.ViewDirectory) -> None:
        self._adapter = adapter
        self._directory = directory
        self._registry = ViewRegistry(adapter, builds, directory)
        self._schemas: set[str] = set()

    def definition(self, relation: PaimonRelation, query: str, model: Mapping[str, Any]) -> views.ViewDefinition:
        """The definition of a model's view.

        Raises:
            CompilationError: the query has several statements.
            DbtRuntimeError: its catalog cannot have views (catalogs.yml).
        """
        # A later session puts the stored query into parentheses, where Spark accepts no semicolon.
        query = one_query(query).strip()
        catalog = self._adapter.credentials.integrations.get(relation.database or "")
        if catalog is not None:
            label = f"model '{model['name']}'" if model else str(relation)
            replace(self._adapter.versions, catalog_kind=catalog.metastore).require(
                Capability.VIEWS, f"{label}: a view in the catalog {catalog.name}"
            )
        persist = model.get("config", {}).get("persist_docs") or {}
        documents_columns = bool(persist.get("columns") and model.get("columns"))
        by_position = bool(model) and self._stores_text(relation)
        columns = self._columns(query) if documents_columns or by_position else ()
        if by_position:
            self._refuse_settings(model)
            documents_columns &= self._adapter.versions.supports(Capability.VIEW_COLUMN_COMMENTS)
        documented = columns if documents_columns else ()
        comments = {name: text for name in documented if (text := column_of_yaml(model, name).get("description"))}
        comment = (model.get("description") or "") if persist.get("relation") else ""
        _, schema, identifier = relation.parts
        return views.ViewDefinition(schema, identifier, query, comment, comments, columns)

    def _stores_text(self, relation: PaimonRelation) -> bool:
        """Whether Paimon's catalog stores the view: only its text, which it matches with the columns by position."""
        catalog = self._adapter.credentials.catalog_of(self._directory.home_of_new(relation.database))
        return catalog is not None and not catalog.is_session_catalog and catalog.stores_views(self._adapter.versions)

    def _refuse_settings(self, model: Mapping[str, Any]) -> None:
        if changed := views.row_settings(self._adapter.handle.changed_settings()):
            raise DbtRuntimeError(
                f"model '{model['name']}': Paimon's catalog stores a view without Spark settings, so its readers would "
                f"not use {', '.join(changed)}. Set them in the target's `spark_config`, or use materialized='table'."
            )

    def _columns(self, query: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._adapter.query(f"describe query {query}"))

    def shares_names(self, relation: PaimonRelation) -> bool:
        """Whether a schema of this catalog cannot have a table and a view of the same name."""
        return self._directory.home_of_new(relation.database) == relation.database

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

        Skips a name that the view catalog rejects: `create_sql` reports it, and tables do not need the schema.
        """
        catalog, schema = self._adapter.view_catalog, relation.schema or ""
        if relation.database != self._adapter.credentials.database or catalog == relation.database:
            return
        if schema not in self._schemas and not names.view_problem(catalog, schema, "_"):
            self._adapter.query(f"create database if not exists {quoted(catalog, schema)}")
            self._schemas.add(schema)

    def forget(self, relation: PaimonRelation) -> None:
        """Delete the definition of a dropped view; without an identifier, drop the views of a schema."""
        if not relation.identifier:
            self._drop_all(relation)
        elif self._directory.needed and relation.schema:
            self._registry.remove(relation.schema, relation.identifier)

    def _drop_all(self, relation: PaimonRelation) -> None:
        """Drop the views of a schema that is about to be dropped, if views and tables are in different catalogs.

        Other tables and views that the view catalog has in a schema of this name are kept.
        """
        schema = relation.schema or ""
        if not self._directory.needed or relation.database != self._adapter.credentials.database or not schema:
            return
        catalog = self._adapter.view_catalog
        self._schemas.discard(schema)
        if not names.view_problem(catalog, schema, "_"):
            self._drop_views(catalog, schema)
        self._directory.replace_schema(schema, [])

    def _drop_views(self, catalog: str, schema: str) -> None:
        """Drop a schema's views from the view catalog, and the schema there if it is then empty."""
        stored = self._stored(schema)
        existing = self._existing(catalog, schema, stored) if stored else frozenset()
        for identifier in stored:
            if identifier.lower() in existing:
                self._adapter.query(f"drop view if exists {quoted(catalog, schema, identifier)}")
            self._directory.forget(schema, identifier)
        try:
            self._adapter.query(f"drop database if exists {quoted(catalog, schema)} restrict")
        except DbtRuntimeError as exc:
            why = "it has tables, views or functions that are not dbt-paimon's" if is_not_empty(exc) else exc
            logger.info(f"The schema {schema} of {catalog} is kept: {why}")

    def _stored(self, schema: str) -> list[str]:
        """The views whose definitions a schema stores; empty if it stores none or does not exist."""
        try:
            return [each.identifier for each in self._registry.load(schema, [views.REGISTRY_TABLE])]
        except DbtRuntimeError as exc:
            if is_not_found(exc):
                return []
            raise

    def _existing(self, catalog: str, schema: str, names: Iterable[str]) -> frozenset[str]:
        """Which of these views the view catalog has: in lower case, as Spark's catalog stores names."""
        pattern = string_literal("|".join(name.lower() for name in names))
        # RewritePaimonViewCommands takes over SHOW VIEWS of every catalog, and then fails for any that is not Paimon's.
        try:
            rows = self._adapter.query(f"show table extended in {quoted(catalog, schema)} like {pattern}")
        except DbtRuntimeError as exc:
            if is_not_found(exc):
                return frozenset()
            raise
        return frozenset(row[1].lower() for row in rows if "\nType: VIEW\n" in row[3])
