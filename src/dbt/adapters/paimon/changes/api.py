"""Incremental reads: plans `paimon_changes`, and stores how far a model has read each of its source tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node, call_procedure, table_name
from dbt.adapters.paimon.changes import positions, read_modes
from dbt.adapters.paimon.changes.positions import SavedPosition, short_hash
from dbt.adapters.paimon.changes.read_modes import ChangeReadMode, Output, SourceTable
from dbt.adapters.paimon.changes.sources import Reading, Source, between, refuse_other_tables, without_row_kind
from dbt.adapters.paimon.metadata import schemas, snapshots, tags
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import refuse_newer_table
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.writing.table_writer import TableWriter

_ON_EXPIRED: Final = ("error", "full")


class Changes:
    """The changes that models read; `kept` is always a model's positions table, which may not exist."""

    def __init__(
        self,
        adapter: AdapterProtocol,
        tables: Tables,
        builds: TableWriter,
        branch_of_view: Callable[[PaimonRelation], PaimonRelation | None],
    ) -> None:
        self._adapter = adapter
        self._tables = tables
        self._builds = builds
        # Returns the branch that a view made by `dbt clone` reads.
        self._branch_of_view = branch_of_view
        # By the node's unique id. A node runs on one thread.
        self._readings: dict[str, Reading] = {}
        # The unique ids of the nodes whose queries were compiled to add rows.
        self._adding: set[str] = set()

    # -- while a model is compiled ----------------------------------------------------------------------------------

    def sql(
        self,
        model: Node,
        own: PaimonRelation,
        kept: PaimonRelation,
        relation: PaimonRelation,
        output: Output,
        *,
        full_refresh: bool,
        on_expired: str,
        keep: bool,
    ) -> str:
        """A subquery of a table's rows that are new to a model; '' if the table does not exist.

        Args:
            full_refresh: whether all rows are read, because the model's table is rebuilt.
            keep: whether to tag the table snapshot of the new position, so that it does not expire.

        Raises:
            DbtRuntimeError: the table is not a Paimon table, the model cannot read changes, or the changes are lost.
        """
        with self._forgotten_on_error(model):
            what = _label(model, relation)
            found, relation = self._found(relation)
            self._refuse(what, model, found or relation, on_expired)
            if found is None:
                return ""
            reading = self._reading(model, own, kept)
            name = relation.render()
            source = reading.sources.get(name)
            if source is None:
                source = self._source(relation, keep)
                if not full_refresh:
                    source = self._from_position(what, source, reading, on_expired, model)
            elif keep and not source.keep:
                source = replace(source, keep=True)
            reading.sources[name] = source
            source = replace(source, table=without_row_kind(source.table, output, what))
            if not _is_limited(relation):
                return self._subquery(what, source, output)
            # Runs with --empty or --sample do not move the position of an existing model.
            if source.start is not None:
                reading.sources[name] = replace(source, end=source.start)
            elif relation.limit == 0:
                reading.sources[name] = replace(source, end=positions.NOTHING_READ)
            else:
                # A table built from a sample has no position, so the next run does not leave out the other rows.
                del reading.sources[name]
            return read_modes.inserts_sql(source.table, str(relation), source.end.snapshot, output)

    def between_sql(self, model: Node, relation: PaimonRelation, start: Any, end: Any, output: Output) -> str:
        """The subquery of the changes between two table snapshots (see `sources.between`); stores no position.

        Returns '' if the table does not exist.
        """
        what = _label(model, relation)
        found, relation = self._found(relation)
        refuse_other_tables(what, found or relation, self._adapter.credentials.paimon_catalogs)
        if found is None:
            return ""
        whole = self._source(relation, keep=False)
        source = between(whole, start, end, what)
        if source.end != whole.end:
            self._refuse_other_columns(what, source)
        source = replace(source, table=without_row_kind(source.table, output, what))
        if _is_limited(relation):
            return read_modes.inserts_sql(source.table, str(relation), source.end.snapshot, output)
        return self._subquery(what, source, output)

    @contextmanager
    def _forgotten_on_error(self, model: Node) -> Iterator[None]:
        """Forget and unlock a model that fails to compile, because dbt does not notify the adapter."""
        try:
            yield
        except BaseException:
            self.forget(model)
            self._builds.release()
            raise

    def _refuse_other_columns(self, what: str, source: Source) -> None:
        """Refuse a range that ends before a column change: Paimon would read its files with the current columns."""
        end = source.end.snapshot
        then = next((commit.schema_id for commit in source.commits if commit.snapshot == end), None)
        columns = {
            schema.id: [(each.id, each.name, each.data_type) for each in schema.fields]
            for schema in schemas.newest_first(self._adapter.query, source.relation)
        }
        if then is not None and columns[then] != columns[max(columns)]:
            raise DbtRuntimeError(
                f"{what}: the table's columns have changed since table snapshot {end}. Set to_snapshot to a table "
                "snapshot after that change, or compare two selects of at(…, snapshot=…)."
            )

    def _found(self, relation: PaimonRelation) -> tuple[PaimonRelation | None, PaimonRelation]:
        """The existing relation or None, and the relation to read. For a clone by branch, both are the branch."""
        found = self._adapter.get_relation(*relation.parts)
        branch = self._branch_of_view(found) if found is not None and found.is_view else None
        if branch is None:
            return found, relation
        read = branch.replace(limit=relation.limit, event_time_filter=relation.event_time_filter)
        return read, read

    def _reading(self, model: Node, own: PaimonRelation, kept: PaimonRelation) -> Reading:
        """What a model reads; raises NewerStateError if a newer adapter wrote its positions table."""
        reading = self._readings.get(model["unique_id"])
        if reading is None:
            if (found := self._adapter.get_relation(*kept.parts)) is not None:
                existing = self._tables.existing(found) if found.is_table else ExistingTable()
                refuse_newer_table(Kind.POSITIONS, existing.options, found)
                if not positions.is_positions_table(column.name for column in existing.columns):
                    raise DbtRuntimeError(
                        f"model '{model['name']}': its positions would be in {found}, which dbt-paimon did not create. "
                        "Nothing was written. Rename that relation, or give the model a different `alias`."
                    )
            reading = self._readings[model["unique_id"]] = Reading(own, kept)
        return reading

    def incremental_catalog(self) -> str:
        """The catalog whose changes Paimon before 1.1 can read: the session's, unless its metastore is SQLite.

        PaimonTableValuedFunctions opens the catalog again, and a second connection to a SQLite file locks it for good.
        """
        credentials = self._adapter.credentials
        catalog = credentials.catalog_of(credentials.database)
        in_sqlite = catalog is not None and catalog.jdbc_protocol == "sqlite"
        return "" if in_sqlite else credentials.database

    def _refuse(self, what: str, model: Node, relation: PaimonRelation, on_expired: str) -> None:
        config = model.get("config", {})
        problems = []
        if config.get("materialized") != "incremental":
            problems.append(
                f"only an incremental model keeps track of what it has read, but this one is materialized as "
                f"'{config.get('materialized')}'. Set materialized='incremental', or select from the table itself."
            )
        elif config.get("incremental_strategy") == "microbatch":
            problems.append(
                "a microbatch model selects its input by event_time, not by commits. Use another incremental_strategy."
            )
        if on_expired not in _ON_EXPIRED:
            problems.append(f"on_expired='{on_expired}' is unknown. Use 'error' or 'full'.")
        if problems:
            raise DbtRuntimeError("\n".join(f"{what}: {problem}" for problem in problems))
        refuse_other_tables(what, relation, self._adapter.credentials.paimon_catalogs)

    def _source(self, relation: PaimonRelation, keep: bool) -> Source:
        """The source for reading all rows of a table."""
        plain = relation.replace(limit=None, event_time_filter=None)
        named = tuple(tags.tags(self._adapter.query, plain))
        return replace(self._opened(plain, self._tables.existing(plain)), tags=named, keep=keep)

    def _opened(self, relation: PaimonRelation, existing: ExistingTable) -> Source:
        """A source at its newest table snapshot, with the column names of that time if the table was altered later."""
        commits, table = self._commits(relation), SourceTable.of(table_name(relation), existing)
        source = Source(relation, table, commits, (), positions.latest(commits), None, schema_id=existing.schema_id)
        if not source.is_altered:
            return source
        known, then = self._schemas(source, source.end.snapshot)
        names = schemas.then_called(known, then, known[0].id)
        if names == {name.lower(): name for name, _ in source.table.columns}:
            return source
        return replace(source, table=replace(source.table, newest_names=names))

    def _commits(self, relation: PaimonRelation) -> tuple[Commit, ...]:
        """The commits of a table, the oldest first."""
        spark = self._adapter.handle.embedded()
        if spark is not None and "$" not in (relation.identifier or ""):
            return spark.commits(table_name(relation))
        return snapshots.by_sql(self._adapter.query, relation)

    def _from_position(self, what: str, source: Source, reading: Reading, on_expired: str, model: Node) -> Source:
        """The source from the model's position on; all rows if the changes are lost and on_expired is 'full'."""
        if reading.commits is None:
            reading.commits = self._commits(reading.own)
            reading.saved = self._saved_positions(reading.kept)
        commits, saved = reading.commits, reading.saved
        from_position = replace(source, start=source.position_in(commits, saved, reading.own))
        problem = from_position.lost
        if not problem:
            return from_position
        if on_expired != "full":
            raise DbtRuntimeError(
                f"{what}: {problem} Run the model once with --full-refresh, or set on_expired='full' to "
                "rebuild it automatically. keep=true keeps unread changes from expiring."
            )
        if model.get("config", {}).get("full_refresh") is False:
            raise DbtRuntimeError(
                f"{what}: {problem} on_expired='full' would rebuild the model, which full_refresh=false forbids."
            )
        reading.lost[source.table.name.rendered] = problem
        return source

    def _saved_positions(self, kept: PaimonRelation) -> dict[str, SavedPosition]:
        """The rows of a positions table, by the short hash of the source's name."""
        return {short_hash(name): saved for name, saved in self._named_positions(kept).items()}

    def _named_positions(self, kept: PaimonRelation) -> dict[str, SavedPosition]:
        """The rows of a positions table, by the name of the source."""
        found = self._adapter.get_relation(*kept.parts)
        return {} if found is None else positions.saved_in(self._adapter.query, found)

    def _subquery(self, what: str, source: Source, output: Output) -> str:
        """The subquery of the rows that changed in a source's range, or of all rows if the range has no start."""
        if source.start is None or source.start == positions.NOTHING_READ:
            return read_modes.whole_sql(source.table, source.end.snapshot, output)
        return self._range_sql(what, source, output, self._read_mode(source, output))

    def _range_sql(self, what: str, source: Source, output: Output, mode: ChangeReadMode) -> str:
        assert source.start is not None
        table, start, end = source.table, source.start.snapshot, source.end.snapshot
        if source.is_altered:
            # Raises an error for changed structs: they cannot be read together with the changes.
            self._old_names(what, source, end)
        if mode is not ChangeReadMode.COMPARE:
            return read_modes.changes_sql(mode, table, start, end, output, self._adapter.versions)
        version: int | str = start if source.start_is_there else source.start_tag
        return read_modes.compare_sql(what, table, version, self._old_names(what, source, version), end, output)

    def _read_mode(self, source: Source, output: Output) -> ChangeReadMode:
        assert source.start is not None
        start = source.start.snapshot
        query, versions, catalog = self._adapter.query, self._adapter.versions, self.incremental_catalog()
        commits = [commit for commit in source.commits if commit.snapshot > start]
        mode = read_modes.read_mode(source.table, commits, versions, incremental_catalog=catalog, before=output.before)
        # A tag may keep the start although later commits have expired.
        if not source.start_is_there:
            return ChangeReadMode.COMPARE
        return read_modes.checked_mode(mode, source.table, start, source.end.snapshot, source.gained, query, versions)

    def _old_names(self, what: str, source: Source, version: int | str) -> dict[str, str]:
        """Each column's name in lower case -> its name at a table snapshot or a tag."""
        known, then = self._schemas(source, version)
        return read_modes.old_names(what, known, then, known[0].id)

    def _schemas(self, source: Source, version: int | str) -> tuple[Sequence[Schema], int]:
        """All schemas of a source (the current one first), and the id of the schema at a table snapshot or a tag."""
        query, table = self._adapter.query, source.relation
        known = schemas.newest_first(query, table)
        if isinstance(version, str):
            return known, tags.tags(query, table)[version].schema_id
        return known, next(commit.schema_id or 0 for commit in source.commits if commit.snapshot == version)

    def may_add(self, model: Node) -> bool:
        """Whether the query may be compiled to add rows: false after lost changes, which require a rebuild."""
        if self._is_lost(model):
            return False
        self._adding.add(model["unique_id"])
        return True

    def _is_lost(self, model: Node) -> bool:
        reading = self._readings.get(model["unique_id"])
        return reading is not None and bool(reading.lost)

    # -- the run of the model ---------------------------------------------------------------------------------------

    def must_rebuild(self, model: Node) -> bool:
        """Whether a model has to be rebuilt because unread changes are lost (on_expired='full').

        Raises DbtRuntimeError if this run might not read all rows: it reads only the changes of another table, or
        is_incremental() was true before the loss was found.
        """
        if not self._is_lost(model):
            return False
        reading = self._readings[model["unique_id"]]
        partial = [source.table.name.rendered for source in reading.sources.values() if source.start is not None]
        why, remedy = "", "Run it once with --full-refresh."
        if partial:
            why = f"this run reads only the changes of {', '.join(partial)}, and not all rows"
        elif model["unique_id"] in self._adding:
            why = "its query calls is_incremental() before paimon_changes, so it may not read all rows"
            remedy = f"{remedy} Or call paimon_changes first; then is_incremental() is false in a rebuild."
        if why:
            lost = " ".join(f"{name}: {problem}" for name, problem in reading.lost.items())
            raise DbtRuntimeError(f"model '{model['name']}': {lost} That requires a rebuild, but {why}. {remedy}")
        return True

    def mark(self, model: Node, *, rebuilt: bool = False) -> str:
        """The commit user that stores a model's positions; '' if it reads no changes.

        `rebuilt`: whether all rows of its table are replaced.
        """
        reading = self._readings.get(model["unique_id"])
        if reading is None or not reading.sources:
            return ""
        ends = {source.key: source.end for source in reading.sources.values()}
        return positions.mark({**ends, **(positions.UNREAD if rebuilt else {})})

    def unread_mark(self, rebuilt: PaimonRelation) -> str:
        """The commit user of a rebuild that reads no changes; '' if the table has no older positions to end."""
        kept = self._adapter.get_relation(*positions.positions_of(rebuilt).parts)
        return "" if kept is None else positions.mark(positions.UNREAD)

    def published_mark(self, table: PaimonRelation, branch: PaimonRelation) -> str:
        """The commit user that copies the positions in a branch's own commits to the commit that publishes it."""
        known = {commit.user for commit in self._commits(table)}
        users = (commit.user for commit in reversed(self._commits(branch)) if commit.user not in known)
        found = next((marked for user in users if (marked := positions.marked(user))), None)
        return positions.mark(found) if found else ""

    def reads_changes(self, model: Node) -> bool:
        """Whether a model reads changes of a table in this run."""
        return model["unique_id"] in self._readings

    def check_positions(self, model: Node) -> None:
        """Check, if the table has no lock, that no other run has moved the positions since this run was planned."""
        reading = self._readings.get(model["unique_id"])
        if reading is None or self._builds.lock_place(reading.own) is not None:
            return
        sources = [source for source in reading.sources.values() if source.start is not None]
        if not sources:
            return
        own, saved = self._commits(reading.own), self._saved_positions(reading.kept)
        if any(source.position_in(own, saved, reading.own) != source.start for source in sources):
            raise DbtRuntimeError(
                f"model '{model['name']}': another run has read the same changes in the meantime. Nothing was "
                "written; run it again."
            )

    def pin(
        self,
        model: Node,
        own: PaimonRelation,
        kept: PaimonRelation,
        sources: Mapping[PaimonRelation, ExistingTable],
        salt: str,
        *,
        fresh: bool,
    ) -> Reading:
        """Pin the sources of a materialized view at their newest table snapshots, and find the view's positions.

        The commits of the view's run store the pinned table snapshots.

        Args:
            salt: identifies what the positions are valid for; positions with a different salt are ignored.
            fresh: whether the view's table does not exist yet.
        """
        self.forget(model)
        reading = self._reading(model, own, kept)
        reading.commits = () if fresh else self._commits(own)
        reading.saved = {
            key: saved
            for key, saved in self._saved_positions(kept).items()
            if positions.is_in_history(saved.own, reading.commits)
        }
        marked = positions.marked(reading.last_write.user) if reading.last_write else {}
        for relation, existing in sources.items():
            source = replace(self._opened(relation, existing), salt=salt)
            saved = reading.saved.get(source.key)
            start = marked.get(source.key) or (saved.position if saved is not None else None)
            reading.sources[relation.render()] = replace(
                source, start=start and positions.renewed(start, source.commits)
            )
        return reading

    def changed_rows(self, what: str, source: Source, output: Output) -> tuple[str, bool]:
        """The subquery of a source's rows that changed after its position, or ''; and whether all are new rows."""
        source = replace(source, table=without_row_kind(source.table, output, what))
        if source.start == positions.NOTHING_READ:
            return self._subquery(what, source, output), True
        mode = self._read_mode(source, output)
        if mode is ChangeReadMode.NOTHING:
            return "", True
        only_added = mode is ChangeReadMode.FILES and not source.table.primary_key
        return self._range_sql(what, source, output, mode), only_added

    def keep(self, model: Node, kept: PaimonRelation, *, rebuilt: bool = False) -> None:
        """After the commit of a model's rows: store its positions and drop the tags of older positions.

        The caller holds the lock of the model's table. `rebuilt`: whether all rows were replaced. Then no position of
        an older run stays.
        """
        reading = self._readings.pop(model["unique_id"], None)
        if rebuilt and (reading is None or not reading.sources):
            self.drop_positions(kept)
        if reading is None:
            return
        if reading.sources and (moved := reading.moved(positions.latest(self._commits(reading.own)))):
            self._write(kept, moved, replace=rebuilt)
        for source, name in reading.tags_to_drop():
            call_procedure(self._adapter, "delete_tag", source, {"tag": name})

    def drop_positions(self, kept: PaimonRelation) -> None:
        """Drop the positions table `kept`, if there is one."""
        if (found := self.positions_table(kept)) is not None:
            self._adapter.drop_relation(found)

    def positions_table(self, kept: PaimonRelation) -> PaimonRelation | None:
        """The positions table `kept`, if it exists; None if another program's table or view has its name."""
        found = self._adapter.get_relation(*kept.parts)
        if found is None or not found.is_table:
            return None
        columns = self._tables.described(found)
        # A hook may have dropped a table that dbt has listed.
        is_ours = columns is None or positions.is_positions_table(column.name for column in columns)
        return found if is_ours else None

    def forget(self, model: Node) -> None:
        """Forget what a model has read in this run, without storing its positions."""
        self._readings.pop(model["unique_id"], None)

    def _write(self, kept: PaimonRelation, moved: Mapping[str, SavedPosition], *, replace: bool = False) -> None:
        if self._adapter.get_relation(*kept.parts) is None:
            self._adapter.query(positions.create_sql(kept.render()))
            self._adapter.cache_added(kept)
        self._adapter.query(positions.keep_sql(kept.render(), moved, replace=replace))

    def copy_positions(self, original: PaimonRelation, branch: PaimonRelation, kept: PaimonRelation) -> None:
        """Copy a table's positions, if it has any, to its new clone: a branch without commits of its own.

        They are computed from the table's commits, because the branch has only the newest table snapshot.
        """
        named = self._named_positions(positions.positions_of(original))
        if not named:
            return
        base = positions.latest(self._commits(branch))
        commits = [commit for commit in self._commits(original) if commit.snapshot <= base.snapshot]
        found = {name: positions.find(short_hash(name), commits, saved, original) for name, saved in named.items()}
        moved = {name: SavedPosition(at, base) for name, at in found.items() if at is not None}
        if moved:
            self._write(kept, moved)

    def keep_tags(self, model: Node) -> None:
        """Before the commit of a model's rows: tag the table snapshots up to which the model reads (keep=true)."""
        reading = self._readings.get(model["unique_id"])
        for source, name, snapshot in reading.tags_to_keep() if reading else ():
            call_procedure(self._adapter, "create_tag", source, {"tag": name, "snapshot": snapshot})


def _label(model: Node, relation: PaimonRelation) -> str:
    return f"model '{model['name']}': paimon_changes({relation.schema}.{relation.identifier})"


def _is_limited(relation: PaimonRelation) -> bool:
    """Whether the relation has the limit of --empty or the filter of --sample."""
    return relation.limit is not None or relation.event_time_filter is not None
