"""Reads what `dbt docs generate` shows: the columns, comments and statistics of tables and views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.metadata import overviews
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.views import ViewDirectory
from dbt.adapters.paimon.tables import catalog_entries

if TYPE_CHECKING:
    import agate
    from dbt_common.contracts.metadata import CatalogTable

logger = AdapterLogger("Paimon")


class DocsCatalog:
    """Reads the catalog entries of relations; `directory` contains the views and their comments."""

    def __init__(self, adapter: AdapterProtocol, directory: ViewDirectory) -> None:
        self._adapter = adapter
        self._directory = directory

    def of_schemas(self, database: str | None, schemas: Iterable[str]) -> agate.Table:
        """The rows of dbt's catalog for all relations in the given schemas, whose names dbt has put in lower case."""
        wanted, there = {*schemas}, self._adapter.list_schemas(database) if database else []
        return self._rows(self._listed(database, [name for name in there if name.lower() in wanted]))

    def of_relations(self, database: str | None, relations: Iterable[PaimonRelation]) -> agate.Table:
        """The rows of dbt's catalog for those of the given relations that exist."""
        wanted = {(relation.schema, relation.identifier) for relation in relations}
        found = self._listed(database, {schema or "" for schema, _ in wanted})
        return self._rows([each for each in found if (each.schema, each.identifier) in wanted])

    def _listed(self, database: str | None, schemas: Iterable[str]) -> list[PaimonRelation]:
        return [each for name in sorted(schemas) for each in self._adapter.list_relations(database, name)]

    def _rows(self, relations: Sequence[PaimonRelation]) -> agate.Table:
        import agate
        from dbt_common.clients.agate_helper import build_type_tester

        rows = catalog_entries.flat_rows(self.entries(relations))
        # Otherwise, agate would read a schema named 2024 as a number, and a column named null as a missing value.
        texts = {name for row in rows for name in row if not name.endswith((":value", ":include", "_index"))}
        return agate.Table.from_object(rows, column_types=build_type_tester(sorted(texts), ()))

    def entries(self, relations: Sequence[PaimonRelation]) -> list[CatalogTable]:
        """The entry of each relation; a relation that does not exist has no columns."""
        paimon_catalogs = self._adapter.credentials.paimon_catalogs
        tables = [relation for relation in relations if relation.is_table and relation.database in paimon_catalogs]
        found = [self._described(relation) for relation in relations if relation not in tables]
        for start in range(0, len(tables), overviews.MOST_TABLES):
            found += self._with_statistics(tables[start : start + overviews.MOST_TABLES])
        return found

    def _with_statistics(self, tables: Sequence[PaimonRelation]) -> list[CatalogTable]:
        """Read all tables with one statement. If it fails, read each on its own; one that fails has no statistics."""
        try:
            found = overviews.read(self._adapter.query, tables)
        except DbtRuntimeError as exc:
            if len(tables) > 1:
                return [entry for table in tables for entry in self._with_statistics([table])]
            logger.debug(f"No statistics for {tables[0]}: {exc}")
            return [self._described(tables[0])]
        return [catalog_entries.from_overview(tables[each.position], each) for each in found]

    def _described(self, relation: PaimonRelation) -> CatalogTable:
        """The entry, without statistics, of a view, a table of another format, or a table that cannot be read."""
        definition = self._directory.get(relation.schema or "", relation.identifier or "")
        comments = definition.column_comments if definition and relation.is_view else {}
        return catalog_entries.describe(
            relation,
            [(c.name, c.dtype, comments.get(c.name)) for c in self._adapter.get_columns_in_relation(relation)],
            definition.comment if definition and relation.is_view else None,
        )
