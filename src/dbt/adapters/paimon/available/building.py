"""Methods on `adapter` for building tables: locks, staged tables and swaps."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import staging_names
from dbt.adapters.paimon.writing import swaps
from dbt.adapters.paimon.writing.staging import HalfBuilt


class BuildingMethods(AvailableMethods):
    """Keeps a table complete while a node writes it."""

    _table_locks: TableLocks
    _half_built: HalfBuilt

    @available.parse_none
    def make_schema(self, relation: PaimonRelation) -> None:
        """Create a schema if it does not exist. IF NOT EXISTS is not atomic: another process may create it in between.

        Raises:
            DbtDatabaseError: it cannot be created.
        """
        schema = relation.without_identifier()
        try:
            self.query(f"create database if not exists {schema.render()}")
        except DbtRuntimeError:
            if not self.check_schema_exists(schema.database or "", schema.schema or ""):
                raise

    @available.parse_none
    def hold_table(self, relation: PaimonRelation) -> None:
        """Lock a table for this node until it ends (see `concurrency.locks`)."""
        if self._table_locks.hold(relation.render(), self._lock_folder(relation)):
            self._list_again(relation)

    @available.parse_none
    def release_tables(self) -> None:
        """Release the locks that this thread holds; they are also released when its node ends."""
        self._table_locks.release()

    def _alone(self, relation: PaimonRelation) -> AbstractContextManager[None]:
        """Hold a table's lock inside the `with` block."""
        return self._table_locks.alone(relation.render(), self._lock_folder(relation))

    def _list_again(self, relation: PaimonRelation) -> None:
        """Refresh dbt's cache: another process has written the table since its schema was listed."""
        listed = self.list_relations_without_caching(relation.without_identifier())
        found = {entry.identifier: entry for entry in listed}
        for suffix in ("", staging_names.STAGING_SUFFIX, staging_names.BACKUP_SUFFIX):
            name = f"{relation.identifier}{suffix}"
            self.cache_dropped(relation.replace_path(identifier=name))
            if name in found:
                self.cache_added(found[name])

    def _lock_folder(self, relation: PaimonRelation) -> Path | None:
        """The lock folder of a relation's catalog; None if nothing of the catalog is on this machine's file system."""
        catalog = self._catalog_here(relation)
        return (catalog.local_folder or catalog.sqlite_folder) if catalog else None

    def _catalog_here(self, relation: PaimonRelation) -> SparkCatalog | None:
        """The catalog of a relation if its local paths are on this machine; a server's paths are not."""
        if self.credentials.is_remote:
            return None
        return self.credentials.catalog_of(relation.database or "")

    @available
    def staging_relation(self, target: PaimonRelation) -> PaimonRelation:
        """The name to build a table under; unique to this build unless this run holds the table's lock."""
        name = f"{target.identifier}{staging_names.STAGING_SUFFIX}"
        if self._lock_folder(target) is None:
            name = staging_names.own_staging_name(target.identifier or "", time.time())
        staging: PaimonRelation = target.replace_path(identifier=name).replace(type=RelationType.Table)
        return staging

    @available.parse(lambda *a, **k: None)
    def staged_relation(self, target: PaimonRelation) -> PaimonRelation | None:
        """The complete staged table that has not been swapped in yet; None if there is none.

        Raises:
            DbtRuntimeError: there are several, and it is unclear which one is meant.
        """
        listed: Any = self.list_relations(target.database, target.schema or "")
        names = swaps.staged_tables(target.identifier or "", [relation.identifier for relation in listed])
        if len(names) > 1:
            raise DbtRuntimeError(
                f"{target}: several tables were built for this name: {', '.join(names)}. Drop those that are not meant."
            )
        return next((relation for relation in listed if relation.identifier in names), None)

    @available.parse_list
    def leftovers(self, target: PaimonRelation) -> list[PaimonRelation]:
        """Leftovers of killed runs next to a table (see `swaps.leftovers`), as dbt's cache lists them."""
        listed: Any = self.list_relations(target.database, target.schema or "")
        beside = {relation.identifier: relation for relation in listed if relation.is_table}
        alone = self._lock_folder(target) is not None
        names = swaps.leftovers(target.identifier or "", beside, time.time(), alone)
        return [beside[name] for name in names]

    @available.parse_none
    def staging_begins(self, relation: PaimonRelation) -> None:
        """Register a table that is about to be built: it is dropped if its node fails before it is complete."""
        self._half_built.add(relation)

    @available.parse_none
    def staging_ends(self, relation: PaimonRelation) -> None:
        """Unregister a staged table: it is complete."""
        self._half_built.remove(relation)

    @available.parse(lambda *a, **k: False)
    def exchange_tables(self, one: PaimonRelation, other: PaimonRelation) -> bool:
        """Swap the names of two tables of a schema atomically, where their catalog is a local folder.

        Returns:
            Whether it was done; if not, nothing has changed.
        """
        catalog = self._catalog_here(one)
        # A metastore would keep each name's old metadata.
        if catalog is None or catalog.metastore != "filesystem" or catalog.local_folder is None:
            return False
        schema = catalog.local_folder / f"{one.schema}.db"
        return swaps.exchange(schema / (one.identifier or ""), schema / (other.identifier or ""))
