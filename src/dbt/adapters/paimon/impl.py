"""The adapter class that dbt loads: dbt's methods, which delegate to one object per feature."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from dbt.adapters.base import available
from dbt.adapters.base.impl import DEFAULT_BASE_BEHAVIOR_FLAGS, BaseAdapter
from dbt.adapters.base.relation import InformationSchema
from dbt.adapters.catalogs import DbtCatalogIntegrationNotFoundError
from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.events.types import ConstraintNotSupported
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.contracts.constraints import ColumnLevelConstraint, ConstraintType, ModelLevelConstraint
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from dbt_common.utils.executor import executor

from dbt.adapters.paimon import (
    behavior_flags,
    catalogs_yml,
    dbt_capabilities,
    debug,
    dispatch,
    kept_results,
    profile,
    shell_hint,
)
from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.changes.api import Changes
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.error_hints.suggestions import Suggestions
from dbt.adapters.paimon.errors.messages import StatementError
from dbt.adapters.paimon.errors.redaction import tell_dbt
from dbt.adapters.paimon.errors.warnings import OnceARun
from dbt.adapters.paimon.flag_warnings import ChangingDefaults
from dbt.adapters.paimon.macro_api import lazy_feature, macro_api
from dbt.adapters.paimon.maintenance.api import Maintenance
from dbt.adapters.paimon.maintenance.health import Health
from dbt.adapters.paimon.operations.api import Operations
from dbt.adapters.paimon.options.capability_names import capability_named
from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.buckets import Buckets
from dbt.adapters.paimon.plan.materialized_views.api import MaterializedViews
from dbt.adapters.paimon.plan.runs import Runs
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark import early_start
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.launch import packages
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.config import PaimonConfig
from dbt.adapters.paimon.sql import literals, ordering, users_statement, views
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted, string_literal, unquoted
from dbt.adapters.paimon.streaming.api import Streams
from dbt.adapters.paimon.tables import freshness
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.docs_catalog import DocsCatalog
from dbt.adapters.paimon.tables.known_catalogs import KnownCatalogs
from dbt.adapters.paimon.tables.schemas import Schemas
from dbt.adapters.paimon.time_travel.api import History
from dbt.adapters.paimon.time_travel.audits import Audits
from dbt.adapters.paimon.time_travel.clones import Clones
from dbt.adapters.paimon.unchanged.api import Unchanged
from dbt.adapters.paimon.unchanged.data_tests import DataTests
from dbt.adapters.paimon.unchanged.fingerprints import Fingerprinter
from dbt.adapters.paimon.views.api import Views
from dbt.adapters.paimon.writing import node_settings
from dbt.adapters.paimon.writing.api import Rows
from dbt.adapters.paimon.writing.deletes import Deletes
from dbt.adapters.paimon.writing.listing import Listing
from dbt.adapters.paimon.writing.row_deletes import RowDeletes
from dbt.adapters.paimon.writing.table_writer import TableWriter

if TYPE_CHECKING:
    import agate
    from dbt.adapters.base.impl import FreshnessResponse
    from dbt.adapters.base.relation import BaseRelation
    from dbt.adapters.catalogs import CatalogIntegration, CatalogIntegrationConfig, CatalogRelation, CatalogV2
    from dbt.adapters.contracts.connection import AdapterResponse, Connection
    from dbt.adapters.contracts.macros import MacroResolverProtocol
    from dbt_common.contracts.metadata import CatalogTable


class PaimonAdapter(SparkAdapter):
    """dbt's adapter for Apache Paimon tables through Spark."""

    Relation = PaimonRelation  # type: ignore[assignment]
    Column = PaimonColumn
    ConnectionManager = PaimonConnectionManager
    connections: PaimonConnectionManager
    AdapterSpecificConfigs = PaimonConfig  # type: ignore[assignment]

    CATALOG_INTEGRATIONS = catalogs_yml.CATALOG_INTEGRATIONS

    CONSTRAINT_SUPPORT = dbt_capabilities.CONSTRAINTS
    _capabilities = dbt_capabilities.CAPABILITIES

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        profile.check_threads(config)
        dispatch.add_search_orders(config)
        kept_results.keep(config)
        shell_hint.give(config)
        self.once = OnceARun()
        self.defaults = ChangingDefaults(config, lambda: self.behavior, self.once)
        self._node_settings = node_settings.NodeSettings(self)
        self._known_catalogs = KnownCatalogs(self)
        self._suggestions = Suggestions(self, self._known_catalogs)
        self._catalog_names: list[str] = []
        for integration in catalogs_yml.of_project(config, self.bridge_v2_catalog):
            self.add_catalog_integration(integration)
        PaimonRelation.know_catalogs(self.credentials.database, self._known_catalogs.has_as_far_as_known)
        views.DIRECTORY.configure(self.credentials.database, self.view_catalog, self.credentials.unique_field)
        early_start.begin(self.runtime)

    # -- features: macros call a `macro_api` as `adapter.<feature>.<method>(...)`; only Python uses a `lazy_feature`

    specs = macro_api(Specs)
    health = macro_api(Health)
    # Builds tables: locks, staging tables, swaps.
    builds = lazy_feature(TableWriter)
    # Write, audit, publish.
    audits = lazy_feature(Audits)
    fingerprinter = lazy_feature(Fingerprinter)

    @macro_api
    def tables(self) -> Tables:
        """Existing tables, and their differences from a spec."""
        return Tables(self, self.specs)

    @macro_api
    def schemas(self) -> Schemas:
        return Schemas(self, self.specs.schema_problem, self.views.ensure_schema)

    @macro_api
    def rows(self) -> Rows:
        """The rows that a node writes: queries, seeds, Python models."""
        return Rows(self, self.tables)

    @lazy_feature
    def deletes(self) -> Deletes:
        """The deletes that `apply_changes` stores."""
        return Deletes(self, self.tables, self.streams.id_of_model)

    @lazy_feature
    def row_deletes(self) -> RowDeletes:
        return RowDeletes(self, self.tables, self.builds, self.deletes)

    @lazy_feature
    def changes(self) -> Changes:
        return Changes(self, self.tables, self.builds, self.clones.behind)

    @lazy_feature
    def unchanged(self) -> Unchanged:
        """Skips nodes whose inputs have not changed."""
        return Unchanged(self, self.fingerprinter)

    @macro_api
    def unchanged_tests(self) -> DataTests:
        """Skips data tests that have passed on the same rows."""
        return DataTests(self, self.fingerprinter)

    @macro_api
    def streams(self) -> Streams:
        return Streams(self, self.specs, self.tables, self.rows, self.builds, self.changes.incremental_catalog)

    @macro_api
    def clones(self) -> Clones:
        return Clones(self, self.specs, self.tables, views.DIRECTORY)

    @macro_api
    def history(self) -> History:
        """Time travel, tags and branches."""
        return History(self, self.tables, self.clones)

    @macro_api
    def maintenance(self) -> Maintenance:
        """Compaction, expiry, buckets and Paimon's procedures."""
        return Maintenance(self, self.specs, self.tables, self.builds)

    @lazy_feature
    def buckets(self) -> Buckets:
        return Buckets(self, self.maintenance)

    @lazy_feature
    def materialized_views(self) -> MaterializedViews:
        return MaterializedViews(self, self.tables, self.changes)

    @macro_api
    def plans(self) -> Plans:
        return Plans(
            adapter=self,
            specs=self.specs,
            tables=self.tables,
            rows=self.rows,
            builds=self.builds,
            deletes=self.deletes,
            buckets=self.buckets,
            streams=self.streams,
            changes=self.changes,
            clones=self.clones,
            history=self.history,
            unchanged=self.unchanged,
            materialized_views=self.materialized_views,
            audits=self.audits,
            maintenance=self.maintenance,
            row_deletes=self.row_deletes,
            views=self.views,
        )

    @macro_api
    def runs(self) -> Runs:
        return Runs(self.plans)

    @macro_api
    def views(self) -> Views:
        return Views(self, self.builds, views.DIRECTORY)

    @macro_api
    def operations(self) -> Operations:
        return Operations(self, self.plans, views.DIRECTORY)

    @available
    def has_capability(self, capability: str) -> bool:
        """Whether the versions in use have the `Capability` of this name; dbt can call this while it parses."""
        return self.versions.supports(capability_named(capability))

    @available
    def unique_suffix(self) -> str:
        """A suffix that makes the name of a temporary view unique across threads and batches."""
        return uuid.uuid4().hex[:12]

    @available
    def sort_keys(self, clause: str) -> tuple[ordering.SortKey, ...]:
        return ordering.sort_keys(clause)

    @available
    def safe_cast_sql(self, field: Any, data_type: str) -> str:
        """SQL that casts an expression or a YAML value to a type."""
        return literals.safe_cast(field, data_type)

    @available
    @classmethod
    def quote(cls, identifier: str) -> str:
        """A name in backticks, escaped; a class method, because dbt calls it on the class."""
        return quoted(identifier)

    @available
    def string_literal(self, text: Any) -> str:
        return string_literal(str(text))

    # -- used by features (see `adapter_protocol`) --------------------------------------------------------------------

    @property
    def credentials(self) -> PaimonCredentials:
        return cast("PaimonCredentials", self.config.credentials)

    @property
    def runtime(self) -> Runtime:
        return self.connections.runtime

    @property
    def versions(self) -> Versions:
        """The versions and the catalog kind; does not start Spark."""
        return self.runtime.versions

    @property
    def handle(self) -> Handle:
        return cast("Handle", self.connections.get_thread_connection().handle)

    @property
    def view_catalog(self) -> str:
        """The catalog that stores views (see `Runtime.view_catalog`)."""
        return self.runtime.view_catalog

    def query(self, sql: str) -> list[Any]:
        """Run one of the adapter's own statements and return its rows."""
        with self.connections.exception_handler(sql):
            _, cursor = self.connections.add_query(Statement(sql), auto_begin=False)
            return list(cursor.fetchall())

    def query_columns(self, sql: str) -> tuple[PaimonColumn, ...]:
        """The columns of a query, which is analyzed but not run.

        DESCRIBE QUERY would truncate the type of a wide struct (spark.sql.debug.maxToStringFields).
        """
        with self.names_suggested(), self.connections.exception_handler(sql):
            _, cursor = self.connections.add_query(Statement(sql), auto_begin=False)
            return tuple(
                PaimonColumn(column=name, dtype=data_type, column_index=index)
                for index, (name, data_type, *_) in enumerate(cursor.description)
            )

    def names_suggested(self) -> AbstractContextManager[None]:
        """A context in which the error for a missing table lists similar names."""
        return self._suggestions.added()

    @available.parse(lambda *a, **k: True)
    def has_catalog(self, name: str | None) -> bool:
        """Whether Spark has a catalog; asks Spark only if neither the profile nor catalogs.yml defines it."""
        return self._known_catalogs.has(name)

    # -- runs -------------------------------------------------------------------------------------------------------

    def valid_incremental_strategies(self) -> list[str]:
        """The adapter's own strategies; dbt looks up any other name as a macro of the project."""
        return list(strategies.STRATEGIES)

    def submit_python_job(self, parsed_model: Mapping[str, Any], compiled_code: str) -> AdapterResponse:
        """Override: refuse the Python `statement` of a materialization, which dbt-spark would send to Databricks."""
        self.specs.refuse("python", parsed_model)

    def debug_query(self) -> None:
        """`dbt debug`: create, write, read and drop a table, and print a few lines about the connection."""
        debug.check(self)

    @property
    def _behavior_flags(self) -> list[BehaviorFlag]:
        # Each adapter instance appends its flags to DEFAULT_BASE_BEHAVIOR_FLAGS, which lives as long as the process.
        # Without this filter, the list would grow with every command of the dbt-paimon shell.
        known = {flag["name"] for flag in DEFAULT_BASE_BEHAVIOR_FLAGS}
        return [flag for flag in behavior_flags.FLAGS if flag["name"] not in known]

    def acquire_connection(self, name: str | None = None) -> Connection:
        """Override: before dbt uses Spark, report the default Paimon version if the profile sets none.

        If the flag require_paimon_version is on, raise an error for such a profile instead.
        """
        if chosen := packages.default_version(self.credentials):
            self.defaults.default_version(chosen)
        return super().acquire_connection(name)

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement of a macro; correct or refuse a DELETE for which Paimon would remove the wrong rows."""
        with self.names_suggested():
            prepared, conf = self.row_deletes.prepared(sql)
            try:
                return self.connections.execute(users_statement.read(prepared, conf), auto_begin, fetch, limit)
            except StatementError as exc:
                # The error's line is looked up in the node's own SQL.
                exc.statement = exc.statement.replace(prepared, sql)
                raise

    def get_column_schema_from_query(self, sql: str) -> list[PaimonColumn]:
        """The columns of a query, for a contract."""
        with self.names_suggested():
            return list(super().get_column_schema_from_query(sql))

    def execute_macro(
        self,
        macro_name: str,
        macro_resolver: MacroResolverProtocol | None = None,
        project: str | None = None,
        context_override: dict[str, Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        needs_conn: bool = False,
    ) -> Any:
        """Run a macro.

        If an operation of the adapter shares its name with a dbt macro, as `drop_table` does, `dbt run-operation` runs
        the operation (see `Operations.macro_named`).
        """
        resolver = macro_resolver or self._macro_resolver
        macro_name = self.operations.macro_named(macro_name, resolver, project, kwargs or {})
        # `dbt show` looks up this macro without a dispatch; it puts the header in front of the query.
        if macro_name == "get_show_sql" and kwargs and (header := kwargs["sql_header"]):
            kwargs = {**kwargs, "sql_header": f"{header}{self.rows.end_of_header(header)}"}
        return super().execute_macro(macro_name, macro_resolver, project, context_override, kwargs, needs_conn)

    def pre_model_hook(self, config: Mapping[str, Any]) -> ExitStack:
        """Called when a node begins: describe it in the Spark UI, and apply its `spark_config` until it ends."""
        block = ExitStack()
        block.enter_context(self._node_settings.applied(config))
        kind = (config.get("materialized"), config.get("incremental_strategy"))
        self.connections.describe_node(", ".join(str(part) for part in kind if part))
        return block

    def post_model_hook(self, config: Mapping[str, Any], context: ExitStack) -> None:
        """Called when a node has succeeded or failed: drop its incomplete tables, and release its locks."""
        self.connections.describe_node("")
        self.builds.drop_half_built()
        self._release_locks()
        node_settings.closed(context)

    def release_connection(self) -> None:
        """Called when a node, hook or operation has succeeded or failed: release its locks."""
        self._release_locks()
        super().release_connection()

    def _release_locks(self) -> None:
        self.builds.release()
        self.streams.release()

    # -- catalogs.yml -----------------------------------------------------------------------------------------------

    def add_catalog_integration(self, catalog_integration: CatalogIntegrationConfig) -> CatalogIntegration:
        """Register a catalog of catalogs.yml, for sessions that are opened later."""
        if catalog_integration.name in self._catalog_names:
            return cast("CatalogIntegration", self.get_catalog_integration(catalog_integration.name))
        added = super().add_catalog_integration(catalog_integration)
        assert isinstance(added, catalogs_yml.PaimonCatalogIntegration)
        self._catalog_names.append(added.name)
        self.credentials.integrations[added.spark_catalog.name] = added.spark_catalog
        tell_dbt(self.credentials.secrets)
        return added

    @available
    def get_catalog_integration(self, name: str) -> CatalogIntegration:
        """The catalog of catalogs.yml that a node sets in `catalog_name`."""
        try:
            return cast("CatalogIntegration", super().get_catalog_integration(name))
        except DbtCatalogIntegrationNotFoundError:
            raise CompilationError(catalogs_yml.unknown_integration(name, self._catalog_names)) from None

    @available
    def build_catalog_relation(self, config: RelationConfig) -> CatalogRelation | None:
        """The catalog of a node with a `catalog_name`; None for other nodes. Errors name the node."""
        with catalogs_yml.node_named(config):
            return cast("CatalogRelation | None", super().build_catalog_relation(config))

    def _v2_table_format(self, catalog: CatalogV2) -> str:
        return catalogs_yml.v2_table_format(catalog)

    def _translate_v2_properties(self, catalog_type: str, props: dict[str, Any]) -> dict[str, Any]:
        """Convert a catalog's options in catalogs.yml from version 2 to version 1."""
        return {name: value for name, value in props.items() if name != "catalog_database"}

    # -- relations --------------------------------------------------------------------------------------------------

    def list_schemas(self, database: str | None) -> list[str]:
        """The schemas of a catalog, by default the target's; empty if Spark does not have the catalog."""
        # dbt lists the schemas of all nodes before it runs any of them, so an error here would not name the node.
        database = database or self.credentials.database
        if not self.has_catalog(unquoted(database)):
            return []
        # Spark puts names that are not identifiers in backticks.
        return [unquoted(name) for name in super().list_schemas(database)]

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Whether a catalog has this schema."""
        return schema in self.list_schemas(database)

    def set_relations_cache(self, *arguments: Any, **more: Any) -> None:
        """Fill dbt's relation cache; in commands that might not need Spark, only when the cache is first used."""
        list_models = partial(super().set_relations_cache, *arguments, **more)

        def listing() -> None:
            list_models()
            self._list_views_of_sources()

        if early_start.may_end_without_spark():
            self.connections.deferred_cache_fill.defer(listing)
        else:
            listing()

    def _list_views_of_sources(self) -> None:
        """List the views of other projects, because dbt's cache has only the schemas of this project's models."""
        sources = getattr(self.get_macro_resolver(), "sources", {}).values()
        database = self.credentials.database
        named = {each.schema for each in sources if each.database == database}
        # Listing the others has already read their views.
        schemas = sorted(schema for schema in named if not self._schema_is_cached(database, schema))
        if views.DIRECTORY.needed and schemas:
            with executor(self.config) as pool:
                pool.submit_connected(
                    self, "list_views_of_sources", views.DIRECTORY.list_schemas, schemas, self.query
                ).result()

    def list_relations(self, database: str | None, schema: str) -> list[BaseRelation]:
        """The relations of a schema, from dbt's cache if it has the schema."""
        self.connections.deferred_cache_fill.flush()
        database = PaimonRelation.catalog_of(database, schema)
        # dbt's cache ignores the case of schema names, and may return another schema's relations.
        return [found for found in super().list_relations(database, schema) if found.schema == schema]

    def list_relations_without_caching(self, schema_relation: PaimonRelation) -> list[PaimonRelation]:  # type: ignore[override]
        """All tables and views of a schema (see `writing.listing`)."""
        return self._listing.relations(schema_relation)

    def get_relation(self, database: str | None, schema: str | None, identifier: str | None) -> PaimonRelation | None:
        """A relation by its name, from dbt's cache.

        If `database` is missing, or equals `schema` as in macros written for dbt-spark, the target's catalog is used.
        """
        database = PaimonRelation.catalog_of(database, schema) or self.credentials.database
        return cast("PaimonRelation | None", super().get_relation(database, schema or "", identifier or ""))

    @cached_property
    def _listing(self) -> Listing:
        return Listing(self, self.builds, views.DIRECTORY, self.views.load)

    def get_columns_in_relation(self, relation: PaimonRelation) -> list[PaimonColumn]:  # type: ignore[override]
        """The columns of a table or view; for a source that is a folder or Kafka topic, those declared in YAML.

        Empty if the relation does not exist.
        """
        found = self.tables.described(relation)
        if found is not None or self.get_macro_resolver() is None:
            return found or []
        return list(self.execute_macro("paimon__described_columns", kwargs={"relation": relation}))

    def _make_match_kwargs(self, database: str, schema: str, identifier: str) -> dict[str, str]:
        """Override: keeps the case of names, as Spark and Paimon do."""
        parts = (("database", database), ("schema", schema), ("identifier", identifier))
        return {name: part for name, part in parts if part}

    # -- dbt docs and source freshness --------------------------------------------------------------------------------

    @cached_property
    def _docs_catalog(self) -> DocsCatalog:
        return DocsCatalog(self, views.DIRECTORY)

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """Override: SparkAdapter allows only one database, but a Paimon project may use several catalogs."""
        return BaseAdapter.get_catalog(self, relation_configs, used_schemas)

    def _get_one_catalog(
        self, information_schema: InformationSchema, schemas: set[str], used_schemas: frozenset[tuple[str, str]]
    ) -> agate.Table:
        return self._docs_catalog.of_schemas(information_schema.database, schemas)

    def _get_one_catalog_by_relations(  # type: ignore[override]
        self,
        information_schema: InformationSchema,
        relations: Iterable[PaimonRelation],
        used_schemas: frozenset[tuple[str, str]],
    ) -> agate.Table:
        return self._docs_catalog.of_relations(information_schema.database, relations)

    def get_catalog_for_single_relation(self, relation: PaimonRelation) -> CatalogTable | None:  # type: ignore[override]
        """Columns, comments and statistics of a relation."""
        (found,) = self._docs_catalog.entries([relation])
        return found if found.columns else None

    def calculate_freshness_from_metadata(
        self, source: BaseRelation, macro_resolver: MacroResolverProtocol | None = None
    ) -> tuple[AdapterResponse | None, FreshnessResponse]:
        """The time of a source's last change; the source must be an existing Paimon table."""
        responses, found = self.calculate_freshness_from_metadata_batch([source], macro_resolver)
        if source not in found:
            raise DbtRuntimeError(freshness.no_last_change(source))
        return next(iter(responses), None), found[source]

    def calculate_freshness_from_metadata_batch(
        self, sources: list[BaseRelation], macro_resolver: MacroResolverProtocol | None = None
    ) -> tuple[list[AdapterResponse | None], dict[BaseRelation, FreshnessResponse]]:
        """Override: dbt finds a batch's sources by schema and name, so those of two catalogs need two batches."""
        responses: list[AdapterResponse | None] = []
        found: dict[BaseRelation, FreshnessResponse] = {}
        for batch in freshness.batches(sources):
            answers, times = super().calculate_freshness_from_metadata_batch(batch, macro_resolver)
            responses += answers
            found |= times
        return responses, found

    # -- constraints and types ----------------------------------------------------------------------------------------

    @classmethod
    def process_parsed_constraint(
        cls, parsed_constraint: ColumnLevelConstraint | ModelLevelConstraint, render_func: Any
    ) -> str | None:
        """Warn about a `custom` constraint, in which dbt would accept any DDL."""
        if parsed_constraint.type == ConstraintType.custom:
            if parsed_constraint.warn_unsupported:
                warn_or_error(ConstraintNotSupported(constraint="custom", adapter=cls.type()))
            return None
        return super().process_parsed_constraint(parsed_constraint, render_func)

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """A string, because Spark has no type for a time of day."""
        return "string"

    @classmethod
    def _get_adapter_specific_run_info(cls, config: RelationConfig) -> dict[str, Any]:
        return {"adapter_type": "paimon", "table_format": "paimon"}
