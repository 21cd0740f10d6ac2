"""The rows that a node writes: read from its query, seed file or Python model, and checked against its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.run_flags import is_empty_run, sample_of_run
from dbt.adapters.paimon.spark.analysis import UNTRUNCATED
from dbt.adapters.paimon.spec import change_rows, ordering_values, safeguards, spelling, strategies
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import event_time, predicates, quoted_names
from dbt.adapters.paimon.sql.statements import CACHE, KEEPS_PLANS, Statement
from dbt.adapters.paimon.sql.text import begins_query, quoted, without_end
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.writing import (
    dbt_snapshots,
    fixtures,
    model_query,
    node_file,
    python_models,
    read_limits,
    row_checks,
    seeds,
)
from dbt.adapters.paimon.writing.model_query import ModelQuery

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Paimon")


class Rows:
    """`adapter.rows` in macros."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables) -> None:
        self._adapter = adapter
        self._tables = tables

    # -- sources ----------------------------------------------------------------------------------------------------

    def query(self, sql: str) -> ModelQuery:
        """A SQL model's query and its columns, which Spark analyzes in one statement."""
        sql = model_query.one_query(sql)
        return model_query.from_sql(sql, self._adapter.query_columns(sql))

    def of_model(self, model: Mapping[str, Any], sql: str) -> ModelQuery:
        """As `query`, for a node; warns about string literals in double quotes that may be meant as names."""
        query = self.query(sql)
        self.warn_of_quoted_names(model, sql)
        return query

    @while_parsing(lambda *_, **__: "")
    def typed(self, sql: str) -> str:
        """A query with a type for each untyped NULL (see `data_types.typed_nulls`); unchanged if it has none."""
        sql = model_query.one_query(sql)
        return model_query.with_typed_nulls(sql, self._adapter.query_columns(sql))

    @staticmethod
    def without_end(sql: str) -> str:
        """A query without the semicolon at its end."""
        return without_end(sql)

    @staticmethod
    def end_of_header(header: str) -> str:
        """What separates a SQL header from the query after it; '' if the header begins the query."""
        return "" if begins_query(header) else "\n;"

    def warn_of_quoted_names(self, node: Mapping[str, Any], sql: str) -> None:
        """Warn once per node about string literals in double quotes that equal a column's name (see `quoted_names`).

        Sends statements only if `sql`, which Spark has accepted, has such literals.
        """
        found = quoted_names.suspects(sql)
        # With spark.sql.ansi.doubleQuotedIdentifiers, Spark already treats them as names.
        if not found or not self._adapter.once.first(("quoted", node["unique_id"])) or not self._accepts('select "a"'):
            return
        columns = found
        if not self._accepts(quoted_names.as_columns(sql, found)):
            columns = [name for name in found if self._accepts(quoted_names.as_columns(sql, [name]))]
        if columns:
            warn(quoted_names.warning(f"{node['resource_type']} '{node['name']}'", columns))

    def check_limit(self, model: Mapping[str, Any], sql: str) -> None:
        """Refuse a query that reads more than the model's `max_bytes_read`; without a limit, sends no statement."""
        if not safeguards.max_bytes_read(model["config"]):
            return
        if problem := read_limits.problem(model, read_limits.scans(self._adapter, sql)):
            raise DbtRuntimeError(problem)

    def _accepts(self, sql: str) -> bool:
        try:
            self._adapter.query_columns(sql)
        except DbtRuntimeError:
            return False
        return True

    def _of_view(self, view: str) -> ModelQuery:
        return ModelQuery(quoted(view), self._adapter.query_columns(f"select * from {quoted(view)}"), view)

    def cached(self, view: str, sql: str) -> ModelQuery:
        """Cache a query's rows in a temporary view of this session, for several statements."""
        self._cache("cache table", view, sql)
        return self._of_view(view)

    def keep(self, view: str, sql: str) -> None:
        """As `cached`, but the query runs when the view is first read."""
        self._cache("cache lazy table", view, sql)

    def _cache(self, command: str, view: str, sql: str) -> None:
        statement = Statement(f"{command} {quoted(view)} as\n{sql}", CACHE, KEEPS_PLANS)
        with self._adapter.names_suggested():
            self._adapter.connections.execute(statement)

    def load_seed(self, model: Mapping[str, Any]) -> agate.Table:
        """The rows of a seed's file (see `seeds.load`)."""
        path = node_file.path_of(model, self._adapter.config)
        return seeds.load(path, model, self._adapter.defaults.warn_lossy_cast)

    def of_seed(self, view: str, rows: agate.Table, model: Mapping[str, Any]) -> ModelQuery:
        """A seed's rows, in a typed temporary view of this thread's session; no rows with `--empty`."""
        adapter = self._adapter
        seeds.stage(
            adapter.handle, view, rows, model, adapter.convert_type, is_empty_run(), adapter.defaults.warn_lossy_cast
        )
        return self._of_view(view)

    def of_python_model(self, view: str, code: str, model: Mapping[str, Any]) -> ModelQuery:
        """Run a Python model, and register its data frame as a temporary view of this thread's session."""
        with self._adapter.names_suggested():
            path = node_file.path_of(model, self._adapter.config)
            file = path.read_text("utf-8") if path.is_file() else ""
            python_models.stage(self._adapter.handle, code, model, view, self._adapter.versions, file)
        return self._of_view(view)

    # -- checks -----------------------------------------------------------------------------------------------------

    def reject_nan_keys(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> ModelQuery:
        """A model's rows; a NaN in a key or a sequence makes the statement fail (see `ordering_values`)."""
        selected = ordering_values.select_list(source.columns, spec, model)
        return source if selected is None else source.selecting(selected)

    def checked(
        self,
        source: ModelQuery,
        table_columns: Sequence[ExistingColumn],
        model: Mapping[str, Any],
        spec: TableSpec,
        applies: str = "",
    ) -> ModelQuery:
        """A node's rows, cast to its table's types; an invalid row makes the statement fail (see `row_checks`).

        Args:
            table_columns: the table's columns when the statement runs.
            applies: SQL condition for the rows whose values are written; empty for all.

        Raises:
            CompilationError: columns whose types do not fit, or NOT NULL columns that are missing.
        """
        wanted = self._tables.wanted_columns(source.columns, model, spec)
        warn_lossy = self._adapter.defaults.warn_lossy_cast
        to = row_checks.destination(
            model, table_columns, wanted, spec, applies, lossless=warn_lossy is None, versions=self._adapter.versions
        )
        if warn_lossy is not None and (lossy := row_checks.lossy_columns(source.columns, to)):
            warn_lossy(
                f"{to.node}: {', '.join(lossy)}: stored with Spark's cast, which may lose data. Cast it in the query."
            )
        selected = row_checks.checked_columns(source.columns, to)
        if selected == [column.quoted for column in source.columns]:
            return source
        return source.selecting(", ".join(selected))

    def reads_alike(self, source: ModelQuery) -> bool:
        """Whether every read of a model's rows returns the same rows.

        If not, a statement that reads them several times could delete different rows than it inserts.
        """
        sql, spark = f"select * from {source}", self._adapter.handle.embedded()
        try:
            if spark is not None:
                return spark.reads_alike(sql)
            # EXPLAIN does not show whether a Python function is deterministic.
            return not source.view and model_query.is_stable_plan(self._explained(sql))
        except Exception as exc:  # noqa: BLE001 - from py4j or Spark; running the query reports its faults
            logger.debug(f"cannot determine whether the query is deterministic: {messages.error_text(exc)}")
            return model_query.seems_stable(source)

    def _explained(self, sql: str) -> str:
        with self._adapter.handle.configured(UNTRUNCATED):
            return "\n".join(str(row[0]) for row in self._adapter.query(f"explain extended {sql}"))

    def change_rows_sql(self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]) -> str | None:
        """The query that turns a model's change rows into rows of its table (see `spec.change_rows`).

        None if the query lacks a column named in the config; the check of columns reports that.
        """
        columns = [column.name for column in source.columns]
        named = {spec.options[change_rows.ROWKIND], *spec.primary_key, *spec.sequence_columns}
        if not named <= set(columns):
            return None
        wanted = self._tables.wanted_columns(source.columns, model, spec)
        required = {column.name: column.data_type for column in wanted if not column.nullable}
        return change_rows.change_rows_sql(str(source), columns, required, spec, model["name"])

    def predicates(self, model: Mapping[str, Any], strategy: str, columns: Sequence[ExistingColumn]) -> list[str]:
        """The model's incremental_predicates, with unqualified columns qualified by the table (see `predicates`)."""
        config = model["config"]
        wanted = predicates.as_list(strategies.incremental_predicates(config))
        # A custom strategy uses its own alias for the table.
        if not wanted or strategy not in strategies.STRATEGIES:
            return wanted
        return predicates.of_table(
            self._adapter.handle.references, wanted, [column.name for column in columns], model["name"]
        )

    # -- unit tests -------------------------------------------------------------------------------------------------

    def fixture_row(self, row: Mapping[str, Any], types: Mapping[str, str], model: Mapping[str, Any]) -> dict[str, str]:
        """The SQL of a unit test's row, by column (see `fixtures.row_sql`)."""
        fixture = f"'{model['name']}'"
        if model["resource_type"] == "unit_test":
            fixture = "expected output"
            fixtures.check_names(row, model["config"]["expected_rows"][0], model["name"])
        return fixtures.row_sql(row, types, fixture, check_values=self._adapter.defaults.warn_lossy_cast is None)

    # -- microbatch -------------------------------------------------------------------------------------------------

    def of_batch(self, source: ModelQuery, strategy: str, model: Mapping[str, Any]) -> ModelQuery:
        """A microbatch model's rows; a row outside the batch makes the statement fail (see `event_time.checked`).

        Raises:
            CompilationError: event_time is not a column, or neither a date nor a timestamp.
        """
        if strategy != strategies.MICROBATCH or not model["config"].get("event_time"):
            return source
        types = {column.name: column.dtype for column in source.columns}
        event_time.refuse_column(model["name"], model["config"]["event_time"], types)
        selected = event_time.checked(model, source.columns, _sample_of_run())
        return source if selected is None else source.selecting(selected)

    def batch_window(self, model: Mapping[str, Any], columns: Sequence[ExistingColumn]) -> str:
        """SQL condition for the rows of the model's table within the batch (see `event_time.batch_condition`).

        '' with `--empty`, because that batch has no rows. A Python model reads its inputs even then.
        """
        if is_empty_run() and model["language"] == "sql":
            return ""
        return event_time.batch_condition(model, columns, _sample_of_run())

    # -- snapshots --------------------------------------------------------------------------------------------------

    def check_snapshot(self, source: ModelQuery, model: Mapping[str, Any]) -> None:
        """Refuse a snapshot's query that lacks a column of `check_cols`, or has several rows with one key.

        Warns about rows without `updated_at` under `strategy: timestamp`.
        """
        dbt_snapshots.require_check_cols(source, model)
        found = self._adapter.query(dbt_snapshots.keys_sql(source, model["config"]))
        if found and (warning := dbt_snapshots.key_warning(model, found[0])):
            warn(warning)

    def spelled(self, source: ModelQuery, table: ExistingTable) -> ModelQuery:
        """A query whose columns are spelled as in its table (see `dbt_snapshots.spelled_rows`)."""
        if self._adapter.versions.case_sensitive:
            return source
        return dbt_snapshots.spelled_rows(source, [column.name for column in table.columns])

    @while_parsing(lambda names, *_, **__: list(names))
    def spelled_names(self, names: Sequence[str], columns: Sequence[PaimonColumn]) -> list[str]:
        """Spell names as in `columns`; a name that is not a column is unchanged."""
        if self._adapter.versions.case_sensitive:
            return list(names)
        return list(map(spelling.speller(column.name for column in columns), names))


def _sample_of_run() -> event_time.Window:
    sample = sample_of_run()
    return event_time.Window.of(*sample) if sample else event_time.UNBOUNDED
