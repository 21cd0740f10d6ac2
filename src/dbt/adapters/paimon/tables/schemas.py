"""`adapter.schemas`: creates schemas, and says what goes before one is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.doors import while_parsing
from dbt.adapters.paimon.sql.views import REGISTRY_TABLE

if TYPE_CHECKING:
    from dbt.adapters.paimon.host import Host
    from dbt.adapters.paimon.relation import PaimonRelation


class Schemas:
    """Called by the macros that create and drop schemas.

    Args:
        host: the adapter.
    """

    def __init__(self, host: Host) -> None:
        self._host = host

    @while_parsing(lambda relation, *a, **k: [relation])
    def alike(self, relation: PaimonRelation) -> list[PaimonRelation]:
        """A schema, and those of the project's nodes that dbt takes for it: their names differ only in case.

        dbt creates one schema of them (GraphRunnableTask.create_schemas).
        """
        nodes = getattr(self._host.get_macro_resolver(), "nodes", {}).values()
        wanted = (relation.database, relation.schema)
        folded = [str(part).lower() for part in wanted]
        names = {(node.database, node.schema) for node in nodes}
        others = {name for name in names if [str(part).lower() for part in name] == folded} - {wanted}
        return [
            relation,
            *(relation.replace_path(database=database, schema=schema) for database, schema in sorted(others)),
        ]

    def make(self, relation: PaimonRelation) -> None:
        """Create a schema if it does not exist. IF NOT EXISTS is not atomic: another process may create it in between.

        Raises:
            DbtDatabaseError: it cannot be created.
        """
        schema = relation.without_identifier()
        try:
            self._host.query(f"create database if not exists {schema.render()}")
        except DbtRuntimeError:
            if (schema.schema or "") not in self._host.list_schemas(schema.database or ""):
                raise

    @while_parsing(lambda *a, **k: [])
    def tables_to_drop_first(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """The tables to drop before their schema is dropped: JdbcCatalog.dropDatabaseImpl leaves their files behind."""
        catalog = self._host.credentials.catalog_of(schema.database or "")
        if catalog is None or catalog.metastore != "jdbc":
            return []
        tables = [found for found in self._host.list_relations_without_caching(schema) if found.is_table]
        registry = schema.replace_path(identifier=REGISTRY_TABLE).include(identifier=True)
        return [*tables, registry.replace(type=RelationType.Table)]
