"""Tables as they are written and built: the only writer, the name they are built under, the swap."""

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
    """What keeps a table whole while a node writes it."""

    _table_locks: TableLocks
    _half_built: HalfBuilt

    @available.parse_none
    def make_schema(self, relation: PaimonRelation) -> None:
        """Create a schema, unless it is there: IF NOT EXISTS looks and then makes it, and so may another process.

        Raises:
            DbtDatabaseError: it cannot be made.
        """
        schema = relation.without_identifier()
        try:
            self.query(f"create database if not exists {schema.render()}")
        except DbtRuntimeError:
            if not self.check_schema_exists(schema.database or "", schema.schema or ""):
                raise

    @available.parse_none
    def hold_table(self, relation: PaimonRelation) -> None:
        """Be the only writer of a table until the node has ended (see `locks`)."""
        if self._table_locks.hold(relation.render(), self._lock_folder(relation)):
            self._list_again(relation)

    @available.parse_none
    def release_tables(self) -> None:
        """Let others write what this thread held; a node that has ended does so by itself."""
        self._table_locks.release()

    def _alone(self, relation: PaimonRelation) -> AbstractContextManager[None]:
        """Be the only writer of a table for what is done inside."""
        return self._table_locks.alone(relation.render(), self._lock_folder(relation))

    def _list_again(self, relation: PaimonRelation) -> None:
        """Another process has written the table since dbt listed its schema."""
        listed = self.list_relations_without_caching(relation.without_identifier())
        found = {entry.identifier: entry for entry in listed}
        for suffix in ("", staging_names.STAGING_SUFFIX, staging_names.BACKUP_SUFFIX):
            name = f"{relation.identifier}{suffix}"
            self.cache_dropped(relation.replace_path(identifier=name))
            if name in found:
                self.cache_added(found[name])

    def _lock_folder(self, relation: PaimonRelation) -> Path | None:
        """Where the locks of a relation's catalog are, if some of it is on this machine's file system."""
        catalog = self._catalog_here(relation)
        return (catalog.local_folder or catalog.sqlite_folder) if catalog else None

    def _catalog_here(self, relation: PaimonRelation) -> SparkCatalog | None:
        """The catalog of a relation, if its local paths are this machine's: those of a server are the server's."""
        if self.credentials.is_remote:
            return None
        return self.credentials.catalog_of(relation.database or "")

    @available
    def staging_relation(self, target: PaimonRelation) -> PaimonRelation:
        """The name under which a table is built whole: one of this build alone, unless this run is its only writer."""
        name = f"{target.identifier}{staging_names.STAGING_SUFFIX}"
        if self._lock_folder(target) is None:
            name = staging_names.own_staging_name(target.identifier or "", time.time())
        staging: PaimonRelation = target.replace_path(identifier=name).replace(type=RelationType.Table)
        return staging

    @available.parse(lambda *a, **k: None)
    def staged_relation(self, target: PaimonRelation) -> PaimonRelation | None:
        """The table that was built for a name and has not taken it; None if there is none.

        Raises:
            DbtRuntimeError: there are several, and nobody knows which is meant.
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
        """What killed runs have left beside a table (see `swaps.leftovers`), as dbt's cache knows them."""
        listed: Any = self.list_relations(target.database, target.schema or "")
        beside = {relation.identifier: relation for relation in listed if relation.is_table}
        alone = self._lock_folder(target) is not None
        names = swaps.leftovers(target.identifier or "", beside, time.time(), alone)
        return [beside[name] for name in names]

    @available.parse_none
    def staging_begins(self, relation: PaimonRelation) -> None:
        """A table is about to be built under this name: if its node fails before it is whole, it goes."""
        self._half_built.add(relation)

    @available.parse_none
    def staging_ends(self, relation: PaimonRelation) -> None:
        """The table is whole."""
        self._half_built.remove(relation)

    @available.parse(lambda *a, **k: False)
    def exchange_tables(self, one: PaimonRelation, other: PaimonRelation) -> bool:
        """Let two tables of a schema change names in one step, where their catalog is a local folder.

        Returns:
            Whether it was done; where it cannot be, nothing was.
        """
        catalog = self._catalog_here(one)
        # A metastore would go on to say what each name was.
        if catalog is None or catalog.metastore != "filesystem" or catalog.local_folder is None:
            return False
        schema = catalog.local_folder / f"{one.schema}.db"
        return swaps.exchange(schema / (one.identifier or ""), schema / (other.identifier or ""))
