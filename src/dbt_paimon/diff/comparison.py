"""Compares two states of a node's table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted, size
from dbt.adapters.paimon.metadata import files, schemas, snapshots
from dbt.adapters.paimon.metadata.schemas import Field
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.tables.existing import PROTECTED_OPTIONS, ExistingTable
from dbt.adapters.paimon.time_travel import clones
from dbt_paimon.diff import statements
from dbt_paimon.diff.findings import Difference, Sample
from dbt_paimon.diff.sides import ELSEWHERE, Kind, Side
from dbt_paimon.diff.statements import Compared, Statements

if TYPE_CHECKING:
    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.scans import Scan


@dataclass(frozen=True)
class _State:
    """One side: its relation, its columns, and the table's metadata in that state (None for a view)."""

    relation: PaimonRelation
    columns: tuple[PaimonColumn, ...]
    existing: ExistingTable | None


class Comparison:
    """Compares tables; read-only. The adapter needs an open connection."""

    def __init__(self, adapter: PaimonAdapter) -> None:
        self._adapter = adapter

    def of(self, node: Mapping[str, Any], before: Side, after: Side, *, key: Sequence[str], samples: int) -> Difference:
        """Compare a node's table between two sides; an error becomes the `problem` of the result.

        Rows are matched by `key`, or by default by the primary key, else the `unique_key`.
        """
        found = Difference(node["unique_id"], f"{node['schema']}.{node['alias']}", str(before), str(after))
        try:
            return self._compared(node, found, before, after, key, samples)
        except DbtRuntimeError as exc:
            return replace(found, problem=str(exc.msg).strip())

    def _compared(
        self, node: Mapping[str, Any], found: Difference, before: Side, after: Side, key: Sequence[str], samples: int
    ) -> Difference:
        new = self._state(node, after)
        if new is None:
            raise DbtRuntimeError(f"{after}: {found.name} does not exist there. Build it first.")
        old = self._state(node, before)
        if old is None:
            ((rows,),) = self._adapter.query(f"select count(*) from {new.relation.render()}")
            return replace(found, rows_after=rows, added=rows, schema=("the table is new",), read=f"{rows:,} rows")
        found = replace(
            found,
            before=_label(before, old),
            after=_label(after, new),
            schema=tuple(_schema_changes(old, new)),
            options=tuple(_option_changes(old, new)),
        )
        columns, left_out = _shared_columns(old, new)
        keys = self._key(node, key, new, columns)
        whole = Statements(old.relation.render(), new.relation.render(), keys, columns)
        queries, of_all = self._pruned(whole, old, new)
        if keys and not _is_unique(keys, old, new) and self._adapter.query(queries.repeated_key())[0][0]:
            # Compare whole rows: by key, a row of one side could match several rows of the other.
            queries = replace(queries, key=())
        found = replace(found, key=tuple(column.after for column in queries.key), left_out=left_out)
        return self._counted(found, queries, samples, of_all)

    def _counted(self, found: Difference, queries: Statements, samples: int, of_all: str) -> Difference:
        sql = queries.summary()
        scans = self._adapter.handle.scanned_tables(sql)
        (row,) = self._adapter.query(sql)
        numbers = [int(number or 0) for number in row]
        if queries.key:
            rows_before, rows_after, added, gone, changed, *by_column = numbers
            columns = {c.after: number for c, number in zip(queries.rest, by_column, strict=True) if number}
            found = replace(found, rows_before=rows_before, rows_after=rows_after, changed=changed, columns=columns)
        else:
            added, gone = numbers
        found = replace(found, added=added, gone=gone, read=_scanned(scans, of_all))
        if samples and any((found.added, found.gone, found.changed)):
            rows = self._adapter.query(queries.samples(samples))
            found = replace(found, samples=tuple(_sample(queries, row) for row in rows))
        return found

    # -- the sides ------------------------------------------------------------------------------------------

    def _state(self, node: Mapping[str, Any], side: Side) -> _State | None:
        """One side; None if its table does not exist. Raises an error if the table does not have that state."""
        place = self._place(node, side)
        found = self._adapter.get_relation(*place) if place is not None else None
        if found is None:
            return None
        branch = self._adapter.clones.behind(found)
        if branch is not None:
            # Read the branch itself: its metadata shows which files it shares with the original.
            self._adapter.clones.check(found)
            if side.kind is Kind.BRANCH:
                raise DbtRuntimeError(f"{side}: {found} is a branch itself, {branch}, and has no branches.")
            found = branch
        if side.kind is Kind.NOW or side.kind in ELSEWHERE:
            return self._with_columns(found, self._adapter.tables.existing(found) if found.is_table else None)
        if not found.is_table:
            raise DbtRuntimeError(
                f"{side}: {found} is a view, which has no history. Compare it with target:… or state."
            )
        if side.kind is Kind.BRANCH:
            branch = self._adapter.history.at(found, {"branch": side.value}, node)
            return self._with_columns(branch, self._adapter.tables.existing(branch))
        return self._at_snapshot(node, found, side)

    def _at_snapshot(self, node: Mapping[str, Any], found: PaimonRelation, side: Side) -> _State:
        if side.kind is Kind.TAG:
            at = self._adapter.history.at(found, {"tag": side.value}, node)
            schema = schemas.of_tag(self._adapter.query, found, side.value)
        else:
            number = self._snapshot(found, side)
            at = self._adapter.history.at(found, {"snapshot": number}, node)
            schema = schemas.of_snapshot(self._adapter.query, found, number)
        return self._with_columns(at, ExistingTable.of(schema))

    def _place(self, node: Mapping[str, Any], side: Side) -> tuple[str, str, str] | None:
        """Catalog, schema and name of a side's table; None if the node is not in the other manifest."""
        if side.kind is Kind.TABLE:
            *above, name = side.value.split(".")
            if not above or len(above) > 2 or not name:
                raise DbtRuntimeError(f"{side}: [catalog.]schema.table is needed.")
            return (above[0] if len(above) == 2 else self._adapter.credentials.database), above[-1], name
        if side.kind in (Kind.STATE, Kind.TARGET):
            other = node.get("defer_relation")
            return (other["database"], other["schema"], other["alias"]) if other else None
        return node["database"], node["schema"], node["alias"]

    def _snapshot(self, table: PaimonRelation, side: Side) -> str:
        if side.kind is Kind.SNAPSHOT:
            return side.value
        if side.kind is Kind.TIMESTAMP:
            return self._adapter.history.snapshot_at(table, side.value)
        commits = snapshots.by_sql(self._adapter.query, table)
        newest = max((each.snapshot for each in commits if not each.is_upkeep), default=0)
        before = [each.snapshot for each in commits if each.snapshot < newest]
        if not before:
            raise DbtRuntimeError(
                f"{side}: {table} has no table snapshot before its newest commit. Choose another state with --from …"
            )
        return str(before[-1])

    def _with_columns(self, relation: PaimonRelation, existing: ExistingTable | None) -> _State:
        return _State(relation, self._adapter.query_columns(f"select * from {relation.render()}"), existing)

    # -- what is compared -----------------------------------------------------------------------------------

    def _key(
        self, node: Mapping[str, Any], chosen: Sequence[str], new: _State, columns: Sequence[Compared]
    ) -> tuple[Compared, ...]:
        names = tuple(chosen) or _default_key(node["config"], new)
        by_name = {column.after.lower(): column for column in columns}
        missing = [name for name in names if name.lower() not in by_name]
        if missing and chosen:
            raise DbtRuntimeError(
                f"--key {','.join(chosen)}: not in both tables: {', '.join(missing)}. They share "
                f"{', '.join(column.after for column in columns)}."
            )
        return () if missing else tuple(by_name[name.lower()] for name in names)

    def _pruned(self, queries: Statements, old: _State, new: _State) -> tuple[Statements, str]:
        """Limit the statements to partitions whose files differ; also return in words how many partitions they read."""
        partitions = self._partitions(old, new)
        if partitions is None:
            return queries, ""
        assert new.existing is not None
        types = {column.name.lower(): column.dtype for column in new.columns}
        differing = [text for text, differs in partitions if differs]
        where = statements.of_partitions(differing, {name: types[name.lower()] for name in new.existing.partition_by})
        if where is None:
            return queries, ""
        return replace(queries, where=where), f" of {len(differing)} of {len(partitions)} partitions"

    def _partitions(self, old: _State, new: _State) -> list[tuple[str, bool]] | None:
        """Each partition, with whether its files differ between the sides.

        None if files do not show which rows differ: in two different tables, because deletion vectors hide rows, or
        because a column was dropped and added again, so that its values in older files are NULL.
        """
        if not _share_partitions(old, new):
            return None
        before, after = self._columns(old), self._columns(new)
        columns = {(column.id, column.name.lower()) for fields in after.values() for column in fields}
        if len(columns) > len({name for _, name in columns}):
            return None
        is_branch = any(_table(state).identifier != state.relation.identifier for state in (old, new))
        # FilesTable of 0.9.0 looks up the schemas of a branch's files in the table, so they must be the same [ran].
        if is_branch and before != after:
            return None
        return files.differing_partitions(self._adapter.query, _files(old), _files(new))

    def _columns(self, state: _State) -> dict[int, tuple[Field, ...]]:
        """The columns of each schema that a table or branch has had, by the schema's id."""
        found = schemas.newest_first(self._adapter.query, state.relation.replace(travel=""))
        return {schema.id: schema.fields for schema in found}


def _default_key(config: Mapping[str, Any], new: _State) -> tuple[str, ...]:
    if new.existing is not None and new.existing.primary_key:
        return new.existing.primary_key
    return column_list(config.get("primary_key")) or column_list(config.get("unique_key"))


def _share_partitions(old: _State, new: _State) -> bool:
    """Whether both sides are states of one partitioned table whose files show which rows it has."""
    before, after = old.existing, new.existing
    if before is None or after is None or _table(old).parts[1:] != _table(new).parts[1:]:
        return False
    if not after.partition_by or before.partition_by != after.partition_by:
        return False
    return all(table.options.get("deletion-vectors.enabled") != "true" for table in (before, after))


def _table(state: _State) -> PaimonRelation:
    """The table of a side; for a branch, the table that it belongs to."""
    return clones.table_of(state.relation)


def _files(state: _State) -> str:
    return files.state(state.relation.replace(travel=""), state.relation.travel)


def _scanned(scans: Sequence[Scan], partitions: str) -> str:
    """What was read: `12 files, 40.0 MiB, 12,408 rows of 2 of 31 partitions`."""
    if not scans or any(scan.files is None for scan in scans):
        return f"both tables{partitions}"
    files, held, rows = (sum(getattr(scan, name) or 0 for scan in scans) for name in ("files", "bytes", "rows"))
    return f"{counted(files, 'file')}, {size(held)}, {counted(rows, 'row')}{partitions}"


def _label(side: Side, state: _State) -> str:
    return f"{side} ({state.relation.shown})" if side.kind in ELSEWHERE else str(side)


def _shared_columns(old: _State, new: _State) -> tuple[tuple[Compared, ...], tuple[str, ...]]:
    """The shared columns that can be compared, and the names of those that cannot."""
    before = {column.name.lower(): column for column in old.columns}
    pairs = ((before.get(column.name.lower()), column) for column in new.columns)
    shared = [Compared(a.name, b.name, a.dtype, b.dtype) for a, b in pairs if a is not None]
    return tuple(c for c in shared if c.is_comparable), tuple(c.after for c in shared if not c.is_comparable)


def _is_unique(keys: Sequence[Compared], old: _State, new: _State) -> bool:
    """Whether the key is the primary key of both sides."""

    def primary(state: _State) -> set[str]:
        return {name.lower() for name in state.existing.primary_key} if state.existing else set()

    return primary(old) == primary(new) == {column.after.lower() for column in keys}


def _schema_changes(old: _State, new: _State) -> list[str]:
    before = {column.name.lower(): column for column in old.columns}
    after = {column.name.lower(): column for column in new.columns}
    changes = [f"adds {c.name} {c.dtype}" for name, c in after.items() if name not in before]
    changes += [f"drops {c.name} {c.dtype}" for name, c in before.items() if name not in after]
    changes += [
        f"type of {c.name}: {before[name].dtype} -> {c.dtype}"
        for name, c in after.items()
        if name in before and before[name].dtype != c.dtype
    ]
    return changes + _key_changes(old.existing, new.existing)


def _key_changes(old: ExistingTable | None, new: ExistingTable | None) -> list[str]:
    if old is None or new is None:
        return []
    pairs = {"primary key": (old.primary_key, new.primary_key), "partitions": (old.partition_by, new.partition_by)}
    return [f"{what}: {', '.join(a) or 'none'} -> {', '.join(b) or 'none'}" for what, (a, b) in pairs.items() if a != b]


def _option_changes(old: _State, new: _State) -> list[str]:
    if old.existing is None or new.existing is None:
        return []
    before, after = old.existing.options, new.existing.options
    return [
        f"{name}: {before.get(name, 'not set')} -> {after.get(name, 'not set')}"
        for name in sorted({*before, *after} - PROTECTED_OPTIONS)
        if before.get(name) != after.get(name)
    ]


def _sample(queries: Statements, row: Sequence[Any]) -> Sample:
    if not queries.key:
        return Sample(row[0], _texts(queries.columns, json.loads(row[1])))
    kind, (keys, flags, old, new) = row[0], map(json.loads, row[1:5])
    key = _texts(queries.key, keys)
    shown = [
        (column.after, _text(before), _text(after))
        for column, flag, before, after in zip(queries.rest, flags, old, new, strict=True)
        if flag or kind != "changed"
    ]
    before = {name: value for name, value, _ in shown} if kind != "added" else {}
    after = {name: value for name, _, value in shown} if kind != "gone" else {}
    return Sample(kind, key, before, after)


def _texts(columns: Sequence[Compared], values: Sequence[Any]) -> dict[str, str]:
    return {column.after: _text(value) for column, value in zip(columns, values, strict=True)}


def _text(value: Any) -> str:
    return "NULL" if value is None else str(value)
