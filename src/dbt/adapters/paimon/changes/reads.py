"""Chooses how to read the rows that changed between two table snapshots, and renders the SQL of each way.

Paimon's own incremental read (`paimon_incremental_query`, also over `$audit_log`) is exact for some tables only: it
leaves out INSERT OVERWRITE, returns rows that a sequence field or a merge engine rejected and parts of aggregates,
returns nothing for tables with deletion vectors, and returns the changelog of lookup and full-compaction late or twice
[ran, 0.9.0; tests/functional/changes/test_ways.py]. For all other tables the two table snapshots are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.sql.text import quoted, string_literal

if TYPE_CHECKING:
    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.changes.positions import Commit
    from dbt.adapters.paimon.tables.changeset import ExistingTable

INSERTED: Final = "+I"


class ChangeReadMode(str, Enum):
    """A way to read changes."""

    NOTHING = "nothing new"
    # The rows in the files of the commits, the last one per key.
    FILES = "files"
    # The keys in the files of the commits, joined with their current rows.
    KEYS = "keys"
    COMPARE = "compare"


@dataclass(frozen=True)
class SourceTable:
    """A table whose changes are read.

    An `ExistingTable` with its name and the columns to read, which may be fewer than the table has. Streams also make
    one of what a table was at an earlier position.
    """

    catalog: str
    schema: str
    identifier: str
    columns: tuple[tuple[str, str], ...]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: str, schema: str, identifier: str, existing: ExistingTable) -> SourceTable:
        """The table of this name, as the catalog describes it."""
        return cls(
            catalog,
            schema,
            identifier,
            tuple((column.name, column.data_type) for column in existing.columns),
            existing.primary_key,
            existing.partition_by,
            existing.options,
        )

    @property
    def name(self) -> str:
        """The table's rendered name."""
        return quoted(self.catalog, self.schema, self.identifier)

    def option(self, name: str, default: str = "") -> str:
        """The value of a table option, in lower case."""
        return self.options.get(name, default).lower()


@dataclass(frozen=True)
class Output:
    """The columns to add to those of the table, and whether to return old rows."""

    row_kind: str = "_row_kind"
    snapshot_column: str | None = None
    before: bool = False


def way(
    table: SourceTable,
    commits: Sequence[Commit],
    versions: Versions,
    *,
    incremental_catalog: str,
    before: bool,
) -> ChangeReadMode:
    """The cheapest way to read the changes of some commits exactly.

    Args:
        table: the table.
        commits: the commits of the range.
        versions: the versions in use.
        incremental_catalog: the catalog whose tables old versions can read the changes of.
        before: whether the old rows of changed keys are wanted.

    Returns:
        The way. FILES holds for a table without a primary key only if the row counts agree (see `count_sql`).
    """
    if not commits:
        return ChangeReadMode.NOTHING
    if before or not _files_tell(table, versions, incremental_catalog):
        return ChangeReadMode.COMPARE
    kinds = {commit.kind for commit in commits}
    if "OVERWRITE" in kinds or (table.primary_key and any(commit.takes_files_away for commit in commits)):
        return ChangeReadMode.COMPARE
    if "APPEND" not in kinds:
        return ChangeReadMode.NOTHING
    if not table.primary_key:
        return ChangeReadMode.FILES
    simple = table.option("merge-engine", "deduplicate") == "deduplicate" and not table.option(
        "sequence.field"
    )
    merged = versions.supports(Capability.INCREMENTAL_QUERY_MERGES)
    return ChangeReadMode.FILES if simple and merged else ChangeReadMode.KEYS


def _files_tell(table: SourceTable, versions: Versions, incremental_catalog: str) -> bool:
    """Whether the files of a table's commits name exactly the keys that changed."""
    anywhere = versions.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG)
    if not anywhere and table.catalog != incremental_catalog:
        return False
    # Paimon reads other files for the changes than those of the commits, or none.
    if table.option("incremental-between-scan-mode", "auto") not in ("auto", "delta"):
        return False
    # These files have neither deletes by deletion vectors nor what becomes visible only after compaction.
    if table.option("deletion-vectors.enabled") == "true" or table.option("bucket") == "-2":
        return False
    if not table.primary_key:
        return True
    if table.option("changelog-producer", "none") not in ("none", "input"):
        return False
    if table.option("merge-engine") == "first-row":
        return False
    # A compaction removes the rows that have expired.
    if "record-level.expire-time" in table.options:
        return False
    # A key that moves to another partition is deleted in one and inserted in the other, in no defined order.
    if not set(table.partition_by) <= set(table.primary_key):
        return False
    # $audit_log has a column of that name.
    return all(name.lower() != "rowkind" for name, _ in table.columns)


def whole_sql(table: SourceTable, snapshot: int, output: Output) -> str:
    """All rows of a table at a table snapshot, as inserts; 0 is before the first."""
    version = f"version as of {snapshot}" if snapshot else "where false"
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {table.name} {version}")


def nothing_sql(table: SourceTable, snapshot: int, output: Output) -> str:
    """No rows, with the columns of the other queries."""
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {table.name} where false")


def limited_sql(table: SourceTable, rendered: str, snapshot: int, output: Output) -> str:
    """The rows of a table that dbt's `--empty` or `--sample` lets a model see, as inserts."""
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {rendered}")


def files_sql(table: SourceTable, start: int, end: int, output: Output, versions: Versions) -> str:
    """The rows in the files of the commits after `start` up to `end`; only the last one per key."""
    if not table.primary_key:
        source = _incremental(table, "", start, end, versions)
        return _subquery(f"select {_columns(table, output, end)}\nfrom {source}")
    source = _incremental(table, "$audit_log", start, end, versions)
    return _subquery(
        f"select {_columns(table, output, end, kind='rowkind')}\nfrom {source}\nwhere rowkind <> '-U'"
    )


def count_sql(table: SourceTable, start: int, end: int, versions: Versions) -> str:
    """The query of how many rows the files of the commits have.

    UPDATE and DELETE rewrite files of a table without a primary key, and commit as APPEND [ran, 0.9.0]: their files
    then have more rows than the table has gained.
    """
    return f"select count(*) from {_incremental(table, '', start, end, versions)}"


def keys_sql(table: SourceTable, start: int, end: int, output: Output, versions: Versions) -> str:
    """The rows at `end` of the keys in the files of the commits; keys without a row are returned as deletes."""
    source = _incremental(table, "$audit_log", start, end, versions)
    names = [quoted(name) for name, _ in table.columns]
    keys = [quoted(name) for name in table.primary_key]
    row = f"named_struct({', '.join(f'{string_literal(n)}, {quoted(n)}' for n, _ in table.columns)})"
    same = " and ".join(f"__now.{key} = __keys.{key}" for key in keys)
    columns = ",\n  ".join(
        f"if(__now.__dbt_there, __now.{name}, __keys.__dbt_row.{name}) as {name}" for name in names
    )
    # Spark broadcasts the small side of a semi join, but not the outer side of an outer join.
    return _subquery(
        f"""select {columns},
  if(__now.__dbt_there, '+U', '-D') as {quoted(output.row_kind)}{_snapshot(output, end)}
from (
  select {", ".join(keys)}, first({row}) as __dbt_row
  from {source} group by {", ".join(keys)}
) as __keys
left join (
  select __now.*, true as __dbt_there
  from (select {", ".join(names)} from {table.name} version as of {end}) as __now
  left semi join {source} as __keys on {same}
) as __now on {same}"""
    )


def compare_sql(
    table: SourceTable, start: int | str, then_called: Mapping[str, str], end: int, output: Output
) -> str:
    """The difference between a table at `start` (a table snapshot, a tag, or 0 for an empty table) and at `end`.

    Args:
        table: the table, with its columns at `end`.
        start: the state with the old rows.
        then_called: what each column (in lower case) was called at `start`; columns that are missing here were NULL.
        end: a table snapshot.
        output: the columns to add, and whether a changed row is returned twice, as `-U` and `+U`.
    """
    new = ", ".join(quoted(name) for name, _ in table.columns)
    old = ", ".join(
        f"cast({quoted(then) if (then := then_called.get(name.lower())) else 'null'} as {kind}) as {quoted(name)}"
        for name, kind in table.columns
    )
    version = string_literal(start) if isinstance(start, str) else str(start)
    now = f"select {new} from {table.name} version as of {end}"
    then = f"select {old} from {table.name} version as of {version}"
    if not table.primary_key:
        inserted = f"select *, '+I' as {quoted(output.row_kind)}{_snapshot(output, end)}"
        deleted = f"select *, '-D' as {quoted(output.row_kind)}{_snapshot(output, end)}"
        return _subquery(
            f"{inserted} from ({now} except all {then})\nunion all\n{deleted} from ({then} except all {now})"
        )
    keys = ", ".join(quoted(name) for name in table.primary_key)
    same_key = " and ".join(f"__new.{quoted(k)} = __old.{quoted(k)}" for k in table.primary_key)
    # Maps cannot be compared.
    as_text = any("map<" in kind.lower() for _, kind in table.columns)
    equal = (
        "to_json(__new.__dbt_row) <=> to_json(__old.__dbt_row)"
        if as_text
        else "__new.__dbt_row <=> __old.__dbt_row"
    )
    both = "struct('+U' as kind, __new.__dbt_row as row)"
    if output.before:
        both = f"struct('-U' as kind, __old.__dbt_row as row), {both}"
    columns = ", ".join(f"__change.row.{quoted(n)} as {quoted(n)}" for n, _ in table.columns)
    return _subquery(
        f"""select {columns}, __change.kind as {quoted(output.row_kind)}{_snapshot(output, end)}
from (
  select explode(case
    when __old.__dbt_row is null then array(struct('+I' as kind, __new.__dbt_row as row))
    when __new.__dbt_row is null then array(struct('-D' as kind, __old.__dbt_row as row))
    else array({both})
  end) as __change
  from (select {keys}, struct(*) as __dbt_row from ({now})) as __new
  full join (select {keys}, struct(*) as __dbt_row from ({then})) as __old on {same_key}
  where not ({equal})
)"""
    )


def version_sql(table: SourceTable, version: int | str) -> str:
    """All columns of a table at a table snapshot or a tag."""
    text = string_literal(version) if isinstance(version, str) else str(version)
    return f"select * from {table.name} version as of {text}"


def has_maps(table: SourceTable) -> bool:
    """Whether a table has map columns, which EXCEPT does not accept."""
    return any("map<" in kind.lower() for _, kind in table.columns)


def _incremental(table: SourceTable, suffix: str, start: int, end: int, versions: Versions) -> str:
    parts = [table.schema, f"{table.identifier}{suffix}"]
    if versions.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG):
        parts.insert(0, table.catalog)
    return f"paimon_incremental_query({string_literal(quoted(*parts))}, {start}, {end})"


def _columns(table: SourceTable, output: Output, snapshot: int, kind: str = f"'{INSERTED}'") -> str:
    names = [quoted(name) for name, _ in table.columns]
    return ", ".join([*names, f"{kind} as {quoted(output.row_kind)}"]) + _snapshot(output, snapshot)


def _snapshot(output: Output, snapshot: int) -> str:
    if output.snapshot_column is None:
        return ""
    return f", cast({snapshot} as bigint) as {quoted(output.snapshot_column)}"


def _subquery(sql: str) -> str:
    return f"(\n{sql}\n)"
