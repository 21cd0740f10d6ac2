"""Reads the query, key and config of a materialized view from its model."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from typing import Final

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node, table_name
from dbt.adapters.paimon.catalogs.catalog import SESSION_CATALOG
from dbt.adapters.paimon.errors.messages import StatementError
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.metadata.table_versions import other_state
from dbt.adapters.paimon.options.table_options import did_you_mean
from dbt.adapters.paimon.plan.materialized_views.query import Query, SourceColumns
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason
from dbt.adapters.paimon.plan.materialized_views.refresh import Mode, View
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.run_flags import is_empty_run
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import repeatable, views
from dbt.adapters.paimon.sql.text import is_empty, quoted
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.unchanged import queries
from dbt.adapters.paimon.writing import model_query

# Options that merge or drop rows; a view has exactly the rows of its query.
_NOT_ALLOWED: Final = re.compile(
    r"merge-engine|sequence\.field|rowkind\.field|fields\..*|(.*\.)?ignore-delete|record-level\.expire-time"
    r"|partition\.expiration-time"
)
_HARMLESS: Final = ("false", "deduplicate")
# Types that Paimon does not allow in a key, or whose equal values may have different bytes, as 0.0 and -0.0 have.
_NO_KEY: Final = ("float", "double", "array", "map", "struct", "binary", "variant")
# Nodes of Spark's analyzed plan for which a query is refused, even if the parser missed them.
_PLANS: Final = frozenset("Expand Generate ScriptTransformation Window".split()) | repeatable.CHOOSING_NODES
_LOGICAL: Final = "org.apache.spark.sql.catalyst.plans.logical."
_OTHER_TABLES: Final = "Spark reads other tables"


class Definitions:
    """Reads materialized views from their models."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables) -> None:
        self._adapter = adapter
        self._tables = tables

    def view(self, node: Node) -> View:
        """Read a view from its model; raises CompilationError if its config is wrong or does not fit its query."""
        from dbt.adapters.paimon.plan.materialized_views import analyzer

        if node.get("language", "sql") != "sql":
            raise CompilationError(
                f"model '{node['name']}': a materialized_view is a SELECT. Use materialized='table' for a Python model."
            )
        view = View(model_query.one_query(node["compiled_code"]), _mode(node))
        query = None
        session_views: list[str] = []
        try:
            query = analyzer.analyze(view.sql, cache(partial(self._lookup, session_views)))
            # Spark may not be able to analyze the text of a view as a part of the query.
            types = self._checked_types(query, prepared=_is_prepared(node) or query.sql != view.sql)
        except NotIncremental as refusal:
            view = replace(view, refusal=(query and query.refusal) or refusal)
        else:
            view = _with_key(node, replace(view, query=query, refusal=query.refusal), query, types)
        remedy = "Remove primary_key, or state the key of the query"
        _refuse_merging_key(f"model '{node['name']}': primary_key", view, _names(node, "primary_key"), remedy)
        if not is_empty(node["config"].get("sql_header") or ""):
            # It runs once the changed rows are known, and may change what the query returns.
            view = replace(view, refusal=NotIncremental(Reason.SQL_HEADER))
        elif session_views:
            # Spark runs such a view with the settings that it has stored, and matches its columns by their names.
            # So the key of the query with the view's text may be wrong.
            why = NotIncremental(Reason.SESSION_VIEW, session_views[0])
            view = replace(view, key=_names(node, "primary_key"), refusal=why)
        if view.mode is Mode.INCREMENTAL and view.refusal is not None:
            raise CompilationError(
                f"model '{node['name']}': refresh_mode='incremental', but its query cannot be refreshed "
                f"incrementally: {view.refusal.words}. Change the query, or set refresh_mode='auto'. See "
                "docs/materialized-views.md."
            )
        return view

    def existing(self, relation: PaimonRelation) -> ExistingTable:
        """Look up a table in the catalog; runs no Spark job if Spark is in this process."""
        spark = self._adapter.handle.embedded()
        if spark is None:
            return self._tables.existing(relation)
        return ExistingTable.of(spark.schema(table_name(relation)))

    def _lookup(self, session_views: list[str], name: tuple[str, ...]) -> SourceColumns | str | None:
        """Look up a name in a query (see `parsing.Lookup`), and note a view of `spark_catalog` in `session_views`."""
        credentials = self._adapter.credentials
        table = self._full_name(name)
        stored = views.DIRECTORY.get(table.schema, table.identifier)
        if stored is not None and table.catalog in (self._adapter.view_catalog, credentials.database):
            # Spark runs a view with the settings of the view, not with those of its reader.
            if stored.settings != views.stored_settings(self._adapter.handle.changed_settings()):
                raise NotIncremental(Reason.VIEW_SETTINGS, table.identifier)
            return stored.query
        relation = self._adapter.get_relation(table.catalog, table.schema, table.identifier)
        if table.catalog not in credentials.paimon_catalogs or relation is None:
            return None
        if relation.is_view:
            if table.catalog == SESSION_CATALOG:
                session_views.append(table.identifier)
            return _query_of_view(self._adapter.query(f"describe table extended {relation.render()}"))
        existing = self.existing(relation)
        if problem := other_state(existing.options):
            raise NotIncremental(Reason.FUNCTION, f"it reads {table.shown}, which {problem}")
        columns = {column.name: column.data_type for column in existing.columns}
        return SourceColumns(table, columns, existing.primary_key)

    def _full_name(self, name: tuple[str, ...]) -> TableName:
        return TableName.of(name, self._adapter.credentials.database, self._adapter.credentials.schema)

    def _checked_types(self, query: Query, *, prepared: bool) -> Mapping[str, str]:
        """The column types of a query; refuses a query that may return different rows next time.

        Checks Spark's analyzed plan if Spark is in this process; otherwise checks only the names in the SQL.
        `prepared`: whether hooks or a header run before the query.
        """
        from dbt.adapters.paimon.plan.materialized_views import parsing

        if is_empty_run():
            # No check with `--empty`: dbt limits the sources, and the next run is a full refresh.
            return self._types(query, prepared=prepared)
        spark = self._adapter.handle.embedded()
        if spark is None:
            parsing.refuse_short_names(query.sql)
            parsing.refuse_unknown_functions(query.sql)
            parsing.refuse_unknown_names(query.sql, itertools.chain(*(table.columns for table in query.tables)))
            return self._types(query, prepared=prepared)
        parsing.refuse_replaced(query.sql)
        with self._analysis(query.sql, prepared=prepared):
            plan = spark.analyzed(query.sql)
        if why := queries.volatile(plan):
            raise NotIncremental(Reason.FUNCTION, why)
        planned = {_folded(name) for name in plan.tables}
        if query.refusal is None:
            _refuse_plan(query, plan.classes, planned)
            # Spark may know an aggregate that sqlglot takes for a function of one row.
            if plan.aggregates > parsing.group_bys(query.sql):
                raise NotIncremental(Reason.NO_GROUP_BY)
        # Even the SQL of a refused query must name every table that it reads, because a full refresh pins them.
        if not planned <= {_folded(self._full_name(name)) for name in parsing.table_names(query.sql)}:
            raise NotIncremental(Reason.NOT_READABLE, _OTHER_TABLES)
        if not plan.reads_alike:
            raise NotIncremental(Reason.FUNCTION, "its result depends on the order of rows")
        return {name.lower(): kind.lower() for name, kind in plan.columns}

    def _types(self, query: Query, *, prepared: bool) -> Mapping[str, str]:
        """The column types of a query; empty if it is refused, because they are not needed."""
        if query.refusal is not None:
            return {}
        with self._analysis(query.sql, prepared=prepared):
            columns = self._adapter.query_columns(query.sql)
        return {column.name.lower(): column.dtype.lower() for column in columns}

    @contextmanager
    def _analysis(self, sql: str, *, prepared: bool) -> Iterator[None]:
        """Refuse a query that Spark cannot analyze yet, if a hook or header may create what it needs."""
        try:
            with self._adapter.connections.exception_handler(sql):
                yield
        except StatementError as exc:
            if not prepared:
                raise
            raise NotIncremental(Reason.NOT_ANALYZED, str(exc.msg).splitlines()[0]) from exc


def _is_prepared(node: Node) -> bool:
    """Whether a hook or header may create what the query reads."""
    return any(node["config"].get(key) for key in ("pre-hook", "pre_hook", "sql_header"))


def _with_key(node: Node, view: View, query: Query, types: Mapping[str, str]) -> View:
    if view.refusal is not None:
        return view
    key = _names(node, "primary_key") or query.key
    if query.groups is not None and not _names(node, "primary_key") and not _never_null(query):
        # A group may be NULL, but a key column may not. So the table has no key, and each refresh rewrites it.
        key = ()
    refusal = _refused_key(query, key, _names(node, "primary_key"), _names(node, "partition_by"), types)
    return replace(view, key=() if refusal else key, refusal=refusal)


def _query_of_view(described: Sequence[Sequence[object]]) -> str | None:
    """The query of a view with the view's own column names, from the rows of DESCRIBE; None without a query."""
    rows = [(str(row[0]), str(row[1])) for row in described]
    text = next((value for name, value in rows if name == "View Text"), None)
    columns = [name for name, _ in itertools.takewhile(lambda row: row[0] and not row[0].startswith("#"), rows)]
    if text is None or not columns:
        return text
    return f"select * from (\n{text}\n) as `__dbt_view` ({', '.join(map(quoted, columns))})"


def with_kept_table(node: Node, view: View, table: TableSpec) -> View:
    """A view whose existing table stays as it is; CompilationError if the table would merge rows of the query."""
    key, partition_by = (tuple(map(str.lower, names)) for names in (table.primary_key, table.partition_by))
    where = f"model '{node['name']}': its table has primary_key"
    _refuse_merging_key(where, view, key, "Run it once with --full-refresh")
    if view.query is None or view.refusal is not None:
        return replace(view, key=key)
    return replace(view, key=key, refusal=_refused_key(view.query, key, key, partition_by, {}))


def _names(node: Node, key: str) -> tuple[str, ...]:
    """The column names in a config key, in lower case."""
    return tuple(name.lower() for name in column_list(node["config"].get(key)))


def _refused_key(
    query: Query, key: tuple[str, ...], stated: tuple[str, ...], partition_by: tuple[str, ...], types: Mapping[str, str]
) -> NotIncremental | None:
    unfit = [name for name in key if types.get(name, "").startswith(_NO_KEY)]
    # Spark cannot compare the groups of a refresh by these types.
    unfit += [name for name in query.groups or () if re.search(r"map<|variant", types.get(name, ""))]
    if unfit:
        return NotIncremental(Reason.KEY_TYPE, unfit[0], types[unfit[0]])
    if outside := [name for name in partition_by if key and name not in key]:
        return NotIncremental(Reason.PARTITIONED, outside[0])
    if stated and set(stated) != set(query.key):
        return NotIncremental(Reason.OTHER_KEY, ", ".join(stated), ", ".join(query.key))
    return None


def _refuse_plan(query: Query, classes: Iterable[str], tables: set[tuple[str, str, str]]) -> None:
    """Refuse a query if its plan does more, or reads less, than the parser found."""
    parts = {name.removeprefix(_LOGICAL) for name in classes if name.startswith(_LOGICAL)}
    if found := parts & _PLANS:
        raise NotIncremental(Reason.PLAN, min(found))
    if not {_folded(each.table.name) for each in query.reads} <= tables:
        raise NotIncremental(Reason.NOT_READABLE, _OTHER_TABLES)


def _folded(name: TableName) -> tuple[str, str, str]:
    """A table name for a comparison that ignores case."""
    return name.catalog.lower(), name.schema.lower(), name.identifier.lower()


def _refuse_merging_key(where: str, view: View, key: tuple[str, ...], remedy: str) -> None:
    """Raise CompilationError if several rows of the query may have the same key."""
    known = view.query.key if view.query is not None and view.query.refusal is None else ()
    if key and not (known and set(known) <= set(key)):
        own = f"the query's key is ({', '.join(known)})" if known else "the query may return several rows per key"
        if view.query is None and view.refusal is not None:
            own = f"the query's key is not known ({view.refusal.words})"
        raise CompilationError(
            f"{where}=({', '.join(key)}): {own}, so the table would keep only one of several rows with the same "
            f"values. {remedy}. See docs/materialized-views.md."
        )


def _mode(node: Node) -> Mode:
    value = str(node["config"].get("refresh_mode") or Mode.AUTO.value).lower()
    try:
        return Mode(value)
    except ValueError:
        hint = did_you_mean(value, [mode.value for mode in Mode], 0.6, label="Allowed")
        raise CompilationError(f"model '{node['name']}': unknown refresh_mode '{value}'. {hint}") from None


def _never_null(query: Query) -> bool:
    """Whether no group can be NULL: every column is part of the driving table's primary key, or a literal."""
    groups = set(query.groups or ())
    return bool(groups) and all(groups <= {*branch.keys, *branch.constants} for branch in query.branches)


def refuse_options(node: Node, spec: TableSpec) -> None:
    """Raise CompilationError for table options with which the table would not hold the rows of the query."""
    given = ((name, value.lower()) for name, value in spec.options.items() if _NOT_ALLOWED.fullmatch(name))
    found = [name for name, value in given if value not in _HARMLESS]
    if found:
        raise CompilationError(
            f"model '{node['name']}': a materialized_view has exactly the rows of its query, but {', '.join(found)} "
            "would merge or drop some. Remove the option, or use materialized='incremental'."
        )
    if hiding := spec.hides_new_rows:
        raise CompilationError(
            f"model '{node['name']}': a refresh of a materialized_view reads its own table, but with {hiding} "
            "it cannot read rows that are not compacted yet. Remove the option."
        )
