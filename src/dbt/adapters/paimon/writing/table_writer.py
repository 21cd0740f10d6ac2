"""Locks, staged tables, swaps and write statements, which keep a table complete while a node writes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.catalogs import lock_places, writers
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.s3_objects import NoConditionsError
from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.concurrency.leases import Leases
from dbt.adapters.paimon.concurrency.locks import Place, TableLocks
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.metadata import commits, row_kinds
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark import responses, watchdog
from dbt.adapters.paimon.spark.server_writers import Note, ServerWriters
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import helper_names, procedures
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import before_last_write, quoted, statements
from dbt.adapters.paimon.writing import bucket_tasks, lost_responses, swaps
from dbt.adapters.paimon.writing.statement_result import StatementResult

logger = AdapterLogger("Paimon")

# Kinds of statements that delete no rows of a table without a primary key, or replace all rows.
_ADDING = frozenset({"append", conflicts.REBUILD, responses.STAGING})


class _UnfinishedTables(threading.local):
    """The incomplete staging tables of this thread's node; dbt runs each node on one thread."""

    def __init__(self) -> None:
        self.tables: list[PaimonRelation] = []


class TableWriter:
    """Builds and writes tables while holding their locks."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter
        self._locks = TableLocks(adapter.credentials.lock_timeout)
        # Catalog -> its leases, or None if its store does not support them.
        self._leases: dict[str, Leases | None] = {}
        self._asking = threading.Lock()
        self._writers = ServerWriters(
            adapter.credentials.lock_timeout, served=adapter.credentials.method != PaimonConnectionMethod.SESSION
        )
        self._unfinished = _UnfinishedTables()

    # -- locks ------------------------------------------------------------------------------------------------------

    def hold(self, relation: PaimonRelation) -> None:
        """Lock a table for this node until it ends (see `concurrency.locks`)."""
        note = self._note(relation)
        if self._locks.hold(_name(relation), self.lock_place(relation), lambda: note) or note.others_wrote:
            self._list_again(relation)

    def release(self) -> None:
        """Release the locks of this thread; the end of its node also releases them."""
        self._locks.release()

    def alone(self, relation: PaimonRelation) -> AbstractContextManager[None]:
        """Hold a table's lock inside the `with` block."""
        return self._locks.alone(_name(relation), self.lock_place(relation), lambda: self._note(relation))

    def _note(self, relation: PaimonRelation) -> Note:
        return Note(self._writers, lambda: self._adapter.handle, _name(relation))

    def may_wait_for(self, relation: PaimonRelation) -> bool:
        """Whether this thread may wait for a table's lock without the risk of a deadlock (see `TableLocks`)."""
        return self._locks.may_wait_for(_name(relation))

    def lock_place(self, relation: PaimonRelation) -> Place:
        """Where the locks of a relation's catalog are; None if other processes cannot be locked out.

        Raises:
            DbtRuntimeError: the profile requires leases (`s3_lock: true`), but the store does not support them or does
                not respond.
        """
        catalog = self._catalog_here(relation)
        if catalog is None:
            return None
        if lock_places.needs_leases(catalog, self._adapter.credentials.s3_lock):
            return self._leases_of(catalog)
        return catalog.local_folder or catalog.sqlite_file

    def _leases_of(self, catalog: SparkCatalog) -> Leases | None:
        """The leases of a catalog, or None; checks once per run whether its store supports them."""
        with self._asking:
            if catalog.name not in self._leases:
                self._leases[catalog.name] = self._new_leases(catalog)
            return self._leases[catalog.name]

    def _new_leases(self, catalog: SparkCatalog) -> Leases | None:
        runtime = self._adapter.runtime
        storage = next(each for each in runtime.storages if each.catalog.name == catalog.name)
        try:
            return lock_places.leases_of(storage, watchdog.arm)
        except NoConditionsError as exc:
            if runtime.credentials.s3_lock:
                raise lock_places.missing_lock_error(storage, exc.msg) from exc
            logger.warning(
                f"Tables of {catalog.name} are not locked against other dbt runs: {exc.msg}. "
                f"{lock_places.REMEDY}. That setting also silences this warning."
            )
            return None

    def _catalog_here(self, relation: PaimonRelation) -> SparkCatalog | None:
        """A relation's catalog; None with a server, whose local paths may be on another machine."""
        credentials = self._adapter.credentials
        return None if credentials.is_remote else credentials.catalog_of(relation.database or "")

    def _list_again(self, relation: PaimonRelation) -> None:
        """Refresh dbt's cache after another process wrote the table."""
        listed = self._adapter.list_relations_without_caching(relation.without_identifier())
        found = {entry.identifier: entry for entry in listed}
        for suffix in ("", helper_names.STAGING_SUFFIX, helper_names.BACKUP_SUFFIX):
            name = f"{relation.identifier}{suffix}"
            self._adapter.cache_dropped(relation.replace_path(identifier=name))
            if name in found:
                self._adapter.cache_added(found[name])

    def existing(self, target: PaimonRelation, *, hold: bool = True) -> PaimonRelation | None:
        """Drop the leftovers of killed runs, and return the relation with a node's name, or None.

        dbt's first listing has found the leftovers, and has finished interrupted swaps.

        Args:
            hold: whether to hold the table's lock until the node ends; a node that creates its table always does.
        """
        if hold or self._cached(target) is None:
            self.hold(target)
        if self.finish_renames(target):
            self._list_again(target)
        if self.leftovers(target):
            # Another process may be building them. If it is, they are gone after the wait for its lock.
            with self.alone(target):
                self._list_again(target)
                self.drop_leftovers(target)
        return self._cached(target)

    def drop_leftovers(self, target: PaimonRelation) -> None:
        """Drop what killed runs left. Call this before the table is dropped, or a listing will restore its backup."""
        for leftover in self.leftovers(target):
            self._adapter.drop_relation(leftover)

    def _cached(self, target: PaimonRelation) -> PaimonRelation | None:
        return self._adapter.get_relation(target.database, target.schema, target.identifier)

    # -- staged tables ----------------------------------------------------------------------------------------------

    def staging(self, target: PaimonRelation) -> PaimonRelation:
        """The name under which to build a table; unique to this build unless this run holds the table's lock."""
        name = f"{target.identifier}{helper_names.STAGING_SUFFIX}"
        if self.lock_place(target) is None:
            name = helper_names.own_staging_name(target.identifier or "", time.time())
        staging: PaimonRelation = target.replace_path(identifier=name).replace(type=RelationType.Table)
        return staging

    def staged(self, target: PaimonRelation) -> PaimonRelation | None:
        """The complete staged table that has not been swapped in yet, or None."""
        listed = self._adapter.list_relations(target.database, target.schema or "")
        names = swaps.staged_tables(target.identifier or "", [relation.identifier for relation in listed])
        if len(names) > 1:
            raise DbtRuntimeError(
                f"{target}: several staged tables exist: {', '.join(names)}. Drop those that you do not need."
            )
        return next((relation for relation in listed if relation.identifier in names), None)

    def leftovers(self, target: PaimonRelation) -> list[PaimonRelation]:
        """The leftovers of killed runs (see `swaps.leftovers`) in dbt's cache."""
        listed = self._adapter.list_relations(target.database, target.schema or "")
        beside = {relation.identifier: relation for relation in listed}
        alone = self.lock_place(target) is not None
        names = swaps.leftovers(target.identifier or "", beside, time.time(), alone)
        return [beside[name] for name in names if beside[name].is_table]

    def finish_renames(self, target: PaimonRelation) -> bool:
        """Finish the renames of a table that killed runs left half done; returns whether there were any.

        Only a rename that copies files one by one can be half done (see `copied_renames`).
        """
        spark = self._adapter.handle.embedded()
        if spark is None or not self.renames_by_copying(target):
            return False
        with self._adapter.connections.exception_handler(f"finish the renames of {target}"):
            renames = spark.copied_renames(table_name(target))
            if not renames.possible():
                return False
            with self.alone(target):
                finished = renames.finish()
        for old, new in finished:
            logger.info(f"a killed run had renamed {old} to {new} in part: the remaining files were moved")
        return bool(finished)

    def renames_by_copying(self, relation: PaimonRelation) -> bool:
        """Whether the store of a relation's catalog renames a table by copying its files."""
        catalog = self._catalog_here(relation)
        return catalog is not None and writers.renames_by_copying(catalog)

    def begins(self, relation: PaimonRelation) -> None:
        """Register a table that is about to be built: if it is still incomplete when its node ends, it is dropped."""
        self._unfinished.tables.append(relation)

    def ends(self, relation: PaimonRelation) -> None:
        """Unregister a complete staged table: it may be the only copy of a model, and must not be dropped."""
        self._unfinished.tables.remove(relation)

    def drop_half_built(self) -> None:
        """Drop the incomplete tables of this thread's node, which has ended; the next run retries failed drops."""
        tables, self._unfinished.tables = self._unfinished.tables, []
        for relation in tables:
            with suppress(DbtRuntimeError):
                self._adapter.query(f"drop table if exists {relation.render()}")

    def swap(self, staging: PaimonRelation, target: PaimonRelation) -> None:
        """Give a complete staged table the name of the table that it replaces, and drop the old one.

        Atomic if the catalog allows it. Otherwise this takes two renames. A run that is killed between them leaves two
        complete tables, neither with the name, and the next run finishes the swap.
        """
        if self._exchange(staging, target):
            self._adapter.drop_relation(staging)
            return
        backup = self._backup_of(target)
        self._adapter.rename_relation(target, backup)
        self._adapter.rename_relation(staging, target)
        self._adapter.drop_relation(backup)

    @contextmanager
    def set_aside(self, table: PaimonRelation) -> Iterator[None]:
        """Rename a table to its backup name, let the block create a view under its old name, and then drop the table.

        If the block fails, the table gets its name back; if the run is killed, the next listing renames it.
        """
        backup = self._backup_of(table)
        self._adapter.rename_relation(table, backup)
        try:
            yield
        except Exception:
            self._adapter.rename_relation(backup, table)
            raise
        self._adapter.drop_relation(backup)

    @staticmethod
    def _backup_of(table: PaimonRelation) -> PaimonRelation:
        backup: PaimonRelation = table.replace_path(identifier=f"{table.identifier}{helper_names.BACKUP_SUFFIX}")
        return backup

    def _exchange(self, one: PaimonRelation, other: PaimonRelation) -> bool:
        """Swap the names of two tables of a schema atomically; returns False if that is impossible."""
        catalog = self._catalog_here(one)
        # A metastore would keep the old metadata of each name.
        if catalog is None or catalog.metastore != "filesystem" or catalog.local_folder is None:
            return False
        schema = catalog.local_folder / f"{one.schema}.db"
        return swaps.exchange(schema / (one.identifier or ""), schema / (other.identifier or ""))

    # -- statements -------------------------------------------------------------------------------------------------

    def write(
        self,
        relation: PaimonRelation,
        sql: str,
        kind: str,
        spec: TableSpec,
        conf: Mapping[str, str],
        mark: str = "",
        deletes: bool = True,
        writes_rows: bool = False,
    ) -> StatementResult:
        """Run the statement that writes a model's rows into an existing table, holding the table's lock.

        Args:
            kind: the kind of statement; some kinds are retried after a conflict (see `strategies.may_repeat`).
            mark: what the commit stores in its user, such as read positions.
            deletes: whether a MERGE may delete rows.
            writes_rows: whether `sql` is a query whose rows are written with their row kinds (see `spark.row_writer`).
        """
        user = user_of_script = commits.own_user(mark)
        if kind not in strategies.STRATEGIES and len(statements(sql)) > 1:
            # If a project's own script fails after its first commit, this commit must not store the read positions.
            user_of_script = commits.own_user("")
            sql = before_last_write(sql, f"set {quoted(commits.COMMIT_USER_CONF)} = {quoted(user)}")
        versions = self._adapter.versions
        compaction = procedures.statement("compact", relation.parts, {}, versions) if spec.skips_level_0 else None
        statement = Statement(
            sql,
            kind,
            {**self._tasks(spec), **conf},
            repeat=strategies.may_repeat(kind, spec),
            target=relation.parts,
            writes_rows=writes_rows,
            completed_by=compaction,
            commit_user=user_of_script,
        )
        with self.alone(relation), self._adapter.names_suggested():
            grows_by_inserts = row_kinds.grows_by_inserts(kind, spec.properties, deletes=deletes)
            adds_rows = bool(spec.primary_key) or kind in _ADDING
            return self._run(relation, user, statement, grows_by_inserts=grows_by_inserts, adds_rows=adds_rows)

    def create(self, staging: PaimonRelation, sql: str, spec: TableSpec) -> StatementResult:
        """Run the script that creates a table under its staging name and writes its rows."""
        statement = Statement(sql, responses.STAGING, self._tasks(spec), target=staging.parts)
        with self._adapter.names_suggested():
            return self._run(staging, "", statement)

    def _run(
        self,
        relation: PaimonRelation,
        user: str,
        statement: Statement,
        *,
        grows_by_inserts: bool = False,
        adds_rows: bool = True,
    ) -> StatementResult:
        """Run a statement that writes; if the connection is lost, check that the statement has committed."""
        began, table = time.time(), None
        try:
            _, table = self._adapter.connections.execute(statement)
        except Exception as exc:
            if not self._adapter.handle.is_lost:
                raise
            lost_responses.require_commit(self._adapter, self._writers, relation, user, began, exc)
        response = self._response(relation, statement.kind, user, began, grows_by_inserts, adds_rows)
        return StatementResult(response, table)

    def _tasks(self, spec: TableSpec) -> dict[str, str]:
        return bucket_tasks.conf(spec, self._adapter.handle.setting(bucket_tasks.PARTITIONS))

    def _response(
        self, relation: PaimonRelation, kind: str, user: str, began: float, grows_by_inserts: bool, adds_rows: bool
    ) -> AdapterResponse:
        """The adapter response of this thread's last statement. Errors here never fail the node."""
        handle = self._adapter.handle
        statement = handle.statement_id
        table = table_name(relation)
        whole = kind in (conflicts.REBUILD, responses.STAGING)
        try:
            committed = handle.committed(table, user, began, whole)
        except Exception as exc:  # noqa: BLE001 - of py4j, gRPC, Thrift or Spark
            logger.debug(f"{relation}: what the statement committed is unknown: {exc}")
            return responses.unknown(kind, statement)
        if committed is not None and committed.files is None and not adds_rows:
            # Without the commit's files, only the growth of the table is known, not the commit's rows.
            committed = replace(committed, rows=None)
        if committed is not None and grows_by_inserts:
            committed = replace(committed, rows_inserted=committed.growth)
        work = None
        try:
            work = handle.statement_metrics(statement)
        except Exception as exc:  # noqa: BLE001 - of py4j or Spark
            logger.debug(f"{relation}: Spark's metrics for the statement are unknown: {exc}")
        locked_at = self._locks.held_since(_name(relation))
        return replace(responses.of_write(kind, committed, work, statement), locked_at=locked_at)


def _name(relation: PaimonRelation) -> str:
    """The name of a relation's lock and note: not rendered, because a view may be rendered with the view catalog."""
    return quoted(*relation.parts)
