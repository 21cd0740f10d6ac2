"""Views as they are made and dropped, and as a catalog without views remembers them."""

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
    """Methods of the views' macros."""

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
        """A view as the model wants it: its query, and the comments that it persists.

        Raises:
            DbtRuntimeError: the catalog of catalogs.yml that it goes to holds no views.
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
            DbtRuntimeError: the catalog of views does not take the name.
        """
        home = views.DIRECTORY.home_of_new(relation.database)
        if problem := names.view_problem(home, definition.schema, definition.identifier):
            raise DbtRuntimeError(problem)
        return views.create_view_sql(quoted(home, definition.schema, definition.identifier), definition)

    @available.parse_none
    def remember_view(self, definition: views.ViewDefinition) -> None:
        """Keep a view that was just created for later sessions, if its catalog does not."""
        if views.DIRECTORY.needed:
            self.view_registry.keep(definition)

    @available.parse_none
    def ensure_view_schema(self, relation: PaimonRelation) -> None:
        """Create a view's schema where views live elsewhere than tables; once for the process.

        A name that their catalog does not take is left for the view to be refused: its tables need no such schema.
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
        """A schema was dropped, and its views with it."""
        if views.DIRECTORY.needed and relation.database == self.credentials.database and relation.schema:
            self._view_schemas.discard(relation.schema)
            if not names.view_problem(self.view_catalog, relation.schema, "_"):
                self.query(f"drop database if exists {quoted(self.view_catalog, relation.schema)} cascade")
            views.DIRECTORY.replace_schema(relation.schema, [])

    @available.parse_none
    def forget_view(self, relation: PaimonRelation) -> None:
        """Take a dropped view out of what is kept for later sessions."""
        if views.DIRECTORY.needed and relation.schema:
            self.view_registry.remove(relation.schema, relation.identifier or "")
