"""Methods on `adapter` for views, including views over a catalog that cannot store them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import names, views
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables.column_changes import column_of_yaml
from dbt.adapters.paimon.views.registry import ViewRegistry


class ViewMethods(AvailableMethods):
    """Called by the macros of views."""

    _view_schemas: set[str]

    if TYPE_CHECKING:

        @property
        def view_catalog(self) -> str: ...

        @property
        def view_registry(self) -> ViewRegistry: ...

    @available.parse(lambda *a, **k: None)
    def view_definition(
        self, relation: PaimonRelation, query: str, model: Mapping[str, Any]
    ) -> views.ViewDefinition:
        """A model's view: its query and persisted comments.

        Raises:
            DbtRuntimeError: the catalog in catalogs.yml does not support views.
        """
        catalog = self.credentials.integrations.get(relation.database or "")
        if catalog is not None:
            replace(self.environment, catalog_kind=catalog.metastore).require(
                Capability.VIEWS, f"model '{model['name']}': a view in the catalog {catalog.name}"
            )
        persist = model.get("config", {}).get("persist_docs") or {}
        columns: tuple[str, ...] = ()
        comments: dict[str, str] = {}
        if persist.get("columns") and model.get("columns"):
            columns = tuple(row[0] for row in self.query(f"describe query {query}"))
            described = {name: column_of_yaml(model, name).get("description") for name in columns}
            comments = {name: text for name, text in described.items() if text}
        comment = (model.get("description") or "") if persist.get("relation") else ""
        return views.ViewDefinition(
            relation.schema or "", relation.identifier or "", query.strip(), comment, comments, columns
        )

    @available.parse(lambda *a, **k: "")
    def create_view_sql(self, relation: PaimonRelation, definition: views.ViewDefinition) -> str:
        """`CREATE OR REPLACE VIEW` with its comments.

        Raises:
            DbtRuntimeError: the catalog of views does not accept the name.
        """
        home = views.DIRECTORY.home_of_new(relation.database)
        if problem := names.view_problem(home, definition.schema, definition.identifier):
            raise DbtRuntimeError(problem)
        return views.create_view_sql(quoted(home, definition.schema, definition.identifier), definition)

    @available.parse_none
    def remember_view(self, definition: views.ViewDefinition) -> None:
        """Store a new view's definition for later sessions, if its catalog cannot."""
        if views.DIRECTORY.needed:
            self.view_registry.keep(definition)

    @available.parse_none
    def ensure_view_schema(self, relation: PaimonRelation) -> None:
        """Create a view's schema where views live in another catalog than tables; once per process.

        A name that the catalog rejects is left for the view's own error: its tables need no such schema.
        """
        schema = relation.schema or ""
        home = relation.database == self.credentials.database and self.view_catalog != relation.database
        if (
            home
            and schema not in self._view_schemas
            and not names.view_problem(self.view_catalog, schema, "_")
        ):
            self.query(f"create database if not exists {quoted(self.view_catalog, schema)}")
            self._view_schemas.add(schema)

    @available.parse_none
    def forget_schema(self, relation: PaimonRelation) -> None:
        """Forget the views of a dropped schema."""
        if views.DIRECTORY.needed and relation.database == self.credentials.database and relation.schema:
            self._view_schemas.discard(relation.schema)
            if not names.view_problem(self.view_catalog, relation.schema, "_"):
                self.query(f"drop database if exists {quoted(self.view_catalog, relation.schema)} cascade")
            views.DIRECTORY.replace_schema(relation.schema, [])

    @available.parse_none
    def forget_view(self, relation: PaimonRelation) -> None:
        """Remove a dropped view from what is stored for later sessions."""
        if views.DIRECTORY.needed and relation.schema:
            self.view_registry.remove(relation.schema, relation.identifier or "")
