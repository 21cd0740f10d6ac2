"""Methods on `adapter` for incremental reads: plans `paimon_changes` and stores the model's positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.changes import positions, reads
from dbt.adapters.paimon.changes.positions import Checkpoint, Commit, Position, fingerprint
from dbt.adapters.paimon.changes.reads import Output, SourceTable, Way
from dbt.adapters.paimon.tables import metadata

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation

_TAG = "dbt_changes"
_ON_EXPIRED = ("error", "full")


@dataclass(frozen=True)
class Source:
    """A source of a model in one run: the table, its commits and tags, and the range to read."""

    relation: PaimonRelation
    table: SourceTable
    commits: tuple[Commit, ...]
    # (table snapshot, name) of each tag.
    tags: tuple[tuple[int, str], ...]
    end: Position
    # None: the whole table is read, because the model is rebuilt.
    start: Position | None
    keep: bool = False

    @property
    def key(self) -> str:
        """The source's key in a commit user (see `positions.mark`)."""
        return fingerprint(self.table.name)

    @property
    def start_tag(self) -> str:
        """The adapter's tag that keeps the table snapshot where the range starts; empty if there is none."""
        if self.start is None:
            return ""
        end = f"_{self.start.snapshot}_{self.start.commit}"
        return next((name for _, name in self.tags if name.startswith(_TAG) and name.endswith(end)), "")

    @property
    def start_is_there(self) -> bool:
        """Whether the table still has the table snapshot where the range starts."""
        return any(Position.at(commit) == self.start for commit in self.commits)


@dataclass
class Reading:
    """The sources that a model reads in this run."""

    own: PaimonRelation
    sources: dict[str, Source] = field(default_factory=dict)
    # The snapshots of the model's own table before the run; None until they are read.
    commits: tuple[Commit, ...] | None = None
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    # Sources whose changes have expired, so that the model has to be rebuilt.
    lost: dict[str, str] = field(default_factory=dict)

    def ends(self) -> dict[str, Position]:
        """The model's new position in each source, once its rows are committed."""
        return {source.key: source.end for source in self.sources.values()}


class ChangesMethods(AvailableMethods):
    """`paimon_changes` plans the reads; the incremental materialization commits and stores the positions."""

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        # By node; a node runs on one thread.
        self._readings: dict[str, Reading] = {}

    @available.parse(lambda *a, **k: "")
    def changes_sql(
        self,
        model: Mapping[str, Any],
        own: PaimonRelation,
        relation: PaimonRelation,
        *,
        full_refresh: bool,
        row_kind: str,
        snapshot_column: str | None,
        before: bool,
        on_expired: str,
        keep: bool,
    ) -> str:
        """The subquery of a table's rows that a model has not read yet.

        Args:
            model: the node.
            own: the model's own table.
            relation: the relation that ref() or source() returned.
            full_refresh: whether the model's table is rebuilt, so that all rows are read.
            row_kind: the name of the row kind column.
            snapshot_column: the name of a column with the table snapshot up to which this run reads, or None.
            before: whether the old rows of changed keys are returned as `-U`.
            on_expired: 'error' or 'full'.
            keep: whether to create a tag so that the table snapshot of the position does not expire.

        Returns:
            SQL that can follow FROM; empty if the table does not exist.

        Raises:
            DbtRuntimeError: not a Paimon table, not a model that can read changes, or the changes are lost; with the
                remedy.
        """
        try:
            return self._changes_sql(
                model,
                own,
                relation,
                Output(row_kind, snapshot_column, before),
                full_refresh=full_refresh,
                on_expired=on_expired,
                keep=keep,
            )
        except BaseException:
            # dbt does not tell the adapter when a node fails to compile.
            self.forget_changes(model)
            self.release_tables()
            raise

    def _changes_sql(
        self,
        model: Mapping[str, Any],
        own: PaimonRelation,
        relation: PaimonRelation,
        output: Output,
        *,
        full_refresh: bool,
        on_expired: str,
        keep: bool,
    ) -> str:
        what = f"model '{model['name']}': paimon_changes({relation.schema}.{relation.identifier})"
        found = self.get_relation(relation.database, relation.schema, relation.identifier)
        self._refuse_changes(what, model, found or relation, on_expired)
        if found is None:
            return ""
        reading = self._readings.setdefault(model["unique_id"], Reading(own))
        name = relation.render()
        source = reading.sources.get(name)
        if source is None:
            source = self._source(relation, keep)
            if not full_refresh:
                source = self._from_position(what, source, reading, on_expired, model)
            reading.sources[name] = source
        table = _without(source.table, output, what)
        if relation.limit is not None or relation.event_time_filter is not None:
            return self._limited(reading, name, replace(source, table=table), str(relation), output)
        if source.start is None or source.start == positions.NOTHING_READ:
            return reads.whole_sql(table, source.end.snapshot, output)
        return self._range_sql(what, source, table, output)

    def _incremental_catalog(self) -> str:
        """The catalog whose changes Paimon before 1.1 can read: the session's, unless its metastore is SQLite.

        PaimonTableValuedFunctions opens the catalog again, and a second connection to a SQLite file locks it for good.
        """
        catalog = self.credentials.catalog_of(self.credentials.database)
        in_sqlite = catalog is not None and catalog.jdbc_protocol == "sqlite"
        return "" if in_sqlite else self.credentials.database

    def _refuse_changes(
        self, what: str, model: Mapping[str, Any], relation: PaimonRelation, on_expired: str
    ) -> None:
        config = model.get("config", {})
        problems = []
        if config.get("materialized") != "incremental":
            problems.append(
                f"only an incremental model knows what it has read, and this is materialized as "
                f"'{config.get('materialized')}'. Set materialized='incremental', or select from the table itself."
            )
        elif config.get("incremental_strategy") == "microbatch":
            problems.append(
                "a microbatch model is read by event_time, not by commits. Use another incremental_strategy."
            )
        if on_expired not in _ON_EXPIRED:
            problems.append(f"on_expired='{on_expired}' is unknown. Use 'error' or 'full'.")
        if relation.is_view or relation.database not in self.credentials.paimon_catalogs:
            problems.append("it is no Paimon table, and has no table snapshots. Materialize it as a table.")
        if problems:
            raise DbtRuntimeError("\n".join(f"{what}: {problem}" for problem in problems))

    def _source(self, relation: PaimonRelation, keep: bool) -> Source:
        """A table as it is now, to be read as a whole."""
        plain = relation.replace(limit=None, event_time_filter=None)
        existing = self.existing_table(plain)
        table = SourceTable(
            relation.database or "",
            relation.schema or "",
            relation.identifier or "",
            tuple((column.name, column.data_type) for column in existing.columns),
            existing.primary_key,
            existing.partition_by,
            existing.options,
        )
        commits = self._commits(plain)
        tags = self.query(f"select snapshot_id, tag_name from {plain.system_table('tags')}")
        named = tuple((int(row[0]), str(row[1])) for row in tags)
        return Source(plain, table, commits, named, positions.latest(commits), None, keep)

    def _commits(self, relation: PaimonRelation) -> tuple[Commit, ...]:
        rows = self.query(
            "select snapshot_id, commit_kind, commit_user, total_record_count "
            f"from {relation.system_table('snapshots')}"
        )
        return tuple(Commit(int(row[0]), row[1], row[2], int(row[3] or 0)) for row in rows)

    def _from_position(
        self, what: str, source: Source, reading: Reading, on_expired: str, model: Mapping[str, Any]
    ) -> Source:
        """The source with the model's position in it.

        Raises:
            DbtRuntimeError: the changes since the position are lost, and on_expired is 'error'.
        """
        if reading.commits is None:
            reading.commits = self._commits(reading.own)
            reading.checkpoints = self._checkpoints(reading.own)
        start = positions.find(source.key, reading.commits, reading.checkpoints.get(source.key))
        placed = replace(source, start=start)
        problem = _lost(placed)
        if not problem:
            return placed
        if on_expired != "full":
            raise DbtRuntimeError(
                f"{what}: {problem} Run the model once with --full-refresh, or set on_expired='full', which "
                "builds it anew by itself. keep=true keeps what the model has yet to read from expiring."
            )
        if model.get("config", {}).get("full_refresh") is False:
            raise DbtRuntimeError(
                f"{what}: {problem} on_expired='full' would build the model anew, which full_refresh=false forbids."
            )
        reading.lost[source.table.name] = problem
        return source

    def _checkpoints(self, own: PaimonRelation) -> dict[str, Checkpoint]:
        kept = self._positions_table(own)
        if kept is None:
            return {}
        rows = self.query(positions.checkpoints_sql(kept.render()))
        return {
            fingerprint(row[0]): Checkpoint(Position(int(row[1]), row[2]), Position(int(row[3]), row[4]))
            for row in rows
        }

    def _positions_table(self, own: PaimonRelation) -> PaimonRelation | None:
        name = f"{own.identifier}{positions.POSITIONS_SUFFIX}"
        return self.get_relation(own.database, own.schema, name)

    def _range_sql(self, what: str, source: Source, table: SourceTable, output: Output) -> str:
        assert source.start is not None
        start, end = source.start.snapshot, source.end.snapshot
        commits = [commit for commit in source.commits if commit.snapshot > start]
        way = reads.way(
            table,
            commits,
            self.environment,
            incremental_catalog=self._incremental_catalog(),
            before=output.before,
        )
        # Even if a tag keeps the start, later commits may have expired.
        if not source.start_is_there:
            way = Way.COMPARE
        if way is Way.FILES and not table.primary_key and not self._only_added(source):
            way = Way.COMPARE
        if way is Way.NOTHING:
            return reads.nothing_sql(table, end, output)
        if way is Way.FILES:
            return reads.files_sql(table, start, end, output, self.environment)
        if way is Way.KEYS:
            return reads.keys_sql(table, start, end, output, self.environment)
        if not table.primary_key and reads.has_maps(table):
            raise DbtRuntimeError(
                f"{what}: its files were rewritten since (INSERT OVERWRITE, UPDATE, DELETE), and rows with maps cannot "
                "be compared where there is no primary key. Run the model once with --full-refresh."
            )
        version: int | str = start if source.start_is_there else source.start_tag
        return reads.compare_sql(table, version, self._then_called(source, version), end, output)

    def _then_called(self, source: Source, version: int | str) -> dict[str, str]:
        """What each column (in lower case) was called at a table snapshot or a tag."""
        table, column = ("tags", "tag_name") if isinstance(version, str) else ("snapshots", "snapshot_id")
        schemas = self.query(f"select schema_id, fields from {source.relation.system_table('schemas')}")
        versions = self.query(f"select {column}, schema_id from {source.relation.system_table(table)}")
        then = next(int(row[1]) for row in versions if row[0] == version)
        return metadata.then_called(schemas, then, max(int(row[0]) for row in schemas))

    def _only_added(self, source: Source) -> bool:
        """Whether the commits of a table without a primary key only added rows."""
        assert source.start is not None
        rows = {commit.snapshot: commit.rows for commit in source.commits}
        start, end = source.start.snapshot, source.end.snapshot
        counted = reads.count_sql(source.table, start, end, self.environment)
        ((added,),) = self.query(counted)
        return int(added) == rows[end] - rows[start]

    def _limited(self, reading: Reading, name: str, source: Source, rendered: str, output: Output) -> str:
        """The subquery for --empty (no rows) or --sample (some); neither moves the position of an existing model."""
        if source.start is not None:
            reading.sources[name] = replace(source, end=source.start)
        elif " where false limit 0)" in rendered:
            reading.sources[name] = replace(source, end=positions.NOTHING_READ)
        return reads.limited_sql(source.table, rendered, source.end.snapshot, output)

    # -- the run of the model ---------------------------------------------------------------------------------------

    @available.parse(lambda *a, **k: False)
    def changes_rebuild(self, model: Mapping[str, Any]) -> bool:
        """Whether a model has to be rebuilt because changes expired before it read them (on_expired='full').

        Raises:
            DbtRuntimeError: the same query also reads the changes of another source.
        """
        reading = self._readings.get(model["unique_id"])
        if reading is None or not reading.lost:
            return False
        partial = [source.table.name for source in reading.sources.values() if source.start is not None]
        if partial:
            lost = " ".join(f"{name}: {problem}" for name, problem in reading.lost.items())
            raise DbtRuntimeError(
                f"model '{model['name']}': {lost} The model would be built anew, but it reads the changes of "
                f"{', '.join(partial)}, too. Run it once with --full-refresh."
            )
        return True

    @available.parse(lambda *a, **k: {})
    def commit_conf(self, model: Mapping[str, Any]) -> dict[str, str]:
        """The Spark setting that writes a model's positions into its commits; empty if it reads no changes."""
        reading = self._readings.get(model["unique_id"])
        if reading is None or not reading.sources:
            return {}
        return {positions.COMMIT_USER_CONF: positions.mark(reading.ends())}

    @available.parse_none
    def check_positions(self, model: Mapping[str, Any]) -> None:
        """Check that no other run has moved the positions since this one was planned, where no lock prevents it.

        Raises:
            DbtRuntimeError: another run has; nothing is written.
        """
        reading = self._readings.get(model["unique_id"])
        if reading is None or self._lock_folder(reading.own) is not None:
            return
        planned = {s.key: s.start for s in reading.sources.values() if s.start is not None}
        if not planned:
            return
        own, kept = self._commits(reading.own), self._checkpoints(reading.own)
        if any(positions.find(key, own, kept.get(key)) != start for key, start in planned.items()):
            raise DbtRuntimeError(
                f"model '{model['name']}': another run has read the same changes meanwhile. Nothing was written; "
                "run it again."
            )

    @available
    def positions_table_sql(self, kept: PaimonRelation) -> str:
        """The DDL of the positions table, `<model>__dbt_changes`."""
        return positions.create_sql(kept.render())

    @available.parse(lambda *a, **k: "")
    def keep_positions_sql(self, model: Mapping[str, Any], kept: PaimonRelation) -> str:
        """The statement that writes a model's positions into its positions table; empty if none has moved.

        Args:
            model: the node, whose rows are committed.
            kept: the positions table.
        """
        reading = self._readings.get(model["unique_id"])
        if reading is None or not reading.sources:
            return ""
        own = positions.latest(self._commits(reading.own))
        moved = {
            source.table.name: Checkpoint(source.end, own)
            for source in reading.sources.values()
            if reading.checkpoints.get(source.key) != Checkpoint(source.end, own)
        }
        return positions.keep_sql(kept.render(), moved) if moved else ""

    @available.parse(lambda *a, **k: [])
    def tags_to_keep(self, model: Mapping[str, Any]) -> list[tuple[PaimonRelation, str, int]]:
        """(table, name, table snapshot) of the tags to create before a model's rows are committed (keep=true)."""
        return [
            (source.relation, _tag(reading.own, source.end), source.end.snapshot)
            for reading in [self._readings.get(model["unique_id"])]
            if reading is not None
            for source in reading.sources.values()
            if source.keep
            and source.end.snapshot
            and _tag(reading.own, source.end) not in [name for _, name in source.tags]
        ]

    @available.parse(lambda *a, **k: [])
    def tags_to_drop(self, model: Mapping[str, Any]) -> list[tuple[PaimonRelation, str]]:
        """(table, name) of the tags of a model's earlier positions, which are no longer needed after the commit."""
        return [
            (source.relation, name)
            for reading in [self._readings.get(model["unique_id"])]
            if reading is not None
            for source in reading.sources.values()
            for _, name in source.tags
            if name.startswith(_tag(reading.own, None)) and name != _tag(reading.own, source.end)
        ]

    @available.parse_none
    def forget_changes(self, model: Mapping[str, Any]) -> None:
        """Forget a model's reads; it has run."""
        self._readings.pop(model["unique_id"], None)


def _lost(source: Source) -> str:
    """Why the changes of a source since its start are lost; empty if they are not."""
    start = source.start
    if start is None:
        return "how far the model has read it is not known: its rows come from runs that did not read it so."
    if start == positions.NOTHING_READ or source.start_is_there or source.start_tag:
        return ""
    numbers = [commit.snapshot for commit in source.commits]
    if not numbers or start.snapshot >= min(numbers):
        return f"the table was rolled back or made anew since the model read its table snapshot {start.snapshot}."
    return (
        f"the model has read up to table snapshot {start.snapshot}, which has expired (there are "
        f"{min(numbers)} to {max(numbers)})."
    )


def _without(table: SourceTable, output: Output, what: str) -> SourceTable:
    """The table without its own row kind column, which says how its rows were written, not what changed.

    Raises:
        DbtRuntimeError: another of its columns has the name of a column that is added.
    """
    added = [name.lower() for name in (output.row_kind, output.snapshot_column) if name]
    own_kind = table.options.get("rowkind.field", "").lower()
    columns = tuple(
        column
        for column in table.columns
        if not (column[0].lower() == own_kind and own_kind == output.row_kind.lower())
    )
    if output.snapshot_column and output.snapshot_column == table.options.get("sequence.field"):
        columns = tuple(column for column in columns if column[0] != output.snapshot_column)
    taken = [name for name, _ in columns if name.lower() in added]
    if taken:
        raise DbtRuntimeError(
            f"{what}: the table has a column {', '.join(taken)} of its own. Give the added one another name by "
            "row_kind or snapshot_column."
        )
    return replace(table, columns=columns)


def _tag(own: PaimonRelation, at: Position | None) -> str:
    """The name of the tag that keeps a table snapshot for a model; without a position, the prefix of all its tags."""
    prefix = f"{_TAG}_{fingerprint(own.render())}_"
    return prefix if at is None else f"{prefix}{at.snapshot}_{at.commit}"
