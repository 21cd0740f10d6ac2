"""The adapter that dbt talks to: each method asks one module and runs what it says."""

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

    # Paimon enforces NOT NULL, and the primary key by merging; the rest it does not know.
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
            # Batches are made ready side by side; their one statement each takes its turn (see microbatch.sql).
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
        """The profile's target."""
        credentials: PaimonCredentials = self.config.credentials
        return credentials

    @cached_property
    def environment(self) -> Environment:
        """Versions and catalog kind, known without starting Spark."""
        return Environment(
            paimon=parse_version(packages.effective_paimon_version(self.credentials)),
            spark=parse_version(self._spark_version),
            catalog_kind=self.credentials.metastore,
            case_sensitive=self.credentials.spark_config.get("spark.sql.caseSensitive", "").lower() == "true",
        )

    @property
    def _spark_version(self) -> str:
        """PySpark's; the Spark of a Thrift server is not known, and asks for no PySpark here."""
        if self.credentials.method != PaimonConnectionMethod.THRIFT:
            return installation.require(self.credentials.method)
        try:
            return installation.spark_version()
        except DbtRuntimeError:
            return USUAL_SPARK

    @property
    def _handle(self) -> Handle:
        """The handle of this thread."""
        handle: Handle = self.connections.get_thread_connection().handle
        return handle

    @property
    def view_catalog(self) -> str:
        """The catalog that holds views: the Paimon catalog where it can, else the profile's `view_catalog`."""
        if self.credentials.view_catalog:
            return self.credentials.view_catalog
        if self.credentials.spark_catalog.is_sessions:
            return self.credentials.database
        return self.credentials.database if self.environment.supports(Capability.VIEWS) else "spark_catalog"

    @cached_property
    def view_registry(self) -> ViewRegistry:
        """The views of a catalog that cannot hold them."""
        catalog = self.credentials.database

        def alone(schema: str) -> AbstractContextManager[None]:
            return self._alone(
                self.Relation.create(database=catalog, schema=schema, identifier=views.REGISTRY_TABLE)
            )

        return ViewRegistry(catalog, self.query, alone)

    @classmethod
    def is_cancelable(cls) -> bool:
        """Spark jobs can be cancelled by their tag."""
        return True

    def valid_incremental_strategies(self) -> list[str]:
        """The strategies that come with the adapter; any other name is a macro of the project."""
        return list(strategies.STRATEGIES)

    @available.parse(lambda *a, **k: [])
    def builtin_incremental_strategies(self) -> list[str]:
        """dbt checks a model's strategy against these before it looks for a macro."""
        return list(strategies.STRATEGIES)

    def debug_query(self) -> None:
        """`dbt debug`: a table is created, written, read and dropped, and what is there is told in a few lines."""
        debug.check(self, logger.info, logger.debug)

    # -- catalogs.yml -----------------------------------------------------------------------------------------------

    def add_catalog_integration(self, catalog_integration: CatalogIntegrationConfig) -> CatalogIntegration:
        """Take a catalog of catalogs.yml in; sessions that are opened from now on have it."""
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
        """dbt is about to use Spark: a profile that does not say for which Paimon is told so, once a run.

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
        """Values are stored as Spark casts them, for the flag `require_lossless_casts` is off."""
        if self._told.first(what):
            deprecations.deprecate(what, _flag_goes(behavior.LOSSLESS_CASTS))

    def _tell_of_unread(self, what: str) -> None:
        """What was passed over until the flag `require_strict_config` came, which is off."""
        if self._told.first(what):
            deprecations.deprecate(what, _flag_goes(behavior.STRICT_CONFIG))

    @property
    def _loses(self) -> Callable[[str], None] | None:
        """Whom to tell of values that a cast changes; None if they are refused."""
        return None if behavior.is_on(self.behavior, behavior.LOSSLESS_CASTS) else self._tell_of_loss

    @property
    def _passes(self) -> Callable[[str], None] | None:
        """Whom to tell of config that nothing reads; None if it is refused."""
        return None if behavior.is_on(self.behavior, behavior.STRICT_CONFIG) else self._tell_of_unread

    # -- statements -------------------------------------------------------------------------------------------------

    def query(self, sql: str) -> list[Any]:
        """Run a statement of the adapter's own and give its rows.

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
            DbtDatabaseError: with a short message; where a table is not there, with those that are.
        """
        with self._names_suggested():
            done: tuple[AdapterResponse, agate.Table] = super().execute(sql, auto_begin, fetch, limit)
            return done

    @available.parse(lambda *a, **k: ("", None))
    def write_table(
        self, relation: PaimonRelation, sql: str, kind: str, spec: TableSpec, conf: Mapping[str, str]
    ) -> tuple[Any, agate.Table]:
        """Run the statement that writes a model's rows into a table that is there, as its only writer.

        Args:
            relation: the table.
            sql: the statement.
            kind: what it is (see `conflicts.may_repeat`); if it may, it is sent again where another writer came before.
            spec: the table as the model wants it.
            conf: Spark settings that hold for it alone.

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
        """Text that makes the name of a temporary view its own, also among threads and batches."""
        return uuid.uuid4().hex[:12]

    @available
    def sort_keys(self, clause: str) -> tuple[ordering.SortKey, ...]:
        """The keys of an ORDER BY clause."""
        return ordering.sort_keys(clause)

    @available
    def safe_cast_sql(self, field: Any, data_type: str) -> str:
        """SQL of a type: a cast of an expression, or of a value of YAML."""
        return literals.safe_cast(field, data_type)

    # -- listing ----------------------------------------------------------------------------------------------------

    def list_relations_without_caching(self, schema_relation: PaimonRelation) -> list[PaimonRelation]:  # type: ignore[override]
        """All tables and views of a schema, in two statements at most (three where views live elsewhere)."""
        database, schema = schema_relation.database, schema_relation.schema or ""
        if self.schema_problem(schema) or not self.has_catalog(database):
            return []  # There is none, and Spark or Paimon would end the run by asking for it.
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
        """The tables and views whose names match patterns of ILIKE, as dbt's cache knows them.

        Args:
            database: the Spark catalog.
            schema_pattern: of the schema's name; one without `%` and `_` is looked up as it is.
            table_pattern: of the table's name.
            exclude: of names to leave out; none if empty.
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
        """The relations of a schema as the cache has them, or as one listing finds them."""
        relations: Any = self.list_relations(database, schema)
        return list(relations)

    def _finish_swaps(self, schema_relation: PaimonRelation, tables: list[str]) -> list[str]:
        """Do the second rename of a swap whose process died, before anything asks whether the table is there.

        A process that lives holds the table: it does the rename itself, and is waited for. Who holds a table waits for
        no other, and leaves theirs alone.
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
                        # Whoever does not need this table can go on.
                        logger.warning(f"{source} could not take the name {target.in_catalog}: {exc}")
                tables = self._table_names(schema_relation)
        return tables

    def _table_names(self, schema_relation: PaimonRelation) -> list[str]:
        """The names of a schema's tables, asked for again where one of them has gone while they were listed."""
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
        """Name and type of each column of a table or view, in order.

        Of a source that is a folder or a topic those that its YAML describes; none if there is nothing of that name.
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
        """Columns, comments and statistics of one relation; None if there is no such relation."""
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
        """All tables in one statement; where one of them breaks it, each by itself, the broken one without figures."""
        try:
            rows = self.query(docs.tables_sql(tables))
        except DbtRuntimeError as exc:
            if len(tables) > 1:
                return [entry for table in tables for entry in self._with_statistics([table])]
            logger.debug(f"No statistics of {tables[0]}: {exc}")
            return [self._described(tables[0])]
        return [docs.from_row(tables[row[0]], row) for row in rows]

    def _described(self, relation: PaimonRelation) -> CatalogTable:
        """A view, or a table that is not Paimon's: its columns are all that is known."""
        definition = views.DIRECTORY.get(relation.schema or "", relation.identifier or "")
        comments = definition.column_comments if definition and relation.is_view else {}
        return docs.describe(
            relation,
            [(c.name, c.dtype, comments.get(c.name)) for c in self.get_columns_in_relation(relation)],
            definition.comment if definition and relation.is_view else None,
        )

    @available
    def last_modified_sql(self, relations: Iterable[PaimonRelation]) -> str:
        """The statement that tells when each of some tables last changed; empty if none of them is a Paimon table."""
        tables = [
            found
            for relation in relations
            for found in self._listed(relation.database, relation.schema or "")
            if found.identifier == relation.identifier and found.is_table
        ]
        return metadata.last_modified_sql([table for table in tables if self._is_paimons(table)])

    def _is_paimons(self, table: PaimonRelation) -> bool:
        """Whether a table has Paimon's system tables; in Spark's own catalog others live beside Paimon's."""
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
            DbtRuntimeError: there is no such Paimon table.
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
        """A SQL model's query and its columns, checked by Spark in one statement.

        Raises:
            DbtDatabaseError: Spark does not take it, and which line is wrong.
        """
        sql = model_query.one_query(sql)
        return model_query.from_sql(sql, self._query_columns(sql))

    @available.parse(lambda *a, **k: "")
    def typed_query(self, sql: str) -> str:
        """A query whose untyped NULLs have a type (see `data_types.typed_nulls`); one without any as it is.

        Raises:
            DbtDatabaseError: Spark does not take it.
        """
        sql = model_query.one_query(sql)
        return model_query.with_typed_nulls(sql, self._query_columns(sql))

    @available.parse(lambda *a, **k: None)
    def staged_query(self, view: str) -> ModelQuery:
        """The rows of a temporary view of this session, and its columns."""
        return model_query.from_view(view, self._query_columns(f"select * from {quoted(view)}"))

    @available.parse(lambda *a, **k: None)
    def change_rows_sql(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> str | None:
        """The query of a model's change rows as its table takes them (see `change_rows`).

        None if the model's query lacks a column that its config names, which the check of columns refuses.
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
        """The columns that order the changes of a key (see `change_rows`)."""
        return change_rows.sequence_columns(spec)

    @available.parse(lambda *a, **k: None)
    def kept_deletes(
        self, spec: TableSpec, columns: Sequence[ExistingColumn], current: ExistingTable | None
    ) -> KeptDeletes:
        """How the deletes that `apply_changes` applies to a table are kept (see `kept_deletes`)."""
        return kept_deletes(spec, columns, current)

    def _query_columns(self, sql: str) -> tuple[PaimonColumn, ...]:
        """The columns of a query, which is analyzed and not run.

        Not DESCRIBE QUERY: it cuts the type of a wide struct short (spark.sql.debug.maxToStringFields).
        """
        with self._names_suggested(), self.connections.exception_handler(sql):
            _, cursor = self.connections.add_query(sql, auto_begin=False)
            return tuple(
                PaimonColumn(column=name, dtype=data_type, column_index=index)
                for index, (name, data_type, *_) in enumerate(cursor.description)
            )

    # -- nodes ------------------------------------------------------------------------------------------------------

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """A node has ended, well or not: drop what it left half built. What cannot be dropped, the next run clears."""
        for relation in self._half_built.take():
            with suppress(DbtRuntimeError):
                self.query(f"drop table if exists {relation.render()}")
        self._release_locks()

    def release_connection(self) -> None:
        """A node, a hook or an operation has ended, well or not: others may write what it held."""
        self._release_locks()
        super().release_connection()

    def _release_locks(self) -> None:
        self._table_locks.release()
        self._stream_locks.release()

    # -- tables -----------------------------------------------------------------------------------------------------

    @available
    def schema_problem(self, schema: str | None) -> str:
        """Why a schema cannot have this name; empty if it can."""
        return names.schema_problem(schema or "")

    @available.parse_none
    def check_node(self, model: Mapping[str, Any]) -> None:
        """Refuse a node whose catalog there is not, whose schema or table cannot have its name, and one with grants.

        Raises:
            DbtRuntimeError: what is wrong, and what to do.
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
        """End a node that asks for what neither Spark nor Paimon can do (see `unsupported`).

        Raises:
            DbtRuntimeError: always.
        """
        raise DbtRuntimeError(unsupported.problem(feature, model))

    @available.parse(lambda *a, **k: {})
    def table_spec(self, model: Mapping[str, Any], default_primary_key: Sequence[str] = ()) -> TableSpec:
        """The table a model asks for, validated; no SQL runs before this.

        Args:
            model: the node of the manifest.
            default_primary_key: the key of a table whose config names none (snapshots).

        Raises:
            ConfigErrors: everything that is wrong with the config, in one message.
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
        """The table and the strategy of an incremental model; no SQL runs before this.

        Raises:
            ConfigErrors: everything that is wrong with either, and what to use instead.
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
        """The columns of a model's table: types of its query, NOT NULL and comments of its YAML.

        Raises:
            DbtRuntimeError: names that no table can have.
        """
        if problems := names.column_problems(c.name for c in query_columns):
            raise DbtRuntimeError(
                f"{model.get('resource_type', 'model')} '{model['name']}': {' '.join(problems)}"
            )
        return wanted_columns([(c.name, c.dtype) for c in query_columns], model, spec)

    @available.parse(lambda *a, **k: None)
    def existing_table(self, relation: PaimonRelation) -> ExistingTable:
        """The table as the catalog has it, in one statement.

        Raises:
            DbtRuntimeError: it is a table of another format, in Spark's own catalog; or it leads to a branch.
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
            # An option 'branch' that somebody gave the table: Paimon looks for its schema there [ran, 0.9.0].
            raise DbtRuntimeError(
                f"{relation} has an option that leads every read and write elsewhere. Take it from the table: "
                f"alter table {relation} unset tblproperties ('branch')"
            )
        return metadata.existing_table(found[0])

    @available.parse(lambda *a, **k: None)
    def table_changes(self, spec: TableSpec, existing: ExistingTable) -> Changeset:
        """Options and keys that differ between the wanted table and the one there is."""
        return compute_changeset(
            spec, existing, self.environment, catalog_options=self.credentials.catalog_options
        )

    @available.parse(lambda *a, **k: None)
    def column_changes(
        self, wanted: Sequence[ExistingColumn], existing: ExistingTable, model: Mapping[str, Any]
    ) -> ColumnChanges:
        """Columns that differ between the wanted table and the one there is."""
        persisted = (model["config"].get("persist_docs") or {}).get("columns", False)
        return compare_columns(wanted, existing, bool(persisted))

    @available.parse_none
    def refuse_immutable_changes(self, model: Mapping[str, Any], changes: Changeset) -> None:
        """An increment never rebuilds: what ALTER cannot change is refused (see `changeset.refuse_rebuild`)."""
        changeset.refuse_rebuild(model["resource_type"], model["name"], changes)

    @available.parse(lambda model, spec, *a, **k: spec)
    def check_columns(
        self,
        model: Mapping[str, Any],
        spec: TableSpec,
        columns: Iterable[ExistingColumn],
        given: Iterable[ExistingColumn | PaimonColumn] | None = None,
    ) -> TableSpec:
        """Refuse a config that the columns of its table do not bear, before any DDL.

        Args:
            model: the node of the manifest.
            spec: see `table_spec`.
            columns: those of the table.
            given: those of the model's query, if they are others.

        Returns:
            The table, its columns named as they are spelled.

        Raises:
            ConfigErrors: every problem at once (see `column_rules`).
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
        """The table, its columns named as the model's query spells them (see `spelling`)."""
        if self.environment.case_sensitive:
            return spec
        return spelling.spelled_as(spec, [column.name for column in source.columns])

    @available.parse(lambda source, *a, **k: source)
    def ordered_rows(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> ModelQuery:
        """A model's rows, which end their statement where a sequence is no number (see `ordering_values`)."""
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
        """A node's rows as its table takes them: a row that it must not have ends the statement (`row_checks`).

        Args:
            source: the rows.
            table_columns: of the table when the statement runs.
            model: the node of the manifest.
            spec: its table.
            applies: SQL condition of the rows whose values are written; empty for all.

        Raises:
            CompilationError: columns whose types do not fit, or that are NOT NULL and not given.
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
        """The model's incremental_predicates, a bare column being the table's (see `predicates`)."""
        config = model["config"]
        wanted = predicates.as_list(config.get("predicates") or config.get("incremental_predicates"))
        # A strategy of the project's own has its own names for the table.
        if not wanted or strategy not in strategies.STRATEGIES:
            return wanted
        return predicates.of_table(
            self._handle.references, wanted, [column.name for column in columns], model["name"]
        )

    @available
    @classmethod
    def quote(cls, identifier: str) -> str:
        """A name in backticks; one in it is doubled. dbt asks the class, where dbt-spark answers for an instance."""
        return quoted(identifier)

    @available
    def string_literal(self, text: Any) -> str:
        """A Spark SQL string literal of any text."""
        return string_literal(str(text))

    @available.parse_list
    def tables_to_drop_with(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """The tables of a schema that have to be dropped before it: JdbcCatalog.dropDatabaseImpl keeps their files."""
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
        """The SQL of a Paimon procedure, its arguments checked by type.

        Raises:
            DbtRuntimeError: an unknown argument, a wrong type, or a Paimon that lacks it.
        """
        nested = Capability.REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS
        guarded = name == "remove_orphan_files" and not self.environment.supports(nested)
        if name == "compact":
            self.check_compaction(relation, arguments)
        # The procedure would wait for itself and never end.
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
            CompilationError: it is no table: file, line and column.
        """
        # As dbt finds it: in the project or one of its packages, else where the manifest says.
        root = Path(self.config.project_root)
        if model["package_name"] != self.config.project_name:
            root = root / self.config.packages_install_path / model["package_name"]
        path = root / model["original_file_path"]
        if not path.exists():
            path = Path(model["root_path"] or root, model["original_file_path"])
        return seeds.load(path, model, self._passes, self._loses)

    @available.parse(lambda *a, **k: 0)
    def stage_seed(self, view_name: str, agate_table: agate.Table, model: Mapping[str, Any]) -> int:
        """Put the rows of a seed into a temporary view of this thread's session, typed; none of them with `--empty`.

        Returns:
            How many rows the view has.

        Raises:
            DbtRuntimeError: a value that its column's type does not take; names file, column and row.
        """
        from dbt.flags import get_flags

        empty = bool(getattr(get_flags(), "EMPTY", False))
        seeds.stage(self._handle, view_name, agate_table, model, self.convert_type, empty, self._loses)
        return 0 if empty else len(agate_table.rows)

    @available.parse_none
    def stage_python_model(self, view_name: str, code: str, model: Mapping[str, Any]) -> None:
        """Run a Python model and put its frame into a temporary view of this thread's session.

        Raises:
            DbtRuntimeError: the model raised, or returned no frame.
        """
        with self._names_suggested():
            python_models.stage(self._handle, code, model, view_name)

    # -- constraints ------------------------------------------------------------------------------------------------

    @classmethod
    def process_parsed_constraint(
        cls, parsed_constraint: ColumnLevelConstraint | ModelLevelConstraint, render_func: Any
    ) -> str | None:
        """Warn of a constraint that Paimon does not know; dbt's own takes DDL of any kind (`custom`) for granted."""
        if parsed_constraint.type == ConstraintType.custom:
            if parsed_constraint.warn_unsupported:
                warn_or_error(ConstraintNotSupported(constraint="custom", adapter=cls.type()))
            return None
        rendered: str | None = super().process_parsed_constraint(parsed_constraint, render_func)
        return rendered

    # -- what dbt-spark does for formats that this adapter does not write -------------------------------------------

    @classmethod
    def _get_adapter_specific_run_info(cls, config: RelationConfig) -> dict[str, Any]:
        return {"adapter_type": "paimon", "table_format": "paimon"}

    def _make_match_kwargs(self, database: str, schema: str, identifier: str) -> dict[str, str]:
        """Names as they are: neither Spark nor Paimon folds the case of one that a project does not quote."""
        parts = {"database": database, "schema": schema, "identifier": identifier}
        return {name: part for name, part in parts.items() if part}

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Whether the catalog has the schema."""
        return schema in self.list_schemas(database)

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """dbt's own way: SparkAdapter allows one database only, a project here may use several catalogs."""
        from dbt.adapters.base import BaseAdapter

        return BaseAdapter.get_catalog(self, relation_configs, used_schemas)


def _flag_goes(flag: BehaviorFlag) -> str:
    return f"The flag {flag['name']} goes in 1.0, and this is refused then."
