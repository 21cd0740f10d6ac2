"""`adapter.tables`: existing tables, and how they differ from the tables that models ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.catalogs.catalog import SESSION_CATALOG
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.metadata import files, schemas, snapshots, tags
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.metadata.tags import LosableHistory
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import auto_buckets, column_rules
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.components.files import UNFILTERED, filterable
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import clocks, names
from dbt.adapters.paimon.sql.data_types import is_whole
from dbt.adapters.paimon.sql.text import ilike
from dbt.adapters.paimon.tables import changeset, clock_checks, column_changes, described, rebuilds
from dbt.adapters.paimon.tables.changeset import Changeset
from dbt.adapters.paimon.tables.column_changes import ColumnChanges
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.rebuilds import Rebuild

logger = AdapterLogger("Paimon")
# Prefix of the commit user for commits without rows.
_METADATA_MARK: Final = "dbt-metadata"


def _has_older_types(existing: ExistingTable) -> bool:
    if existing.older_types is not None:
        return bool(existing.older_types)
    # The types of the files are unknown; the options show whether filters were switched off because of older types.
    return all(existing.options.get(name) == value for name, value in UNFILTERED.items())


class Tables:
    """Finds tables, describes them and compares them with a model's table spec and columns."""

    def __init__(self, adapter: AdapterProtocol, specs: Specs) -> None:
        self._adapter = adapter
        self._specs = specs

    def existing(self, relation: PaimonRelation) -> ExistingTable:
        """The existing table as the catalog describes it, read with one or two statements.

        Raises:
            DbtRuntimeError: the table is not a Paimon table, is redirected to a branch, or has lost its files.
        """
        try:
            found = schemas.newest_first(self._adapter.query, relation)
        except DbtRuntimeError as exc:
            if relation.database == SESSION_CATALOG and is_not_found(exc):
                raise DbtRuntimeError(
                    f"{relation} exists and is not a Paimon table. Give the node another `alias` or `schema`, or "
                    "drop that table."
                ) from exc
            raise
        if not found:
            # With the option 'branch', Paimon looks for the schema in that branch [ran, 0.9.0]. Some REST catalogs
            # drop a schema's folder but keep its tables.
            raise DbtRuntimeError(
                f"{relation} is in the catalog, and Paimon finds no schema of it. If its option `branch` redirects "
                f"all reads and writes: alter table {relation} unset tblproperties ('branch'). If its files are gone: "
                f"drop table {relation}, and build it again."
            )
        return replace(ExistingTable.of(found[0]), older_types=self._older_types(relation, found))

    def _older_types(self, relation: PaimonRelation, found: Sequence[Schema]) -> tuple[tuple[str, str], ...]:
        """The older column types in a table's files; queries `$files` only if a column's type has ever changed."""
        # Newer versions need no check: WHERE finds all rows, even those in files with older types.
        if self._adapter.versions.supports(Capability.FILTERS_AFTER_CHANGE_TO_TEXT):
            return ()
        if not (earlier := schemas.older_types(found)):
            return ()
        used = earlier.keys() & files.schema_ids(self._adapter.query, relation)
        return tuple({pair for schema in used for pair in earlier[schema].items()})

    def warn_of_older_types(self, relation: PaimonRelation, existing: ExistingTable) -> None:
        """Warn if WHERE misses rows or fails in some files because another program altered a column's type."""
        versions, spec = self._adapter.versions, existing.as_spec()
        types = {column.name: column for column in existing.columns}
        found = {}
        for name, before in existing.older_types or ():
            old, data_type = replace(types[name], data_type=before), types[name].data_type
            if missing := column_changes.missing_filter_capability(old, data_type, spec, versions):
                found[f"{name} was {before}"] = missing
        if found:
            why = " ".join(versions.explain(missing) for missing in dict.fromkeys(found.values()))
            warn(
                f"{relation} has files from before an ALTER TABLE ({', '.join(found)}). A WHERE on such a column "
                f"misses rows or fails: {why} Rewrite them while nothing else writes the table: "
                f"insert overwrite {relation} select * from {relation}"
            )

    def changeset(
        self, catalog: str, spec: TableSpec, existing: ExistingTable, *, retypes: bool = False, rewrites: bool = False
    ) -> Changeset:
        """The options and keys that differ between the wanted and the existing table in a Spark catalog.

        Args:
            retypes: whether columns get a different type.
            rewrites: whether all rows are rewritten, so that no file keeps an older type.
        """
        spec = auto_buckets.with_existing_count(spec, existing.options)
        types = {column.name: column.data_type for column in existing.columns}
        older = retypes or (not rewrites and _has_older_types(existing))
        spec = filterable(spec, types, self._adapter.versions, older_types=older)
        defaults = self._adapter.credentials.table_defaults(catalog)
        return changeset.compute_changeset(spec, existing, self._adapter.versions, defaults)

    def commit_metadata(self, relation: PaimonRelation) -> None:
        """Commit an empty table snapshot, so that Paimon writes the metadata for Iceberg's readers.

        This needs an embedded Spark; with a server, Iceberg's readers see the table after its next commit.
        """
        spark = self._adapter.handle.embedded()
        if spark is None:
            logger.info(f"{relation}: Iceberg's readers do not see it until its next commit")
            return
        spark.commit_nothing(TableName(*relation.parts), _METADATA_MARK)

    def column_changes(
        self, wanted: Sequence[ExistingColumn], existing: ExistingTable, model: Mapping[str, Any]
    ) -> ColumnChanges:
        persisted = (model["config"].get("persist_docs") or {}).get("columns", False)
        changes = column_changes.compare_columns(wanted, existing, bool(persisted), self._adapter.versions)
        return changes if self._may_move_columns(existing, model) else replace(changes, move=())

    def _may_move_columns(self, existing: ExistingTable, model: Mapping[str, Any]) -> bool:
        """Whether ALTER may move columns.

        Hive refuses it, because it compares the types of columns by position. Paimon's top-N, on tables without a key,
        takes a column's id for its position (see `Capability.TOP_N`).
        """
        if self._adapter.credentials.metastore_of(model.get("database")) == "hive":
            return False
        return bool(existing.primary_key or self._adapter.versions.supports(Capability.TOP_N))

    def history(self, relation: PaimonRelation) -> LosableHistory:
        """The table snapshots and tags of a table; a table of another format has no history."""
        if not self._is_paimon_table(relation):
            return LosableHistory(0, 0)
        return tags.history(self._adapter.query, relation)

    def refuse_loss(
        self, model: Mapping[str, Any], relation: PaimonRelation, rebuild: Rebuild, full_refresh: bool
    ) -> None:
        """Raise DbtRuntimeError, or warn, if a rebuild would lose history without consent (see `rebuilds.refusal`)."""
        refusal = rebuilds.refusal(model, rebuild, full_refresh, lambda: self.history(relation))
        if not refusal:
            return
        warn = self._adapter.defaults.warn_history_loss
        if warn is None:
            raise DbtRuntimeError(f"{refusal} {rebuilds.REMEDY}")
        warn(refusal)

    def wanted_columns(
        self,
        query_columns: Sequence[PaimonColumn],
        model: Mapping[str, Any],
        spec: TableSpec,
        current: ExistingTable | None = None,
    ) -> tuple[ExistingColumn, ...]:
        """The columns of a model's table, from its query and YAML; raises DbtRuntimeError for an invalid name.

        `current`: the existing table, which determines the types of untyped NULLs.
        """
        if problems := names.column_problems(c.name for c in query_columns):
            raise DbtRuntimeError(f"{model.get('resource_type', 'model')} '{model['name']}': {' '.join(problems)}")
        expires = "record-level.expire-time" in spec.options
        needs_time = expires and not self._adapter.versions.supports(Capability.RECORD_EXPIRY_OF_NULL)
        return column_changes.wanted_columns(
            [(c.name, c.dtype) for c in query_columns],
            model,
            spec,
            [spec.options.get("record-level.time-field", "")] if needs_time else (),
            () if current is None else current.columns,
        )

    def check_columns(
        self,
        model: Mapping[str, Any],
        spec: TableSpec,
        columns: Iterable[ExistingColumn],
        given: Iterable[ExistingColumn | PaimonColumn] | None = None,
        dropped: Iterable[str] = (),
        new: bool = False,
    ) -> TableSpec:
        """Refuse a config that does not match the columns of its table, before any DDL.

        Args:
            columns: the table's columns.
            given: the columns of the model's query, if they differ from the table's.
            dropped: columns that are dropped after the rows are written.
            new: whether the table does not exist yet.

        Returns:
            The table spec, with columns spelled as in the table.

        Raises:
            ConfigErrors: lists all problems (see `column_rules`).
        """
        types = {column.name: column.data_type for column in columns}
        checked = column_rules.check_columns(
            spec,
            list(types.items()),
            config=model["config"],
            model=model["name"],
            versions=self._adapter.versions,
            given=None if given is None else [column.name for column in given],
            builds=given is None,
            dropped=tuple(dropped),
        )
        self._specs.doubt(model, checked, new=new)
        self._specs.advise(model, checked, types, clock_checks.warnings(self._adapter, model, checked, types))
        return checked

    @while_parsing(lambda *a, **k: [])
    def relations_like(
        self, database: str, schema_pattern: str, table_pattern: str, exclude: str = ""
    ) -> list[PaimonRelation]:
        """Cached relations whose names match the ILIKE patterns, without those that match `exclude`."""
        schemas = [schema_pattern]
        if set("%_") & set(schema_pattern):
            schemas = [name for name in self._adapter.list_schemas(database) if ilike(name, schema_pattern)]
        return [
            relation
            for schema in schemas
            for relation in self._adapter.list_relations(database, schema)
            if ilike(relation.identifier or "", table_pattern)
            and not (exclude and ilike(relation.identifier or "", exclude))
        ]

    def last_modified_sql(self, relations: Iterable[PaimonRelation]) -> str:
        """A query for the time of each table's last change; empty if there is no Paimon table among them."""
        tables = [
            found
            for relation in relations
            for found in self._adapter.list_relations(relation.database, relation.schema or "")
            if found.identifier == relation.identifier and found.is_table and self._is_paimon_table(found)
        ]
        return snapshots.last_modified_sql(tables)

    @while_parsing(lambda *a, **k: "")
    def loaded_at_sql(self, expression: str) -> str:
        """SQL for a source's `loaded_at_field` in UTC, which dbt expects (`_utc` in BaseAdapter).

        A TIMESTAMP_NTZ is not converted, because dbt documents that a time without a time zone is in UTC.
        """
        return (
            f"if(typeof({expression}) = 'timestamp_ntz', cast({expression} as timestamp_ntz), "
            f"{clocks.utc(f'cast({expression} as timestamp)')})"
        )

    def _is_paimon_table(self, table: PaimonRelation) -> bool:
        """Whether a table is a Paimon table; Spark's session catalog may contain tables of other formats."""
        catalogs = self._adapter.credentials.paimon_catalogs
        if table.database != SESSION_CATALOG or table.database not in catalogs:
            return table.database in catalogs
        try:
            schemas.newest_first(self._adapter.query, table)
        except DbtRuntimeError:
            return False
        return True

    def described(self, relation: PaimonRelation) -> list[PaimonColumn] | None:
        """The columns of a table or view, in order; None if it does not exist."""
        try:
            rows = self._adapter.query(f"describe table {relation.render()}")
        except DbtRuntimeError as exc:
            if is_not_found(exc):
                return None
            raise
        columns = [
            PaimonColumn(column=name, dtype=data_type, column_index=index)
            for index, (name, data_type, *_) in enumerate(described.columns_of(rows))
        ]
        if any(not is_whole(column.dtype) for column in columns):
            return list(self._adapter.query_columns(f"select * from {relation.render()}"))
        return columns
