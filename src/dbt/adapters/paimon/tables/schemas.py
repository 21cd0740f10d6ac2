"""`adapter.schemas`: creates schemas, and lists the tables to drop before a schema."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.views import REGISTRY_TABLE


class Schemas:
    """Called by the macros that create and drop schemas.

    Args:
        problem: returns why a schema name is invalid; '' if it is valid.
        ensure_view_schema: creates a schema in the catalog that stores views.
    """

    def __init__(
        self,
        adapter: AdapterProtocol,
        problem: Callable[[str | None], str],
        ensure_view_schema: Callable[[PaimonRelation], None],
    ) -> None:
        self._adapter = adapter
        self._problem = problem
        self._ensure_view_schema = ensure_view_schema

    def create(self, relation: PaimonRelation) -> None:
        """Create a schema, including in the catalog that stores its views.

        dbt creates the schemas of all nodes before the first node runs. An invalid name is skipped here and reported by
        the nodes of that schema, so that other nodes run.
        """
        for schema in self._differing_in_case(relation):
            if self._adapter.has_catalog(schema.database) and not self._problem(schema.schema):
                self._create_if_missing(schema)
                self._ensure_view_schema(schema)

    def _differing_in_case(self, relation: PaimonRelation) -> list[PaimonRelation]:
        """A schema, and the project's schemas whose names differ from it only in case.

        dbt creates one schema for all of them (GraphRunnableTask.create_schemas).
        """
        nodes = getattr(self._adapter.get_macro_resolver(), "nodes", {}).values()
        wanted = (relation.database, relation.schema)
        folded = [str(part).lower() for part in wanted]
        names = {(node.database, node.schema) for node in nodes}
        others = {name for name in names if [str(part).lower() for part in name] == folded} - {wanted}
        return [
            relation,
            *(relation.replace_path(database=database, schema=schema) for database, schema in sorted(others)),
        ]

    def _create_if_missing(self, relation: PaimonRelation) -> None:
        """Create a schema. IF NOT EXISTS is not atomic: another process may create the schema in between."""
        schema = relation.without_identifier()
        try:
            self._adapter.query(f"create database if not exists {schema.render()}")
        except DbtRuntimeError:
            if (schema.schema or "") not in self._adapter.list_schemas(schema.database or ""):
                raise

    def tables_to_drop_first(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """Tables to drop before their schema, because JdbcCatalog.dropDatabaseImpl leaves their files behind."""
        catalog = self._adapter.credentials.catalog_of(schema.database or "")
        if catalog is None or catalog.metastore != "jdbc":
            return []
        tables = [found for found in self._adapter.list_relations_without_caching(schema) if found.is_table]
        registry = schema.replace_path(identifier=REGISTRY_TABLE).include(identifier=True)
        return [*tables, registry.replace(type=RelationType.Table)]
