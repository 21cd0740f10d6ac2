"""Chooses how to read the rows that changed between two table snapshots, and renders the SQL of each read mode.

Paimon's own incremental read (`paimon_incremental_query`, including over `$audit_log`) is exact for some tables only.
It omits INSERT OVERWRITE, returns partial aggregates and rows that a sequence field or a merge engine rejected, returns
nothing for tables with deletion vectors, and returns the changelog of the producers lookup and full-compaction late or
twice [ran, 0.9.0; tests/functional/changes/test_ways.py]. For all other tables, the two table snapshots are compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.metadata import schemas
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import Query, TableName
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.table import BRANCH_OPTIONS
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.tables.existing import ExistingTable


class UncomparableError(DbtRuntimeError):
    """Two states of a table cannot be compared; `why` says why, without the remedy."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}. Run the model once with --full-refresh.")
        self.why = why


class ChangeReadMode(str, Enum):
    """How changes are read."""

    NOTHING = "nothing new"
    # The rows in the files of the commits, the last one per key.
    FILES = "files"
    # The keys in the files of the commits, joined with their current rows.
    KEYS = "keys"
    COMPARE = "compare"


@dataclass(frozen=True)
class SourceTable:
    """A table whose changes are read, with the columns to read."""

    name: TableName
    columns: tuple[tuple[str, str], ...]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    # Current column name in lower case -> its name in the newest table snapshot. None if all names are the same.
    newest_names: Mapping[str, str] | None = None

    @classmethod
    def of(cls, name: TableName, existing: ExistingTable) -> SourceTable:
        """The table; raises DbtRuntimeError if it also has rows of a branch, because its commits do not show those."""
        for option, value in existing.options.items():
            if option.startswith("scan.fallback-") or option in BRANCH_OPTIONS:
                raise DbtRuntimeError(
                    f"{name.shown} also has the rows of a branch ({option}={value}), and its own commits do not show "
                    "how they change. Read the table in a model that is a table or a view, or remove the option."
                )
        columns = tuple((column.name, column.data_type) for column in existing.columns)
        return cls(name, columns, existing.primary_key, existing.partition_by, existing.options)

    def at(self, snapshot: int) -> str:
        """The SQL after FROM that reads a table snapshot with the current column names."""
        version, then = f"{self.name.rendered} version as of {snapshot}", self.newest_names
        if then is None:
            return version
        # Without casts: Spark cannot cast a struct whose fields have changed.
        return f"(select {_called(self, then, cast=False)} from {version})"

    def option(self, name: str, default: str = "") -> str:
        """The value of a table option, in lower case."""
        return self.options.get(name, default).lower()


@dataclass(frozen=True)
class Output:
    """The columns to add to the table's columns, and whether to return old rows."""

    row_kind: str = "_row_kind"
    snapshot_column: str | None = None
    before: bool = False


def read_mode(
    table: SourceTable, commits: Sequence[Commit], versions: Versions, *, incremental_catalog: str, before: bool
) -> ChangeReadMode:
    """The cheapest way to read the changes of some commits exactly.

    For a table without a primary key, FILES is exact only if the row counts agree (see `checked_mode`).

    Args:
        incremental_catalog: the only catalog whose changes old versions of Paimon can read.
        before: whether the old rows of changed keys are wanted.
    """
    if not commits:
        return ChangeReadMode.NOTHING
    if before or not _files_show_changes(table, versions, incremental_catalog) or _replaces_files(table, commits):
        return ChangeReadMode.COMPARE
    if table.option("changelog-producer") == "input" and any(map(_lacks_changelog, commits)):
        return ChangeReadMode.COMPARE
    kinds = [commit.kind for commit in commits]
    if "APPEND" not in kinds:
        return ChangeReadMode.NOTHING
    if not table.primary_key:
        return ChangeReadMode.FILES
    simple = _last_wins(table, versions) and not _compacted_between(kinds)
    return ChangeReadMode.FILES if simple else ChangeReadMode.KEYS


def _replaces_files(table: SourceTable, commits: Sequence[Commit]) -> bool:
    """Whether a commit overwrites rows, or removes files of a table with a primary key."""
    return any(commit.kind == "OVERWRITE" or (table.primary_key and commit.takes_files_away) for commit in commits)


def _lacks_changelog(commit: Commit) -> bool:
    """Whether a commit is older than the table's `changelog-producer: input`.

    Paimon then reads only changelog files, and none for this commit (AbstractDataTableScan.toSnapshotScanMode).
    """
    return commit.kind == "APPEND" and commit.delta > 0 and not commit.changelog


def _last_wins(table: SourceTable, versions: Versions) -> bool:
    """Whether a key keeps the row that was written last, and Paimon's incremental read returns that row."""
    if not versions.supports(Capability.INCREMENTAL_QUERY_MERGES) or table.option("sequence.field"):
        return False
    return table.option("merge-engine", "deduplicate") == "deduplicate"


def _compacted_between(kinds: Sequence[str]) -> bool:
    """Whether there was a compaction, which drops deletes, between two appends."""
    # If the key of a dropped delete is written again, the new row may have the same sequence number as the delete, or a
    # smaller one [ran, 0.9.0]. In the files, the delete then comes last.
    last = len(kinds) - 1 - kinds[::-1].index("APPEND")
    return "COMPACT" in kinds[kinds.index("APPEND") : last]


def _files_show_changes(table: SourceTable, versions: Versions, incremental_catalog: str) -> bool:
    """Whether the files of a table's commits contain exactly the changed rows, or at least their keys."""
    anywhere = versions.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG)
    if not anywhere and table.name.catalog != incremental_catalog:
        return False
    # In other modes Paimon does not read the files of the commits.
    if table.option("incremental-between-scan-mode", "auto") not in ("auto", "delta"):
        return False
    # The files lack deletes by deletion vectors, and rows that become visible only after compaction.
    if table.option("deletion-vectors.enabled") == "true" or table.option("bucket") == "-2":
        return False
    # MERGE writes files that have only the updated columns.
    if table.option("data-evolution.enabled") == "true":
        return False
    return not table.primary_key or _files_show_changed_keys(table)


def _files_show_changed_keys(table: SourceTable) -> bool:
    if table.option("changelog-producer", "none") not in ("none", "input"):
        return False
    if table.option("merge-engine") == "first-row":
        return False
    # A compaction removes expired rows, which the files of appends do not show.
    if "record-level.expire-time" in table.options:
        return False
    # A key that moves to a different partition is deleted in one and inserted in the other, in no defined order.
    if not set(table.partition_by) <= set(table.primary_key):
        return False
    # $audit_log adds a column named `rowkind`.
    return all(name.lower() != "rowkind" for name, _ in table.columns)


def whole_sql(table: SourceTable, snapshot: int, output: Output) -> str:
    """All rows of a table at a table snapshot, as inserts; no rows for table snapshot 0."""
    source = table.at(snapshot) if snapshot else f"{table.name.rendered} where false"
    return inserts_sql(table, source, snapshot, output)


def inserts_sql(table: SourceTable, source: str, snapshot: int, output: Output) -> str:
    """The rows of `source`, the text after FROM, as inserts into the table."""
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {source}")


def changes_sql(
    mode: ChangeReadMode, table: SourceTable, start: int, end: int, output: Output, versions: Versions
) -> str:
    """The changes after `start` up to `end`, in any mode except COMPARE (see `compare_sql`)."""
    if mode is ChangeReadMode.NOTHING:
        return inserts_sql(table, f"{table.name.rendered} where false", end, output)
    if mode is ChangeReadMode.FILES:
        return _files_sql(table, start, end, output, versions)
    return _keys_sql(table, start, end, output, versions)


def _files_sql(table: SourceTable, start: int, end: int, output: Output, versions: Versions) -> str:
    """The rows in the files of the commits after `start` up to `end`; only the last row of each key."""
    if not table.primary_key:
        return inserts_sql(table, _incremental(table, "", start, end, versions), end, output)
    source = _incremental(table, "$audit_log", start, end, versions)
    return _subquery(f"select {_columns(table, output, end, kind='rowkind')}\nfrom {source}\nwhere rowkind <> '-U'")


def checked_mode(
    mode: ChangeReadMode, table: SourceTable, start: int, end: int, gained: int, query: Query, versions: Versions
) -> ChangeReadMode:
    """COMPARE if FILES would not be exact for a table without a primary key; otherwise `mode`.

    UPDATE and DELETE rewrite files of such a table and commit as APPEND [ran, 0.9.0]. The files of the commits then
    have more rows than the table has gained.
    """
    if mode is not ChangeReadMode.FILES or table.primary_key:
        return mode
    ((added,),) = query(f"select count(*) from {_incremental(table, '', start, end, versions)}")
    return mode if int(added) == gained else ChangeReadMode.COMPARE


def _keys_sql(table: SourceTable, start: int, end: int, output: Output, versions: Versions) -> str:
    """The current rows, at `end`, of the keys in the files of the commits; a key without a row is a delete."""
    source = _incremental(table, "$audit_log", start, end, versions)
    names = [quoted(name) for name, _ in table.columns]
    keys = [quoted(name) for name in table.primary_key]
    row = f"named_struct({', '.join(f'{string_literal(n)}, {quoted(n)}' for n, _ in table.columns)})"
    same = " and ".join(f"__now.{key} = __keys.{key}" for key in keys)
    columns = ",\n  ".join(f"if(__now.__dbt_there, __now.{name}, __keys.__dbt_row.{name}) as {name}" for name in names)
    # The semi join avoids a shuffle of the table: Spark broadcasts its small side, but not an outer join's outer side.
    return _subquery(
        f"""select {columns},
  if(__now.__dbt_there, '+U', '-D') as {quoted(output.row_kind)}{_snapshot(output, end)}
from (
  select {", ".join(keys)}, coalesce({_last_deleted(table, row)}, first({row})) as __dbt_row
  from {source} group by {", ".join(keys)}
) as __keys
left join (
  select __now.*, true as __dbt_there
  from (select {", ".join(names)} from {table.at(end)}) as __now
  left semi join {source} as __keys on {same}
) as __now on {same}"""
    )


def _last_deleted(table: SourceTable, row: str) -> str:
    """An SQL aggregate: the row that was last deleted for a key, or NULL.

    With a sequence field, the row with the newest sequence is the last, because Paimon rejects late rows.
    """
    sequence = [quoted(name) for name in column_list(table.options.get("sequence.field"))]
    if not sequence:
        return f"first({row}) filter (where rowkind = '-D')"
    last = "min_by" if table.option("sequence.field.sort-order") == "descending" else "max_by"
    return f"{last}({row}, struct({', '.join(sequence)})) filter (where rowkind = '-D')"


def old_names(what: str, known: Sequence[Schema], then: int, now: int) -> dict[str, str]:
    """See `schemas.then_called`; raises UncomparableError if the fields of a struct have changed."""
    if changed := schemas.changed_structs(known, then, now):
        why = f"the fields of {', '.join(changed)} have changed, so older rows cannot be compared with the current ones"
        raise UncomparableError(what, why)
    return schemas.then_called(known, then, now)


def compare_sql(
    what: str, table: SourceTable, start: int | str, old_names: Mapping[str, str], end: int, output: Output
) -> str:
    """The difference between a table at `start` (a table snapshot, a tag, or 0 for an empty table) and at `end`.

    Args:
        old_names: current column name in lower case -> name at `start`; a column that is missing here was NULL.
        output: if `before` is set, a changed row is returned twice, as `-U` and `+U`.

    Raises:
        UncomparableError: the table has maps but no primary key; `what` is the reader.
    """
    if not table.primary_key and _has_maps(table):
        raise UncomparableError(
            what,
            "the table's files were rewritten since then (INSERT OVERWRITE, UPDATE, DELETE), and rows with maps cannot "
            "be compared without a primary key",
        )
    new = ", ".join(quoted(name) for name, _ in table.columns)
    version = string_literal(start) if isinstance(start, str) else start
    now = f"select {new} from {table.at(end)}"
    then = f"select {_called(table, old_names, cast=True)} from {table.name.rendered} version as of {version}"
    if table.primary_key:
        return _subquery(_compare_by_key(table, then, now, end, output))
    inserted = f"select *, '+I' as {quoted(output.row_kind)}{_snapshot(output, end)}"
    deleted = f"select *, '-D' as {quoted(output.row_kind)}{_snapshot(output, end)}"
    return _subquery(f"{inserted} from ({now} except all {then})\nunion all\n{deleted} from ({then} except all {now})")


def _called(table: SourceTable, names: Mapping[str, str], *, cast: bool) -> str:
    """A select list of a table's columns that reads them by other names (see `compare_sql`).

    `cast`: whether to cast each column to its current type; a missing column is always NULL of this type.
    """

    def value(name: str, kind: str) -> str:
        then = names.get(name.lower())
        sql = quoted(then) if then else "null"
        return f"cast({sql} as {kind})" if cast or not then else sql

    return ", ".join(f"{value(name, kind)} as {quoted(name)}" for name, kind in table.columns)


def _compare_by_key(table: SourceTable, then: str, now: str, end: int, output: Output) -> str:
    keys = ", ".join(quoted(name) for name in table.primary_key)
    same_key = " and ".join(f"__new.{quoted(k)} = __old.{quoted(k)}" for k in table.primary_key)
    new, old = "__new.__dbt_row", "__old.__dbt_row"
    # Spark cannot compare maps, so rows with maps are compared as JSON.
    equal = f"{_json(new)} <=> {_json(old)}" if _has_maps(table) else f"{new} <=> {old}"
    both = f"struct('+U' as kind, {new} as row)"
    if output.before:
        both = f"struct('-U' as kind, {old} as row), {both}"
    columns = ", ".join(f"__change.row.{quoted(n)} as {quoted(n)}" for n, _ in table.columns)
    return f"""select {columns}, __change.kind as {quoted(output.row_kind)}{_snapshot(output, end)}
from (
  select explode(case
    when {old} is null then array(struct('+I' as kind, {new} as row))
    when {new} is null then array(struct('-D' as kind, {old} as row))
    else array({both})
  end) as __change
  from (select {keys}, struct(*) as __dbt_row from ({now})) as __new
  full join (select {keys}, struct(*) as __dbt_row from ({then})) as __old on {same_key}
  where not ({equal})
)"""


def _json(row: str) -> str:
    """A row as JSON with microseconds; by default, `to_json` writes milliseconds."""
    moment = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
    formats = f"'timestampFormat', {string_literal(f'{moment}XXX')}, 'timestampNTZFormat', {string_literal(moment)}"
    return f"to_json({row}, map({formats}))"


def _has_maps(table: SourceTable) -> bool:
    """Whether a table has columns of maps or variants, which Spark cannot compare."""
    return any(re.search(r"map<|variant", kind.lower()) for _, kind in table.columns)


def _incremental(table: SourceTable, suffix: str, start: int, end: int, versions: Versions) -> str:
    parts = [table.name.schema, f"{table.name.identifier}{suffix}"]
    if versions.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG):
        parts.insert(0, table.name.catalog)
    return f"paimon_incremental_query({string_literal(quoted(*parts))}, {start}, {end})"


def _columns(table: SourceTable, output: Output, snapshot: int, kind: str = "'+I'") -> str:
    names = [quoted(name) for name, _ in table.columns]
    return ", ".join([*names, f"{kind} as {quoted(output.row_kind)}"]) + _snapshot(output, snapshot)


def _snapshot(output: Output, snapshot: int) -> str:
    if output.snapshot_column is None:
        return ""
    return f", cast({snapshot} as bigint) as {quoted(output.snapshot_column)}"


def _subquery(sql: str) -> str:
    return f"(\n{sql}\n)"
