"""Lists the relations of a schema, and first finishes the swaps of killed runs."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.concurrency import listings
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import names, views
from dbt.adapters.paimon.writing import swaps
from dbt.adapters.paimon.writing.table_writer import TableWriter

logger = AdapterLogger("Paimon")


class Listing:
    """Lists the current relations of a schema from the catalog.

    Args:
        load_views: reads the view definitions of a schema, given its tables, if the catalog cannot store views.
    """

    def __init__(
        self,
        adapter: AdapterProtocol,
        builds: TableWriter,
        directory: views.ViewDirectory,
        load_views: Callable[[str, list[str]], list[views.ViewDefinition]],
    ) -> None:
        self._adapter = adapter
        self._builds = builds
        self._directory = directory
        self._load_views = load_views

    def relations(self, schema_relation: PaimonRelation) -> list[PaimonRelation]:
        """All tables and views, in at most two statements (three if another catalog stores views)."""
        database, schema = schema_relation.database, schema_relation.schema or ""
        if names.schema_problem(schema) or not self._adapter.has_catalog(database):
            return []  # The schema cannot exist, and Spark or Paimon would fail on its name.
        try:
            tables = self._table_names(schema_relation)
        except DbtRuntimeError as exc:
            if is_not_found(exc):
                return []
            raise
        stored = self._stored_views(schema_relation)
        tables = self._finish_swaps(schema_relation, tables, stored)
        found = [*stored, *self._view_names(schema_relation, tables)]
        # SHOW TABLES also lists the views of a catalog.
        hidden = {views.REGISTRY_TABLE, *found}
        kinds = {name: RelationType.Table for name in tables if name not in hidden}
        kinds |= dict.fromkeys(found, RelationType.View)
        return [
            PaimonRelation.create(database=database, schema=schema, identifier=name, type=kind)
            for name, kind in kinds.items()
        ]

    def _stored_views(self, schema_relation: PaimonRelation) -> list[str]:
        """The names of the views in a schema's own catalog; empty where SHOW VIEWS would fail."""
        credentials, database = self._adapter.credentials, schema_relation.database or ""
        catalog = credentials.catalog_of(database)
        if catalog is None or not catalog.stores_views(self._adapter.versions):
            return []
        # RewritePaimonViewCommands takes over SHOW VIEWS only if the current catalog has views of Paimon's.
        if credentials.spark_catalog.is_session_catalog and database != credentials.database:
            return []
        return [row[1] for row in self._adapter.query(f"show views in {_rendered(schema_relation)}")]

    def _view_names(self, schema_relation: PaimonRelation, tables: list[str]) -> list[str]:
        """The names of the views in a schema's registry table; empty if the target's catalog stores views itself."""
        if not self._directory.needed or schema_relation.database != self._adapter.credentials.database:
            return []
        definitions = self._load_views(schema_relation.schema or "", tables)
        return [each.identifier for each in definitions if each.identifier not in tables]

    def _finish_swaps(self, schema_relation: PaimonRelation, tables: list[str], stored: list[str]) -> list[str]:
        """Finish the swaps of killed processes, before anything checks whether a table exists.

        A process that is still running holds the table's lock, for which this thread waits. A thread that already holds
        a lock must not wait for a second one, and skips the table.
        """
        if schema_relation.database not in self._adapter.credentials.paimon_catalogs:
            return tables
        for rename in swaps.unfinished_swaps([*tables, *stored]):
            source = schema_relation.replace_path(identifier=rename.source).include(identifier=True)
            target = schema_relation.replace_path(identifier=rename.target).include(identifier=True)
            if not self._builds.may_wait_for(target):
                continue
            with self._builds.alone(target):
                self._finish(schema_relation, source, target, rename)
                tables = self._table_names(schema_relation)
        return tables

    def _finish(
        self, schema_relation: PaimonRelation, source: PaimonRelation, target: PaimonRelation, rename: swaps.Rename
    ) -> None:
        try:
            self._builds.finish_renames(target)
            if rename in swaps.unfinished_swaps(self._table_names(schema_relation)):
                logger.info(f"A run was killed while it replaced {target}. {rename.source} is now renamed to {target}.")
                self._adapter.query(f"alter table {source} rename to {target.in_catalog}")
        except DbtRuntimeError as exc:
            # A node that does not need this table can continue.
            logger.warning(f"{source} could not be renamed to {target.in_catalog}: {exc}")

    def _table_names(self, schema_relation: PaimonRelation) -> list[str]:
        """The names of a schema's tables; retried if a table disappears while they are listed."""
        sql = f"show tables in {_rendered(schema_relation)}"
        return [row[1] for row in listings.repeated(lambda: self._adapter.query(sql))]


def _rendered(schema_relation: PaimonRelation) -> str:
    return schema_relation.include(identifier=False).render()
