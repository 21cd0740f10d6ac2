"""The adapter class that dbt loads: each method delegates to the module of its feature and runs the SQL it returns."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbt.adapters.base import available
from dbt.adapters.base.impl import ConstraintSupport
from dbt.adapters.base.meta import AdapterMeta
from dbt.adapters.base.relation import InformationSchema
from dbt.adapters.capability import Capability as DbtCapability
from dbt.adapters.capability import CapabilityDict, CapabilitySupport, Support
from dbt.adapters.contracts.relation import RelationConfig, RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.events.types import ConstraintNotSupported
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.contracts.constraints import ColumnLevelConstraint, ConstraintType, ModelLevelConstraint
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import behavior, catalogs_yml, debug
from dbt.adapters.paimon.available.audits import AuditMethods
from dbt.adapters.paimon.available.batches import BatchMethods
from dbt.adapters.paimon.available.buckets import BucketMethods
from dbt.adapters.paimon.available.building import BuildingMethods
from dbt.adapters.paimon.available.capabilities import CapabilityMethods
from dbt.adapters.paimon.available.catalogs import CatalogMethods
from dbt.adapters.paimon.available.changes import ChangesMethods
from dbt.adapters.paimon.available.maintenance import MaintenanceMethods
from dbt.adapters.paimon.available.monitoring import MonitoringMethods
from dbt.adapters.paimon.available.operations import OperationMethods
from dbt.adapters.paimon.available.snapshots import SnapshotMethods
from dbt.adapters.paimon.available.streaming import StreamingMethods
from dbt.adapters.paimon.available.time_travel import TimeTravelMethods
from dbt.adapters.paimon.available.views import ViewMethods
from dbt.adapters.paimon.capabilities import USUAL_SPARK, Capability, Environment, parse_version
from dbt.adapters.paimon.catalogs.catalog import SESSION_CATALOG
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.credentials import PaimonConnectionMethod, PaimonCredentials
from dbt.adapters.paimon.errors import deprecations, unsupported
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark import early_start
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.launch import packages
from dbt.adapters.paimon.spec import change_rows, column_rules, ordering_values, spelling, strategies
from dbt.adapters.paimon.spec.build import build_table_spec
from dbt.adapters.paimon.spec.config import PaimonConfig
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import literals, names, ordering, predicates, procedures, views
from dbt.adapters.paimon.sql.data_types import is_whole
from dbt.adapters.paimon.sql.text import ilike, quoted, string_literal
from dbt.adapters.paimon.tables import changeset, docs, metadata
from dbt.adapters.paimon.tables.changeset import Changeset, ExistingColumn, ExistingTable, compute_changeset
from dbt.adapters.paimon.tables.column_changes import (
    ColumnChanges,
    compare_columns,
    refuse_schema_change,
    wanted_columns,
)
from dbt.adapters.paimon.views.registry import ViewRegistry
from dbt.adapters.paimon.writing import model_query, python_models, row_checks, seeds, swaps
from dbt.adapters.paimon.writing.kept_deletes import KeptDeletes, kept_deletes
from dbt.adapters.paimon.writing.model_query import ModelQuery
from dbt.adapters.paimon.writing.staging import HalfBuilt

if TYPE_CHECKING:
    import agate
    from dbt.adapters.base.impl import FreshnessResponse
    from dbt.adapters.base.relation import BaseRelation
    from dbt.adapters.catalogs import CatalogIntegration, CatalogIntegrationConfig
    from dbt.adapters.contracts.connection import AdapterResponse, Connection
    from dbt.adapters.contracts.macros import MacroResolverProtocol
    from dbt_common.contracts.metadata import CatalogTable

logger = AdapterLogger("Paimon")


class PaimonAdapter(
    AuditMethods,
    BatchMethods,
    BucketMethods,
    BuildingMethods,
    CapabilityMethods,
    CatalogMethods,
    ChangesMethods,
    MaintenanceMethods,
    MonitoringMethods,
    OperationMethods,
    SnapshotMethods,
    StreamingMethods,
    TimeTravelMethods,
    ViewMethods,
    SparkAdapter,
    metaclass=AdapterMeta,
):
    """dbt's adapter for Apache Paimon tables through Spark."""

    Relation = PaimonRelation  # type: ignore[assignment]
    Column = PaimonColumn
    ConnectionManager = PaimonConnectionManager
    AdapterSpecificConfigs = PaimonConfig  # type: ignore[assignment]

    CATALOG_INTEGRATIONS = catalogs_yml.CATALOG_INTEGRATIONS

    # Paimon enforces NOT NULL, and keeps a primary key unique by merging; it has no other constraints.
    CONSTRAINT_SUPPORT: ClassVar[dict[ConstraintType, ConstraintSupport]] = {  # type: ignore[misc]
        ConstraintType.check: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.primary_key: ConstraintSupport.ENFORCED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
    }

    _capabilities = CapabilityDict(
        {
            DbtCapability.SchemaMetadataByRelations: CapabilitySupport(Support.Full),
            DbtCapability.GetCatalogForSingleRelation: CapabilitySupport(Support.Full),
            DbtCapability.TableLastModifiedMetadata: CapabilitySupport(Support.Full),
            DbtCapability.TableLastModifiedMetadataBatch: CapabilitySupport(Support.Full),
            # Batches are prepared concurrently; their write statements run one at a time (see microbatch.sql).
            DbtCapability.MicrobatchConcurrency: CapabilitySupport(Support.Full),
            DbtCapability.CatalogsV2: CapabilitySupport(Support.Full),
        }
    )

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        if isinstance(threads := getattr(config, "threads", None), int) and threads < 1:
            raise DbtRuntimeError(
                f"threads: {threads} in the profile, or --threads: write a number from 1 on."
            )
        self._told = deprecations.OnceARun()
        self._table_locks = TableLocks(self.credentials.lock_timeout)
        self._view_schemas: set[str] = set()
        self._half_built = HalfBuilt()
        self._asked_catalogs: dict[str, bool] = {}
        self._catalog_names: list[str] = []
        for integration in catalogs_yml.of_project(config, self.bridge_v2_catalog):
            self.add_catalog_integration(integration)
        views.DIRECTORY.configure(self.credentials.database, self.view_catalog, self.credentials.unique_field)
        early_start.begin(self.credentials)

    @property
    def _behavior_flags(self) -> list[BehaviorFlag]:
        return list(behavior.FLAGS)

    @property
    def credentials(self) -> PaimonCredentials:
        """The credentials of the active target."""
        credentials: PaimonCredentials = self.config.credentials
        return credentials

    @cached_property
    def environment(self) -> Environment:
        """The versions and the catalog kind, known without starting Spark."""
        return Environment(
            paimon=parse_version(packages.effective_paimon_version(self.credentials)),
            spark=parse_version(self._spark_version),
            catalog_kind=self.credentials.metastore,
            case_sensitive=self.credentials.spark_config.get("spark.sql.caseSensitive", "").lower() == "true",
        )

    @property
    def _spark_version(self) -> str:
        """PySpark's version; on a Thrift server Spark's version is unknown, and no local PySpark is needed."""
        if self.credentials.method != PaimonConnectionMethod.THRIFT:
            return installation.require(self.credentials.method)
        try:
            return installation.spark_version()
        except DbtRuntimeError:
            return USUAL_SPARK

    @property
    def _handle(self) -> Handle:
        """This thread's connection handle."""
        handle: Handle = self.connections.get_thread_connection().handle
        return handle

    @property
    def view_catalog(self) -> str:
        """The catalog that stores views: the Paimon catalog if it can, else the profile's `view_catalog`."""
        if self.credentials.view_catalog:
            return self.credentials.view_catalog
        if self.credentials.spark_catalog.is_sessions:
            return self.credentials.database
        return self.credentials.database if self.environment.supports(Capability.VIEWS) else "spark_catalog"

    @cached_property
    def view_registry(self) -> ViewRegistry:
        """The registry that stores the views of a catalog that cannot."""
        catalog = self.credentials.database

        def alone(schema: str) -> AbstractContextManager[None]:
            return self._alone(
                self.Relation.create(database=catalog, schema=schema, identifier=views.REGISTRY_TABLE)
            )

        return ViewRegistry(catalog, self.query, alone)

    @classmethod
    def is_cancelable(cls) -> bool:
        """True: Spark jobs can be cancelled by their tag."""
        return True

    def valid_incremental_strategies(self) -> list[str]:
        """The adapter's own strategies; any other name is looked up as a macro of the project."""
        return list(strategies.STRATEGIES)

    @available.parse(lambda *a, **k: [])
    def builtin_incremental_strategies(self) -> list[str]:
        """dbt checks a model's strategy against these before it looks for a macro."""
        return list(strategies.STRATEGIES)

    def debug_query(self) -> None:
        """`dbt debug`: create, write, read and drop a table, and print a few lines about the connection."""
        debug.check(self, logger.info, logger.debug)

    # -- catalogs.yml -----------------------------------------------------------------------------------------------

    def add_catalog_integration(self, catalog_integration: CatalogIntegrationConfig) -> CatalogIntegration:
        """Register a catalog of catalogs.yml; sessions opened from now on have it."""
        if catalog_integration.name in self._catalog_names:
            known: CatalogIntegration = self.get_catalog_integration(catalog_integration.name)
            return known
        added = super().add_catalog_integration(catalog_integration)
        assert isinstance(added, catalogs_yml.PaimonCatalogIntegration)
        self._catalog_names.append(added.name)
        self.credentials.integrations[added.spark_catalog.name] = added.spark_catalog
        return added

    # -- defaults that will change (see docs/behavior-flags.md) -----------------------------------------------------

    def acquire_connection(self, name: str | None = None) -> Connection:
        """Called before dbt uses Spark: warns once per run if the profile does not set a Paimon version.

        Raises:
            DbtRuntimeError: the flag `require_paimon_version` is on.
        """
        if not self.credentials.names_paimon_version and not packages.connector_version(self.credentials):
            self._tell_of_default_version()
        connection: Connection = super().acquire_connection(name)
        return connection

    def _tell_of_default_version(self) -> None:
        taken, target = self.credentials.paimon_version, self.config.target_name
        what = f"target '{target}' of profile '{self.config.profile_name}' names no paimon_version"
        write = f"Write it into the target: paimon_version: '{taken}'"
        if behavior.is_on(self.behavior, behavior.PAIMON_VERSION):
            raise DbtRuntimeError(
                f"{what}, and the flag require_paimon_version is on (dbt_project.yml). {write}."
            )
        if self._told.first("paimon_version"):
            goes = f"{what}. {taken} is taken, a default that changes in 1.0."
            deprecations.deprecate(goes, f"{write}.")

    def _tell_of_loss(self, what: str) -> None:
        """Warn, once, that Spark's cast changed values, because the flag `require_lossless_casts` is off."""
        if self._told.first(what):
            deprecations.deprecate(what, _flag_goes(behavior.LOSSLESS_CASTS))

    def _tell_of_unread(self, what: str) -> None:
        """Warn about config that nothing reads, because the flag `require_strict_config` is off."""
        if self._told.first(what):
            deprecations.deprecate(what, _flag_goes(behavior.STRICT_CONFIG))

    @property
    def _loses(self) -> Callable[[str], None] | None:
        """The callback that warns about values changed by a cast; None if they are refused."""
        return None if behavior.is_on(self.behavior, behavior.LOSSLESS_CASTS) else self._tell_of_loss

    @property
    def _passes(self) -> Callable[[str], None] | None:
        """The callback that warns about config that nothing reads; None if it is refused."""
        return None if behavior.is_on(self.behavior, behavior.STRICT_CONFIG) else self._tell_of_unread

    # -- statements -------------------------------------------------------------------------------------------------

    def query(self, sql: str) -> list[Any]:
        """Run one of the adapter's own statements and return its rows.

        Raises:
            DbtDatabaseError: with a short message.
        """
        with self.connections.exception_handler(sql):
            _, cursor = self.connections.add_query(sql, auto_begin=False)
            return list(cursor.fetchall())

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement of a macro (see `PaimonConnectionManager.execute`).

        Raises:
            DbtDatabaseError: with a short message; if a table is not found, it lists similar ones.
        """
        with self._names_suggested():
            done: tuple[AdapterResponse, agate.Table] = super().execute(sql, auto_begin, fetch, limit)
            return done

    @available.parse(lambda *a, **k: ("", None))
    def write_table(
        self, relation: PaimonRelation, sql: str, kind: str, spec: TableSpec, conf: Mapping[str, str]
    ) -> tuple[Any, agate.Table]:
        """Run the statement that writes a model's rows into an existing table, holding the table's lock.

        Args:
            relation: the table.
            sql: the statement.
            kind: the kind of statement; if it may be repeated (see `conflicts.may_repeat`), it is retried after a
                conflict.
            spec: the table spec of the model.
            conf: Spark settings for this statement only.

        Raises:
            DbtDatabaseError: with a short message.
        """
        assert isinstance(self.connections, PaimonConnectionManager)
        with self._alone(relation):
            return self.connections.execute(
                sql, conf=conf, may_repeat=conflicts.may_repeat(kind, spec.merge_engine, spec.options)
            )

    @available
    def unique_suffix(self) -> str:
        """A suffix that makes the name of a temporary view unique, also across threads and batches."""
        return uuid.uuid4().hex[:12]

    @available
    def sort_keys(self, clause: str) -> tuple[ordering.SortKey, ...]:
        """The sort keys of an ORDER BY clause."""
        return ordering.sort_keys(clause)

    @available
    def safe_cast_sql(self, field: Any, data_type: str) -> str:
        """SQL that casts an expression, or a YAML value, to a type."""
        return literals.safe_cast(field, data_type)

    # -- listing ----------------------------------------------------------------------------------------------------

    def list_relations_without_caching(self, schema_relation: PaimonRelation) -> list[PaimonRelation]:  # type: ignore[override]
        """All tables and views of a schema, in at most two statements (three if another catalog stores views)."""
        database, schema = schema_relation.database, schema_relation.schema or ""
        if self.schema_problem(schema) or not self.has_catalog(database):
            return []  # There is no such schema, and asking Spark or Paimon for it would end the run.
        try:
            tables = self._table_names(schema_relation)
        except DbtRuntimeError as exc:
            if any(sign in str(exc) for sign in metadata.NOT_FOUND):
                return []
            raise
        tables = self._finish_swaps(schema_relation, tables)
        names = [(name, RelationType.Table) for name in tables if name != views.REGISTRY_TABLE]
        if not views.DIRECTORY.needed:
            found = [row[1] for row in self.query(metadata.list_views_sql(schema_relation))]
            names = [(name, kind) for name, kind in names if name not in found]
            names += [(name, RelationType.View) for name in found]
        elif database == self.credentials.database:
            definitions = self.view_registry.load(schema, tables)
            names += [(d.identifier, RelationType.View) for d in definitions if d.identifier not in tables]
        return [
            self.Relation.create(database=database, schema=schema, identifier=name, type=kind)
            for name, kind in names
        ]

    @available.parse_list
    def relations_like(
        self, database: str, schema_pattern: str, table_pattern: str, exclude: str = ""
    ) -> list[PaimonRelation]:
        """The tables and views whose names match ILIKE patterns, as dbt's cache has them.

        Args:
            database: the Spark catalog.
            schema_pattern: pattern of the schema's name; without `%` and `_` it is looked up as it is.
            table_pattern: pattern of the table's name.
            exclude: pattern of names to leave out; none if empty.
        """
        schemas = [schema_pattern]
        if set("%_") & set(schema_pattern):
            schemas = [name for name in self.list_schemas(database) if ilike(name, schema_pattern)]
        return [
            relation
            for schema in schemas
            for relation in self._listed(database, schema)
            if ilike(relation.identifier or "", table_pattern)
            and not (exclude and ilike(relation.identifier or "", exclude))
        ]

    def _listed(self, database: str | None, schema: str) -> list[PaimonRelation]:
        """The relations of a schema from dbt's cache, or else from a listing."""
        relations: Any = self.list_relations(database, schema)
        return list(relations)

    def _finish_swaps(self, schema_relation: PaimonRelation, tables: list[str]) -> list[str]:
        """Finish the swaps of killed processes, before anything asks whether a table exists.

        A process that is still running holds the table's lock and does the rename itself, so it is waited for. A thread
        that holds a lock waits for no other, and leaves such tables alone.
        """
        if schema_relation.database != self.credentials.database:
            return tables
        for rename in swaps.unfinished_swaps(tables):
            source = schema_relation.replace_path(identifier=rename.source).include(identifier=True)
            target = schema_relation.replace_path(identifier=rename.target).include(identifier=True)
            if not self._table_locks.may_wait_for(target.render()):
                continue
            with self._alone(target):
                if rename in swaps.unfinished_swaps(self._table_names(schema_relation)):
                    logger.info(
                        f"{target} was being replaced when a run died: {rename.source} takes its name"
                    )
                    try:
                        self.query(f"alter table {source} rename to {target.in_catalog}")
                    except DbtRuntimeError as exc:
                        # A node that does not need this table can continue.
                        logger.warning(f"{source} could not take the name {target.in_catalog}: {exc}")
                tables = self._table_names(schema_relation)
        return tables

    def _table_names(self, schema_relation: PaimonRelation) -> list[str]:
        """The names of a schema's tables; retried if a table disappears while they are listed."""
        sql = metadata.list_tables_sql(schema_relation)
        for seconds in conflicts.BACK_OFF:
            try:
                return [row[1] for row in self.query(sql)]
            except DbtRuntimeError as exc:  # noqa: PERF203 - a few attempts
                if metadata.GONE_MEANWHILE not in str(exc):
                    raise
                time.sleep(conflicts.pause(seconds))
        return [row[1] for row in self.query(sql)]

    def get_columns_in_relation(self, relation: PaimonRelation) -> list[PaimonColumn]:  # type: ignore[override]
        """The name and type of each column of a table or view, in order.

        For a source that is a folder or a topic, the columns that its YAML describes; empty if the relation does not
        exist.
        """
        try:
            rows = self.query(f"describe table {relation.render()}")
        except DbtRuntimeError as exc:
            if any(sign in str(exc) for sign in metadata.NOT_FOUND):
                return self._described_columns(relation)
            raise
        columns: list[PaimonColumn] = []
        for name, data_type, *_ in rows:
            if not name or name.startswith("# "):
                break
            columns.append(PaimonColumn(column=name, dtype=data_type, column_index=len(columns)))
        if any(not is_whole(column.dtype) for column in columns):
            return list(self._query_columns(f"select * from {relation.render()}"))
        return columns

    def _described_columns(self, relation: PaimonRelation) -> list[PaimonColumn]:
        if self.get_macro_resolver() is None:
            return []
        found: list[PaimonColumn] = self.execute_macro(
            "paimon__described_columns", kwargs={"relation": relation}
        )
        return found

    def _get_one_catalog(
        self,
        information_schema: InformationSchema,
        schemas: set[str],
        used_schemas: frozenset[tuple[str, str]],
    ) -> agate.Table:
        return self._catalog_rows(
            [
                relation
                for schema in sorted(schemas)
                for relation in self._listed(information_schema.database, schema)
            ]
        )

    def _get_one_catalog_by_relations(  # type: ignore[override]
        self,
        information_schema: InformationSchema,
        relations: Iterable[PaimonRelation],
        used_schemas: frozenset[tuple[str, str]],
    ) -> agate.Table:
        wanted = {(relation.schema, relation.identifier) for relation in relations}
        found = [
            relation
            for schema in sorted({schema or "" for schema, _ in wanted})
            for relation in self._listed(information_schema.database, schema)
            if (schema, relation.identifier) in wanted
        ]
        return self._catalog_rows(found)

    def get_catalog_for_single_relation(self, relation: PaimonRelation) -> CatalogTable | None:  # type: ignore[override]
        """Columns, comments and statistics of one relation; None if it does not exist."""
        (found,) = self._catalog_tables([relation])
        return found if found.columns else None

    def _catalog_rows(self, relations: Sequence[PaimonRelation]) -> agate.Table:
        import agate
        from dbt_common.clients.agate_helper import DEFAULT_TYPE_TESTER

        rows = docs.flat_rows(self._catalog_tables(relations))
        return agate.Table.from_object(rows, column_types=DEFAULT_TYPE_TESTER)

    def _catalog_tables(self, relations: Sequence[PaimonRelation]) -> list[CatalogTable]:
        tables = [r for r in relations if r.is_table and r.database in self.credentials.paimon_catalogs]
        found = [self._described(relation) for relation in relations if relation not in tables]
        for start in range(0, len(tables), docs.TABLES_A_STATEMENT):
            found += self._with_statistics(tables[start : start + docs.TABLES_A_STATEMENT])
        return found

    def _with_statistics(self, tables: Sequence[PaimonRelation]) -> list[CatalogTable]:
        """All tables in one statement; if it fails, each by itself, and a broken one without statistics."""
        try:
            rows = self.query(docs.tables_sql(tables))
        except DbtRuntimeError as exc:
            if len(tables) > 1:
                return [entry for table in tables for entry in self._with_statistics([table])]
            logger.debug(f"No statistics of {tables[0]}: {exc}")
            return [self._described(tables[0])]
        return [docs.from_row(tables[row[0]], row) for row in rows]

    def _described(self, relation: PaimonRelation) -> CatalogTable:
        """A view, or a table that is not a Paimon table: only its columns are known."""
        definition = views.DIRECTORY.get(relation.schema or "", relation.identifier or "")
        comments = definition.column_comments if definition and relation.is_view else {}
        return docs.describe(
            relation,
            [(c.name, c.dtype, comments.get(c.name)) for c in self.get_columns_in_relation(relation)],
            definition.comment if definition and relation.is_view else None,
        )

    @available
    def last_modified_sql(self, relations: Iterable[PaimonRelation]) -> str:
        """The statement that returns when each table last changed; empty if none of them is a Paimon table."""
        tables = [
            found
            for relation in relations
            for found in self._listed(relation.database, relation.schema or "")
            if found.identifier == relation.identifier and found.is_table
        ]
        return metadata.last_modified_sql([table for table in tables if self._is_paimons(table)])

    def _is_paimons(self, table: PaimonRelation) -> bool:
        """Whether a table is a Paimon table; Spark's session catalog also has tables of other formats."""
        if table.database != SESSION_CATALOG or table.database not in self.credentials.paimon_catalogs:
            return table.database in self.credentials.paimon_catalogs
        try:
            self._query_columns(f"select * from {table.system_table('schemas')}")
        except DbtRuntimeError:
            return False
        return True

    def calculate_freshness_from_metadata(
        self, source: BaseRelation, macro_resolver: MacroResolverProtocol | None = None
    ) -> tuple[AdapterResponse | None, FreshnessResponse]:
        """When a source's table last changed.

        Raises:
            DbtRuntimeError: it is not an existing Paimon table.
        """
        responses, found = self.calculate_freshness_from_metadata_batch([source], macro_resolver)
        if source not in found:
            raise DbtRuntimeError(
                f"{source} is no table of a Paimon catalog (a view, another format, or not there): when it last "
                "changed is not known without reading it. Name a column as loaded_at_field, or a loaded_at_query."
            )
        return next(iter(responses), None), found[source]

    # -- queries ----------------------------------------------------------------------------------------------------

    @available.parse(lambda *a, **k: None)
    def model_query(self, sql: str) -> ModelQuery:
        """A SQL model's query and its columns, analyzed by Spark in one statement.

        Raises:
            DbtDatabaseError: the query is invalid; says on which line.
        """
        sql = model_query.one_query(sql)
        return model_query.from_sql(sql, self._query_columns(sql))

    @available.parse(lambda *a, **k: "")
    def typed_query(self, sql: str) -> str:
        """A query with a type for each untyped NULL (see `data_types.typed_nulls`); unchanged if it has none.

        Raises:
            DbtDatabaseError: the query is invalid.
        """
        sql = model_query.one_query(sql)
        return model_query.with_typed_nulls(sql, self._query_columns(sql))

    @available.parse(lambda *a, **k: None)
    def staged_query(self, view: str) -> ModelQuery:
        """The rows and columns of a temporary view of this session."""
        return model_query.from_view(view, self._query_columns(f"select * from {quoted(view)}"))

    @available.parse(lambda *a, **k: None)
    def change_rows_sql(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> str | None:
        """The query that turns a model's change rows into rows of its table (see `spec.change_rows`).

        None if the query lacks a column that the model's config names; the check of columns reports that.
        """
        columns = [column.name for column in source.columns]
        named = {spec.options[change_rows.ROWKIND], *spec.primary_key, *change_rows.sequence_columns(spec)}
        if not named <= set(columns):
            return None
        wanted = self.wanted_columns(source.columns, model, spec)
        required = {column.name: column.data_type for column in wanted if not column.nullable}
        return change_rows.change_rows_sql(str(source), columns, required, spec, model["name"])

    @available.parse(lambda *a, **k: ())
    def sequence_columns(self, spec: TableSpec) -> tuple[str, ...]:
        """The columns that order the changes of a key (see `spec.change_rows`)."""
        return change_rows.sequence_columns(spec)

    @available.parse(lambda *a, **k: None)
    def kept_deletes(
        self, spec: TableSpec, columns: Sequence[ExistingColumn], current: ExistingTable | None
    ) -> KeptDeletes:
        """How the deletes that `apply_changes` has applied are kept (see `writing.kept_deletes`)."""
        return kept_deletes(spec, columns, current)

    def _query_columns(self, sql: str) -> tuple[PaimonColumn, ...]:
        """The columns of a query; it is analyzed but not run.

        Not DESCRIBE QUERY, which truncates the type of a wide struct (spark.sql.debug.maxToStringFields).
        """
        with self._names_suggested(), self.connections.exception_handler(sql):
            _, cursor = self.connections.add_query(sql, auto_begin=False)
            return tuple(
                PaimonColumn(column=name, dtype=data_type, column_index=index)
                for index, (name, data_type, *_) in enumerate(cursor.description)
            )

    # -- nodes ------------------------------------------------------------------------------------------------------

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Called when a node ends, successfully or not: drops its incomplete tables; the next run retries failures."""
        for relation in self._half_built.take():
            with suppress(DbtRuntimeError):
                self.query(f"drop table if exists {relation.render()}")
        self._release_locks()

    def release_connection(self) -> None:
        """Called when a node, hook or operation ends, successfully or not: releases its locks."""
        self._release_locks()
        super().release_connection()

    def _release_locks(self) -> None:
        self._table_locks.release()
        self._stream_locks.release()

    # -- tables -----------------------------------------------------------------------------------------------------

    @available
    def schema_problem(self, schema: str | None) -> str:
        """Why a schema name is invalid; empty if it is valid."""
        return names.schema_problem(schema or "")

    @available.parse_none
    def check_node(self, model: Mapping[str, Any]) -> None:
        """Refuse a node with an unknown catalog, an invalid schema or table name, or grants.

        Raises:
            DbtRuntimeError: each problem and its remedy.
        """
        problem = self.schema_problem(model.get("schema"))
        if not self.has_catalog(model.get("database")):
            problem = catalogs_yml.unknown_catalog(model["database"], self.credentials)
        if not problem and model.get("config", {}).get("materialized") != "view":
            problem = names.table_problem(model.get("alias") or "")
            catalog = self.credentials.catalog_of(model.get("database") or "")
            if not problem and catalog is not None:
                problem = names.metastore_problem(
                    catalog.metastore, model.get("schema") or "", model.get("alias") or ""
                )
        if problem:
            raise DbtRuntimeError(f"{model.get('resource_type', 'model')} '{model['name']}': {problem}")
        if model.get("config", {}).get("grants"):
            self.refuse("grants", model)
        self.check_foreign(model)

    @available
    def refuse(self, feature: str, model: Mapping[str, Any]) -> None:
        """Fail a node that uses a feature which neither Spark nor Paimon supports (see `errors.unsupported`).

        Raises:
            DbtRuntimeError: always.
        """
        raise DbtRuntimeError(unsupported.problem(feature, model))

    @available.parse(lambda *a, **k: {})
    def table_spec(self, model: Mapping[str, Any], default_primary_key: Sequence[str] = ()) -> TableSpec:
        """The validated table spec of a model; no SQL runs before this.

        Args:
            model: the node in the manifest.
            default_primary_key: the primary key if the config has none (snapshots).

        Raises:
            ConfigErrors: every problem of the config, in one message.
        """
        self.check_node(model)
        config = dict(model["config"])
        if default_primary_key and not config.get("primary_key"):
            config["primary_key"] = list(default_primary_key)
        spec = build_table_spec(
            config,
            model=model.get("name", ""),
            constraints=model.get("constraints") or [],
            columns=model.get("columns") or {},
            environment=self.environment,
            passes=self._passes,
        )
        self.advise(model, spec)
        return spec

    @available.parse(lambda *a, **k: ({}, ""))
    def incremental_plan(self, model: Mapping[str, Any]) -> tuple[TableSpec, str]:
        """The table spec and the strategy of an incremental model; no SQL runs before this.

        Raises:
            ConfigErrors: every problem of either, with the remedy.
        """
        self.check_node(model)
        spec, strategy = strategies.plan_incremental(
            model["config"],
            model=model.get("name", ""),
            constraints=model.get("constraints") or [],
            columns=model.get("columns") or {},
            environment=self.environment,
            passes=self._passes,
        )
        self.advise(model, spec)
        return spec, strategy

    @available.parse(lambda *a, **k: ())
    def wanted_columns(
        self, query_columns: Sequence[PaimonColumn], model: Mapping[str, Any], spec: TableSpec
    ) -> tuple[ExistingColumn, ...]:
        """The columns of a model's table: types from its query, NOT NULL and comments from its YAML.

        Raises:
            DbtRuntimeError: column names that a table cannot have.
        """
        if problems := names.column_problems(c.name for c in query_columns):
            raise DbtRuntimeError(
                f"{model.get('resource_type', 'model')} '{model['name']}': {' '.join(problems)}"
            )
        return wanted_columns([(c.name, c.dtype) for c in query_columns], model, spec)

    @available.parse(lambda *a, **k: None)
    def existing_table(self, relation: PaimonRelation) -> ExistingTable:
        """The existing table as the catalog describes it, in one statement.

        Raises:
            DbtRuntimeError: the session catalog has a table of another format by this name, or the table is
                redirected to a branch.
        """
        try:
            found = self.query(metadata.schemas_sql(relation))
        except DbtRuntimeError as exc:
            if relation.database == SESSION_CATALOG and any(sign in str(exc) for sign in metadata.NOT_FOUND):
                raise DbtRuntimeError(
                    f"{relation} is there and is no table of Paimon. Give the node another `alias` or `schema`, or "
                    "drop that table."
                ) from exc
            raise
        if not found:
            # Someone set the table option 'branch': Paimon then looks for the schema there [ran, 0.9.0].
            raise DbtRuntimeError(
                f"{relation} has an option that leads every read and write elsewhere. Take it from the table: "
                f"alter table {relation} unset tblproperties ('branch')"
            )
        return metadata.existing_table(found[0])

    @available.parse(lambda *a, **k: None)
    def table_changes(self, spec: TableSpec, existing: ExistingTable) -> Changeset:
        """The options and keys that differ between the wanted and the existing table."""
        return compute_changeset(
            spec, existing, self.environment, catalog_options=self.credentials.catalog_options
        )

    @available.parse(lambda *a, **k: None)
    def column_changes(
        self, wanted: Sequence[ExistingColumn], existing: ExistingTable, model: Mapping[str, Any]
    ) -> ColumnChanges:
        """The columns that differ between the wanted and the existing table."""
        persisted = (model["config"].get("persist_docs") or {}).get("columns", False)
        return compare_columns(wanted, existing, bool(persisted))

    @available.parse_none
    def refuse_immutable_changes(self, model: Mapping[str, Any], changes: Changeset) -> None:
        """Refuse changes that ALTER cannot make: an incremental run never rebuilds (see `changeset.refuse_rebuild`)."""
        changeset.refuse_rebuild(model["resource_type"], model["name"], changes)

    @available.parse(lambda model, spec, *a, **k: spec)
    def check_columns(
        self,
        model: Mapping[str, Any],
        spec: TableSpec,
        columns: Iterable[ExistingColumn],
        given: Iterable[ExistingColumn | PaimonColumn] | None = None,
    ) -> TableSpec:
        """Refuse a config that does not match the columns of its table, before any DDL.

        Args:
            model: the node in the manifest.
            spec: see `table_spec`.
            columns: the table's columns.
            given: the columns of the model's query, if they differ.

        Returns:
            The table spec, its columns spelled as the table has them.

        Raises:
            ConfigErrors: every problem (see `column_rules`).
        """
        types = {column.name: column.data_type for column in columns}
        checked = column_rules.check_columns(
            spec,
            list(types.items()),
            config=model["config"],
            model=model["name"],
            environment=self.environment,
            given=None if given is None else [column.name for column in given],
            builds=given is None,
        )
        self.advise(model, checked, types)
        return checked

    @available.parse(lambda spec, *a, **k: spec)
    def spelled(self, spec: TableSpec, source: ModelQuery) -> TableSpec:
        """The table spec, its columns spelled as in the model's query (see `spelling`)."""
        if self.environment.case_sensitive:
            return spec
        return spelling.spelled_as(spec, [column.name for column in source.columns])

    @available.parse(lambda source, *a, **k: source)
    def ordered_rows(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> ModelQuery:
        """A model's rows; a NaN in a sequence column fails the statement (see `ordering_values`)."""
        checked = ordering_values.checked(source.columns, spec, model)
        return source if checked is None else replace(source, text=f"(select {checked} from {source})")

    @available.parse(lambda *a, **k: None)
    def checked_source(
        self,
        source: ModelQuery,
        table_columns: Sequence[ExistingColumn],
        model: Mapping[str, Any],
        spec: TableSpec,
        applies: str = "",
    ) -> ModelQuery:
        """A node's rows, cast to its table's types; a row that violates the table fails the statement (`row_checks`).

        Args:
            source: the node's rows.
            table_columns: the table's columns when the statement runs.
            model: the node in the manifest.
            spec: its table spec.
            applies: SQL condition for the rows whose values are written; empty for all.

        Raises:
            CompilationError: columns whose types do not fit, or NOT NULL columns that are missing.
        """
        wanted = self.wanted_columns(source.columns, model, spec)
        tell = self._loses
        to = row_checks.destination(model, table_columns, wanted, spec, applies, lossless=tell is None)
        if tell is not None and (lossy := row_checks.lossy_columns(source.columns, to)):
            tell(
                f"{to.node}: {', '.join(lossy)}: stored as Spark casts it, losses included. Cast it in the query."
            )
        selected = row_checks.checked_columns(source.columns, to)
        if selected == [column.quoted for column in source.columns]:
            return source
        return replace(source, text=f"(select {', '.join(selected)} from {source})")

    @available.parse_none
    def check_schema_change(
        self,
        model: Mapping[str, Any],
        on_schema_change: str,
        strategy: str,
        spec: TableSpec,
        changes: ColumnChanges,
    ) -> None:
        """Refuse what `on_schema_change` forbids (see `column_changes.refuse_schema_change`)."""
        refuse_schema_change(model["name"], on_schema_change, strategy, spec.merge_engine, changes)

    @available.parse(lambda *a, **k: [])
    def table_predicates(
        self, model: Mapping[str, Any], strategy: str, columns: Sequence[ExistingColumn]
    ) -> list[str]:
        """The model's incremental_predicates, with bare columns qualified as the table's (see `predicates`)."""
        config = model["config"]
        wanted = predicates.as_list(config.get("predicates") or config.get("incremental_predicates"))
        # A strategy of the project has its own alias for the table.
        if not wanted or strategy not in strategies.STRATEGIES:
            return wanted
        return predicates.of_table(
            self._handle.references, wanted, [column.name for column in columns], model["name"]
        )

    @available
    @classmethod
    def quote(cls, identifier: str) -> str:
        """A name in backticks, escaped. dbt calls it on the class; dbt-spark's is an instance method."""
        return quoted(identifier)

    @available
    def string_literal(self, text: Any) -> str:
        """Any text as a Spark SQL string literal."""
        return string_literal(str(text))

    @available.parse_list
    def tables_to_drop_with(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """The tables to drop before their schema is dropped: JdbcCatalog.dropDatabaseImpl leaves their files behind."""
        catalog = self.credentials.catalog_of(schema.database or "")
        if catalog is None or catalog.metastore != "jdbc":
            return []
        return [found for found in self.list_relations_without_caching(schema) if found.is_table] + [
            schema.replace_path(identifier=views.REGISTRY_TABLE)
            .include(identifier=True)
            .replace(type=RelationType.Table)
        ]

    @available.parse(lambda *a, **k: "")
    def procedure_call(self, name: str, relation: PaimonRelation, arguments: Mapping[str, Any]) -> str:
        """The SQL of a CALL of a Paimon procedure, with its arguments checked.

        Raises:
            DbtRuntimeError: an unknown argument, a wrong type, or a Paimon version without it.
        """
        nested = Capability.REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS
        guarded = name == "remove_orphan_files" and not self.environment.supports(nested)
        if name == "compact":
            self.check_compaction(relation, arguments)
        # The procedure would wait for its own lock forever.
        if guarded and len(self.existing_table(relation).partition_by) > 1:
            self.environment.require(
                nested, f"remove_orphan_files on {relation}, which has several partition columns"
            )
        return procedures.render(
            name,
            (relation.database or "", relation.schema or "", relation.identifier or ""),
            dict(arguments),
            self.environment,
        )

    # -- seeds ------------------------------------------------------------------------------------------------------

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Neither Spark nor Paimon's Spark connector has a type for a time of day."""
        return "string"

    @available.parse(lambda *a, **k: None)
    def load_seed(self, model: Mapping[str, Any]) -> agate.Table:
        """The rows of a seed's file (see `seeds.load`).

        Raises:
            CompilationError: the file is malformed; names file, line and column.
        """
        # Found as dbt does: in the project or one of its packages, else where the manifest says.
        root = Path(self.config.project_root)
        if model["package_name"] != self.config.project_name:
            root = root / self.config.packages_install_path / model["package_name"]
        path = root / model["original_file_path"]
        if not path.exists():
            path = Path(model["root_path"] or root, model["original_file_path"])
        return seeds.load(path, model, self._passes, self._loses)

    @available.parse(lambda *a, **k: 0)
    def stage_seed(self, view_name: str, agate_table: agate.Table, model: Mapping[str, Any]) -> int:
        """Load a seed's rows into a typed temporary view of this thread's session; none with `--empty`.

        Returns:
            The number of rows in the view.

        Raises:
            DbtRuntimeError: a value does not fit its column's type; names file, column and row.
        """
        from dbt.flags import get_flags

        empty = bool(getattr(get_flags(), "EMPTY", False))
        seeds.stage(self._handle, view_name, agate_table, model, self.convert_type, empty, self._loses)
        return 0 if empty else len(agate_table.rows)

    @available.parse_none
    def stage_python_model(self, view_name: str, code: str, model: Mapping[str, Any]) -> None:
        """Run a Python model and register its data frame as a temporary view of this thread's session.

        Raises:
            DbtRuntimeError: the model raised an exception, or did not return a data frame.
        """
        with self._names_suggested():
            python_models.stage(self._handle, code, model, view_name)

    # -- constraints ------------------------------------------------------------------------------------------------

    @classmethod
    def process_parsed_constraint(
        cls, parsed_constraint: ColumnLevelConstraint | ModelLevelConstraint, render_func: Any
    ) -> str | None:
        """Warn about a constraint that Paimon does not support; dbt would accept any DDL in a `custom` one."""
        if parsed_constraint.type == ConstraintType.custom:
            if parsed_constraint.warn_unsupported:
                warn_or_error(ConstraintNotSupported(constraint="custom", adapter=cls.type()))
            return None
        rendered: str | None = super().process_parsed_constraint(parsed_constraint, render_func)
        return rendered

    # -- overrides of dbt-spark's code for other table formats -------------------------------------------------------

    @classmethod
    def _get_adapter_specific_run_info(cls, config: RelationConfig) -> dict[str, Any]:
        return {"adapter_type": "paimon", "table_format": "paimon"}

    def _make_match_kwargs(self, database: str, schema: str, identifier: str) -> dict[str, str]:
        """Names as they are: neither Spark nor Paimon changes the case of an unquoted name."""
        parts = {"database": database, "schema": schema, "identifier": identifier}
        return {name: part for name, part in parts.items() if part}

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Whether the catalog has the schema."""
        return schema in self.list_schemas(database)

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """As dbt does it: SparkAdapter allows only one database, but a project here may use several catalogs."""
        from dbt.adapters.base import BaseAdapter

        return BaseAdapter.get_catalog(self, relation_configs, used_schemas)


def _flag_goes(flag: BehaviorFlag) -> str:
    return f"The flag {flag['name']} goes in 1.0, and this is refused then."
