"""Decides how a materialized view is refreshed, and describes what was done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node, table_name
from dbt.adapters.paimon.changes.api import Changes
from dbt.adapters.paimon.changes.positions import marked, short_hash
from dbt.adapters.paimon.changes.read_modes import Output, UncomparableError
from dbt.adapters.paimon.changes.sources import Reading, Source
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views import incremental
from dbt.adapters.paimon.plan.materialized_views.definitions import Definitions, refuse_options, with_kept_table
from dbt.adapters.paimon.plan.materialized_views.incremental import Pins
from dbt.adapters.paimon.plan.materialized_views.query import Query
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason
from dbt.adapters.paimon.plan.materialized_views.refresh import KIND, Mode, PinnedSource, Refresh, RefreshKind, View
from dbt.adapters.paimon.plan.steps import NodeRun, Plan
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.run_flags import writes_partial_rows
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.auto_buckets import is_rescaling
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.literals import some_value
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import MATERIALIZED_VIEW_OPTION, ExistingColumn, ExistingTable
from dbt.adapters.paimon.unchanged import nodes
from dbt.adapters.paimon.writing.statement_result import StatementResult

logger = AdapterLogger("Paimon")
# A full refresh is cheaper if a greater share of the keys or groups has changed (benchmarks/results/views.md), and more
# than _FEW.
_MAX_SHARE: Final = 0.5
_FEW: Final = 1000
# Spark pads a literal that it compares with a char column, but not if the column is computed (ApplyCharTypePadding).
_CHAR: Final = re.compile(r"\bchar\(", re.IGNORECASE)
# Increase this if a refresh must not continue from the positions of an older adapter.
_POSITIONS_VERSION: Final = 1


class MaterializedViews:
    """The refreshes of materialized views."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables, changes: Changes) -> None:
        self._adapter = adapter
        self._changes = changes
        self._definitions = Definitions(adapter, tables)
        # By unique id. No lock is needed, because a node runs on one thread.
        self._views: dict[str, View] = {}

    # -- before the hooks -------------------------------------------------------------------------------------------

    def spec(self, node: Node, specs: Specs) -> TableSpec:
        """The table spec of a view, with the key of its query; raises as `Definitions.view`, or ConfigErrors."""
        view = self._views[node["unique_id"]] = self._definitions.view(node)
        spec = specs.of(node, view.key)
        refuse_options(node, spec)
        return replace(spec, options={**spec.options, MATERIALIZED_VIEW_OPTION: "true"})

    def existing(self, relation: PaimonRelation) -> ExistingTable:
        """Look up a table in the catalog (see `Definitions.existing`)."""
        return self._definitions.existing(relation)

    def configured(
        self,
        node: Node,
        target: PaimonRelation,
        spec: TableSpec,
        current: ExistingTable,
        plan: Plan,
        *,
        full_refresh: bool,
    ) -> TableSpec:
        """The table spec of an existing view; raises CompilationError if `on_configuration_change` forbids a change."""
        if full_refresh:
            # dbt's own tests look for these words.
            logger.info(f"Applying REPLACE to: {target}")
            return spec
        view = self._views[node["unique_id"]]
        if is_rescaling(current.options):
            view = self._views[node["unique_id"]] = replace(view, rebuilt="an interrupted rescale")
        if not plan.differs or MATERIALIZED_VIEW_OPTION not in current.options:
            return spec
        allowed = str(node["config"].get("on_configuration_change") or "apply")
        if allowed != "apply":
            _refuse_or_warn(target, plan, allowed)
            kept = current.as_spec()
            self._views[node["unique_id"]] = with_kept_table(node, view, kept)
            return kept
        logger.info(f"Applying {'REPLACE' if plan.rebuild.swaps else 'ALTER'} to: {target}")
        buckets = tuple(words for words in plan.differs if words.startswith("bucket:"))
        self._views[node["unique_id"]] = replace(
            view, rebuilt="; ".join(plan.rebuild.reasons or buckets) or view.rebuilt
        )
        return spec

    # -- after the hooks --------------------------------------------------------------------------------------------

    def refresh(self, model: Node, run: NodeRun, kept: PaimonRelation) -> Refresh:
        """Plan the refresh of a view, and pin its sources; the caller holds its table's lock."""
        view = self._views.pop(model["unique_id"])
        if writes_partial_rows():
            return Refresh(RefreshKind.FULL, Reason.LIMITED_RUN.words(), view.sql)
        if view.query is None or (view.refusal and view.refusal.reason in (Reason.SQL_HEADER, Reason.SESSION_VIEW)):
            return Refresh(RefreshKind.FULL, view.refusal.words if view.refusal else "", view.sql)
        query = view.query
        relations = [self._relation(table.name) for table in query.tables]
        sources = {relation: self.existing(relation) for relation in relations}
        conf = self._settings()
        if conf.get("spark.sql.caseSensitive", "").lower() == "true":
            # The names of keys and groups are in lower case.
            view = replace(view, refusal=view.refusal or NotIncremental(Reason.CASE_SENSITIVE))
        salt = self._salt(view, query, conf, {relation.render(): each.schema_id for relation, each in sources.items()})
        read = self._changes.pin(model, run.target, kept, sources, salt, fresh=run.table is None)
        pins = Pins(query, {source.table.name: _pinned(source) for source in read.sources.values()})
        full = Refresh(RefreshKind.FULL, sql=query.spliced(pins.now), pinned=pins.sources)
        try:
            return self._incremental(model, run, view, pins, read, full)
        except NotIncremental as refusal:
            return replace(full, words=refusal.words)

    def _incremental(self, model: Node, run: NodeRun, view: View, pins: Pins, read: Reading, full: Refresh) -> Refresh:
        """The incremental refresh; raises NotIncremental if it has to be full."""
        _refuse_run(run, view)
        if not read.sources and view.refusal is not None:
            # Without sources there are no positions, so `_require_positions` would not notice another query.
            raise view.refusal
        _require_positions(read)
        moved = {source.table.name: source for source in read.sources.values() if source.end != source.start}
        if not moved:
            return replace(full, kind=RefreshKind.NONE, words="no source has changed")
        if view.refusal is not None:
            raise view.refusal
        _require_changes(moved.values())
        _refuse_padded_key(view, table_name(run.target), self.existing(run.target))
        found = {name: self._changed(model, source) for name, source in moved.items()}
        changed = frozenset(name for name, source in found.items() if source.changes)
        pins = Pins(pins.query, {**pins.sources, **found}, changed)
        # A view whose first refresh wrote no rows has no commit over Thrift and Connect.
        own = max(read.commits or (), key=lambda commit: commit.snapshot, default=None)
        return incremental.planned(view, pins, full, _totals(read), own.rows if own else 0)

    def limited(self, refresh: Refresh) -> Refresh:
        """Count the changed rows of a refresh that has a limit; above it, the refresh becomes full."""
        if refresh.max_rows is None:
            return refresh
        rows = sum(self.count(quoted(part.view)) for part in refresh.changed)
        if rows <= refresh.max_rows:
            return refresh
        words = Reason.TOO_MANY.words(f"{rows:,} rows", f"{refresh.max_rows:,}")
        return replace(refresh, kind=RefreshKind.FULL, words=words, groups_view="")

    def counted(self, refresh: Refresh) -> Refresh:
        """Count what a refresh recomputes, from its temporary views; it becomes full if too much has changed."""
        views = [refresh.groups_view] if refresh.groups_view else [part.view for part in refresh.changed]
        affected = sum(self.count(quoted(view)) for view in views)
        if refresh.appends:
            return replace(refresh, affected=affected, words=f"{counted(affected, 'row')} added")
        what = "groups" if refresh.groups_view else "keys"
        words = f"{affected:,} of about {max(refresh.total, affected):,} {what}"
        if affected > _FEW and affected > _MAX_SHARE * refresh.total:
            return replace(refresh, kind=RefreshKind.FULL, words=Reason.TOO_MANY.words(words, "half"))
        return replace(refresh, affected=affected, words=words)

    def count(self, rows: str) -> int:
        """Count the rows of a table, or of a query in parentheses."""
        ((number,),) = self._adapter.query(f"select count(*) from {rows}")
        return int(number)

    def writes_row_kinds(self, target: PaimonRelation) -> bool:
        """Whether rows can be written with row kinds (see `spark.row_writer`): not over a server or to a branch."""
        return self._adapter.handle.embedded() is not None and "$" not in (target.identifier or "")

    @staticmethod
    def delete_row(columns: Sequence[ExistingColumn], key: Sequence[str]) -> list[str]:
        """The SQL of each column of a row that deletes a key of `__changed`.

        Even a deleting row needs values in NOT NULL columns: Paimon checks them before it discards the row.
        """
        of_key = {name.lower() for name in key}
        return [
            f"cast({f'`__changed`.{quoted(column.name)}' if column.name.lower() in of_key else _filler(column)} "
            f"as {column.data_type})"
            for column in columns
        ]

    # -- after the rows were written ----------------------------------------------------------------------------------

    def nothing_written(self, refresh: Refresh, target: PaimonRelation, mark: str) -> StatementResult:
        """Commit the mark of a refresh that wrote nothing, with its positions, and return dbt's response."""
        if refresh.kind is not RefreshKind.NONE:
            self._commit_mark(target, mark)
        return StatementResult(responses.of_refresh(refresh.console, refresh.affected or 0))

    def describe(self, refresh: Refresh, target: PaimonRelation, mark: str, result: Any) -> None:
        """Add what the refresh did to the result of its statement."""
        if getattr(result["response"], "snapshot_id", None) is None:
            # Without rows, the statement has committed nothing, so the positions need a commit of their own.
            self._commit_mark(target, mark)
        result["response"] = responses.with_refresh(result["response"], refresh.console, refresh.affected)

    def _commit_mark(self, target: PaimonRelation, mark: str) -> None:
        """Commit without rows, if Spark is in this process; otherwise the positions table has the positions."""
        spark = self._adapter.handle.embedded()
        if spark is not None and mark:
            spark.commit_nothing(table_name(target), mark)

    def end(self, model: Node, refresh: Refresh, kept: PaimonRelation) -> None:
        """Store the positions of a committed refresh if its commit could not contain them."""
        if refresh.kind is not RefreshKind.NONE and refresh.pinned and self._adapter.handle.embedded() is None:
            self._changes.keep(model, kept)
        else:
            self._changes.forget(model)

    # -- sources ----------------------------------------------------------------------------------------------------

    def _settings(self) -> Mapping[str, str]:
        """The settings of the session."""
        spark = self._adapter.handle.embedded()
        # The rows are `key, value`; servers other than Spark's may return one column `key=value`.
        return spark.settings() if spark else {str(row[0]): str(row[-1]) for row in self._adapter.query("set")}

    def _salt(self, view: View, query: Query, conf: Mapping[str, str], schema_ids: Mapping[str, int | None]) -> str:
        """A hash of what a view's positions depend on: its query, its sources' columns and the session's settings.

        Two columns that have exchanged their names differ only in `schema_ids`.
        """
        content = [
            _POSITIONS_VERSION,
            str(self._adapter.versions.paimon),
            str(self._adapter.versions.spark),
            query.sql,
            list(view.key),
            [[str(each.name), dict(each.columns), list(each.primary_key)] for each in query.tables],
            dict(schema_ids),
            nodes.settings(conf),
        ]
        return short_hash(json.dumps(content, sort_keys=True))

    def _relation(self, name: TableName) -> PaimonRelation:
        relation = self._adapter.get_relation(name.catalog, name.schema, name.identifier)
        if relation is None:
            raise DbtRuntimeError(f"{name.shown} was dropped while the model ran. Run it again.")
        return relation

    def _changed(self, model: Node, source: Source) -> PinnedSource:
        """Pin a source, and add the query for its changed rows."""
        what = f"model '{model['name']}': the changes of {source.table.name.shown}"
        try:
            sql, added = self._changes.changed_rows(what, source, Output(KIND))
        except UncomparableError as exc:
            raise NotIncremental(Reason.POSITION_LOST, source.table.name.shown, exc.why) from None
        return replace(_pinned(source), changes=sql, only_added=added, written=source.written, most=source.most_changes)


def _refuse_or_warn(target: PaimonRelation, plan: Plan, allowed: str) -> None:
    found = (
        f"Configuration changes were identified and `on_configuration_change` was set to `{allowed}` for "
        f"`{target}`: {'; '.join(plan.differs)}"
    )
    if allowed == "fail":
        raise CompilationError(found)
    warn(found)


def _require_changes(moved: Iterable[Source]) -> None:
    for source in moved:
        if source.was_altered:
            raise NotIncremental(Reason.NOT_FROM_HERE)
        if source.lost:
            raise NotIncremental(Reason.POSITION_LOST, source.table.name.shown, source.lost)
        if padded := next((name for name, kind in source.table.columns if _CHAR.search(kind)), None):
            raise NotIncremental(Reason.CHAR, source.table.name.shown, padded)


def _refuse_padded_key(view: View, name: TableName, table: ExistingTable) -> None:
    """Refuse a char column in the key or the groups: the table pads its values, but the changed keys are not padded."""
    keys = {*view.key, *(view.query.groups or () if view.query else ())}
    for column in table.columns:
        if column.name.lower() in keys and _CHAR.search(column.data_type):
            raise NotIncremental(Reason.CHAR, name.shown, column.name)


def _require_positions(read: Reading) -> None:
    """Raise NotIncremental unless the last write of the view's table was a refresh of the same query."""
    last = read.last_write
    keys = {source.key for source in read.sources.values()}
    if last is not None and keys <= marked(last.user).keys():
        return
    # If only upkeep is left, the newest write was at the last expired snapshot, or before it.
    oldest = min((commit.snapshot for commit in read.commits or ()), default=1)
    newest = last.snapshot if last is not None else oldest - 1
    if all(key in read.saved and read.saved[key].own.snapshot >= newest for key in keys):
        return
    if last is None and read.commits:
        raise NotIncremental(Reason.POSITION_LOST, table_name(read.own).shown, "its last write has expired")
    if last is None:
        raise NotIncremental(Reason.FIRST_RUN)
    if not marked(last.user):
        raise NotIncremental(Reason.WRITTEN_BY_OTHERS, last.snapshot)
    raise NotIncremental(Reason.NOT_FROM_HERE)


def _refuse_run(run: NodeRun, view: View) -> None:
    """Raise NotIncremental if the run needs a full refresh, whatever has changed."""
    if run.full_refresh:
        raise NotIncremental(Reason.FULL_REFRESH)
    if run.table is None:
        raise NotIncremental(Reason.FIRST_RUN)
    if view.mode is Mode.FULL:
        raise NotIncremental(Reason.REFRESH_MODE)
    if view.rebuilt:
        raise NotIncremental(Reason.REBUILT, view.rebuilt)


def _pinned(source: Source) -> PinnedSource:
    then = source.start.snapshot if source.start is not None else 0
    # Time travel to the newest table snapshot would hide an ALTER made after it, so such a table is read by its name.
    newest = source.end.snapshot if source.is_altered else None
    return PinnedSource(source.table.name, source.end.snapshot, then, unpinned=newest)


def _totals(read: Reading) -> dict[TableName, int]:
    """The approximate row count of each source, from its files."""
    return {
        source.table.name: commit.rows
        for source in read.sources.values()
        for commit in source.commits
        if commit.snapshot == source.end.snapshot
    }


def _filler(column: ExistingColumn) -> str:
    return "null" if column.nullable else some_value(column.data_type)
