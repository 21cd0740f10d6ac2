"""The rows of a table that changed between two of its snapshots: which way to read them, and the SQL of each way.

What Paimon's own incremental read gives (`paimon_incremental_query`, also over `$audit_log`) is the change for some
tables only: it leaves INSERT OVERWRITE out, shows rows that a sequence field or a merge engine did not let in, parts of
aggregates, nothing of tables with deletion vectors, and the changelog of lookup and full-compaction late or twice
[ran, 0.9.0; tests/functional/changes/test_ways.py]. Of all others the two snapshots are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.sql.text import quoted, string_literal

if TYPE_CHECKING:
    from dbt.adapters.paimon.capabilities import Environment
    from dbt.adapters.paimon.changes.positions import Commit

INSERTED: Final = "+I"


class Way(str, Enum):
    """How changes are read."""

    NOTHING = "nothing new"
    # The files of the commits, one row a key.
    FILES = "files"
    # The keys in the files of the commits, and the rows that they have now.
    KEYS = "keys"
    COMPARE = "compare"


@dataclass(frozen=True)
class SourceTable:
    """A table whose changes are read."""

    catalog: str
    schema: str
    identifier: str
    columns: tuple[tuple[str, str], ...]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in SQL."""
        return quoted(self.catalog, self.schema, self.identifier)

    def option(self, name: str, default: str = "") -> str:
        """A table option, in lower case."""
        return self.options.get(name, default).lower()


@dataclass(frozen=True)
class Output:
    """The columns that come beside those of the table, and whether old rows come, too."""

    row_kind: str = "_row_kind"
    snapshot_column: str | None = None
    before: bool = False


def way(
    table: SourceTable,
    commits: Sequence[Commit],
    environment: Environment,
    *,
    incremental_catalog: str,
    before: bool,
) -> Way:
    """How the changes of some commits are read, exactly and as cheaply as the table allows.

    Args:
        table: the table.
        commits: those of the range.
        environment: the versions.
        incremental_catalog: the one whose tables old versions read the changes of.
        before: whether the old rows of changed keys are wanted.

    Returns:
        The way. FILES of a table without a primary key holds only if its rows are counted (see `count_sql`).
    """
    if not commits:
        return Way.NOTHING
    if before or not _files_tell(table, environment, incremental_catalog):
        return Way.COMPARE
    kinds = {commit.kind for commit in commits}
    if "OVERWRITE" in kinds:
        return Way.COMPARE
    if "APPEND" not in kinds:
        return Way.NOTHING
    if not table.primary_key:
        return Way.FILES
    simple = table.option("merge-engine", "deduplicate") == "deduplicate" and not table.option(
        "sequence.field"
    )
    merged = environment.supports(Capability.INCREMENTAL_QUERY_MERGES)
    return Way.FILES if simple and merged else Way.KEYS


def _files_tell(table: SourceTable, environment: Environment, incremental_catalog: str) -> bool:
    """Whether the files of a table's commits name every key that changed, and no other row."""
    anywhere = environment.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG)
    if not anywhere and table.catalog != incremental_catalog:
        return False
    # Neither deletes by a vector nor what is read after compaction only are in these files.
    if table.option("deletion-vectors.enabled") == "true" or table.option("bucket") == "-2":
        return False
    if not table.primary_key:
        return True
    if table.option("changelog-producer", "none") not in ("none", "input"):
        return False
    if table.option("merge-engine") == "first-row":
        return False
    # A key that moves to another partition is deleted in the one and inserted in the other, in no order.
    if not set(table.partition_by) <= set(table.primary_key):
        return False
    # $audit_log has a column of that name.
    return all(name.lower() != "rowkind" for name, _ in table.columns)


def whole_sql(table: SourceTable, snapshot: int, output: Output) -> str:
    """All rows of a table at a table snapshot, as inserted; 0 is before the first."""
    version = f"version as of {snapshot}" if snapshot else "where false"
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {table.name} {version}")


def nothing_sql(table: SourceTable, snapshot: int, output: Output) -> str:
    """No row, with the columns of the others."""
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {table.name} where false")


def limited_sql(table: SourceTable, rendered: str, snapshot: int, output: Output) -> str:
    """What dbt lets a model see of a table (`--empty`, `--sample`), as inserted."""
    return _subquery(f"select {_columns(table, output, snapshot)}\nfrom {rendered}")


def files_sql(table: SourceTable, start: int, end: int, output: Output, environment: Environment) -> str:
    """The rows in the files of the commits after `start` up to `end`; of a key the last."""
    if not table.primary_key:
        source = _incremental(table, "", start, end, environment)
        return _subquery(f"select {_columns(table, output, end)}\nfrom {source}")
    source = _incremental(table, "$audit_log", start, end, environment)
    return _subquery(
        f"select {_columns(table, output, end, kind='rowkind')}\nfrom {source}\nwhere rowkind <> '-U'"
    )


def count_sql(table: SourceTable, start: int, end: int, environment: Environment) -> str:
    """How many rows the files of the commits have.

    UPDATE and DELETE rewrite files of a table without a primary key, and commit as APPEND [ran, 0.9.0]: their files
    then have more rows than the table has grown by.
    """
    return f"select count(*) from {_incremental(table, '', start, end, environment)}"


def keys_sql(table: SourceTable, start: int, end: int, output: Output, environment: Environment) -> str:
    """The rows that the keys in the files of the commits have at `end`, and the keys that have none as deleted."""
    source = _incremental(table, "$audit_log", start, end, environment)
    names = [quoted(name) for name, _ in table.columns]
    keys = [quoted(name) for name in table.primary_key]
    row = f"named_struct({', '.join(f'{string_literal(n)}, {quoted(n)}' for n, _ in table.columns)})"
    same = " and ".join(f"__now.{key} = __keys.{key}" for key in keys)
    columns = ",\n  ".join(
        f"if(__now.__dbt_there, __now.{name}, __keys.__dbt_row.{name}) as {name}" for name in names
    )
    # The small side of a semi join is broadcast, that of an outer join from its side is not.
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
    """What differs between a table at `start` (a table snapshot, a tag, or 0 for an empty table) and at `end`.

    Args:
        table: the table, with the columns that it has at `end`.
        start: where its old rows are.
        then_called: by the name of a column in small letters, what it was called there; the others were NULL.
        end: a table snapshot.
        output: further columns, and whether a changed row comes twice, as `-U` and `+U`.
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
    """Whether EXCEPT does not take the rows of a table."""
    return any("map<" in kind.lower() for _, kind in table.columns)


def _incremental(table: SourceTable, suffix: str, start: int, end: int, environment: Environment) -> str:
    parts = [table.schema, f"{table.identifier}{suffix}"]
    if environment.supports(Capability.INCREMENTAL_QUERY_IN_ANY_CATALOG):
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
