"""The rows of a dbt snapshot: one row per key, columns spelled as in its table, and the types of dbt's timestamps.

dbt's macros compare names case-sensitively: without this module, a column spelled in a different case than in the table
would look new to the check strategy in every run, and would be written as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dbt.adapters.exceptions import SnapshotTargetNotSnapshotTableError
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.sql.assignment import cast_sql, misfits
from dbt.adapters.paimon.sql.data_types import TEXTS
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, TypeTree, type_tree
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.writing.model_query import ModelQuery

_TIMES: Final = ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")


def spelled_rows(source: ModelQuery, columns: Iterable[str]) -> ModelQuery:
    """Spell the column names of a query as in `columns`; a name that is not there is unchanged."""
    spell = speller(columns)
    renamed = tuple(replace(column, column=spell(column.name)) for column in source.columns)
    if renamed == source.columns:
        return source
    pairs = zip(source.columns, renamed, strict=True)
    selected = ", ".join(f"{old.quoted} as {new.quoted}" for old, new in pairs)
    return replace(source.selecting(selected), columns=renamed)


def with_types_of_table(source: ModelQuery, columns: Iterable[ExistingColumn], config: Mapping[str, Any]) -> ModelQuery:
    """Cast columns of a query to the table's types, where Spark would otherwise compare or combine them wrongly.

    dbt's macros compare the query's columns with the table's and combine them by UNION, for which Spark requires
    structs with the same fields in the same order. Spark compares a string with a number as numbers: '007' equals 7,
    and 'N/A' is NULL. A column whose type does not fit is unchanged; `row_checks` refuses it later.
    """
    wanted = {column.name.lower(): column.data_type for column in columns}
    # A change is newer if its updated_at is greater, but as a string 10 is less than 9.
    ordered = str(config.get("updated_at")).lower() if config.get("strategy") == "timestamp" else ""
    casts = {}
    for column in source.columns:
        has, wants = type_tree(column.dtype), type_tree(wanted.get(column.name.lower(), ""))
        is_cast = isinstance(wants, (Array, Map, Struct)) or (
            _turns_text(has, wants) and column.name.lower() != ordered
        )
        if has is not None and wants is not None and is_cast and has != wants and not misfits(has, wants):
            casts[column.name] = str(wants), cast_sql(column.quoted, has, wants, partial(_refused, column.name))
    return _with_casts(source, casts)


def _turns_text(has: TypeTree | None, wants: TypeTree | None) -> bool:
    """Whether a value that is not text becomes text in the table."""
    return isinstance(has, Atom) and has.name not in TEXTS and isinstance(wants, Atom) and wants.name in TEXTS


def _with_casts(source: ModelQuery, casts: Mapping[str, tuple[str, str]]) -> ModelQuery:
    """The query with some columns cast. `casts`: column name -> (Spark type, SQL expression)."""
    if not casts:
        return source
    selected, columns = [], []
    for column in source.columns:
        data_type, value = casts.get(column.name, (column.dtype, ""))
        selected.append(f"{value} as {column.quoted}" if value else column.quoted)
        columns.append(replace(column, dtype=data_type))
    return replace(source.selecting(", ".join(selected)), columns=tuple(columns))


def _refused(column: str, reason: str, value: str) -> str:
    fault = string_literal(f"snapshot: column {column}: {reason}: ")
    return f"raise_error(concat({fault}, {value}))"


def comparing_maps(row_changed: str, columns: Iterable[ExistingColumn]) -> str:
    """Convert maps to arrays in the result of `snapshot_check_strategy`, because Spark cannot compare maps."""
    for column in columns:
        tree, name = type_tree(column.data_type), quoted(column.name)
        sides = [f"{alias}.{name}" for alias in ("snapshotted_data", "source_data")]
        if tree is not None and (compared := [_comparable(side, tree) for side in sides]) != sides:
            row_changed = row_changed.replace(" != ".join(sides), " != ".join(compared))
    return row_changed


def _comparable(expression: str, tree: TypeTree, depth: int = 0) -> str:
    """Replace each map in a value with an array of its entries ordered by key."""
    inner = f"__dbt_{depth}"
    if isinstance(tree, Array):
        element = _comparable(inner, tree.element, depth + 1)
        return expression if element == inner else f"transform({expression}, {inner} -> {element})"
    if isinstance(tree, Map):
        entry = ", ".join(
            _comparable(f"{inner}.{part}", kind, depth + 1) for part, kind in (("key", tree.key), ("value", tree.value))
        )
        return f"array_sort(transform(map_entries({expression}), {inner} -> struct({entry})))"
    if isinstance(tree, Struct):
        paths = [f"{expression}.{quoted(name)}" for name, _ in tree.fields]
        fields = [_comparable(path, kind, depth) for path, (_, kind) in zip(paths, tree.fields, strict=True)]
        if fields != paths:
            return f"if({expression} is null, null, struct({', '.join(fields)}))"
    return expression


def require_key(model: Mapping[str, Any]) -> None:
    """Refuse a snapshot without a key."""
    if not model["config"].get("unique_key"):
        raise CompilationError(
            f"snapshot '{model['name']}': unique_key is missing. Name the columns that identify a row of the query."
        )


def require_check_cols(source: ModelQuery, model: Mapping[str, Any]) -> None:
    """Refuse a name in `check_cols` that the query lacks: dbt would ignore it, and its changes would go unnoticed."""
    wanted = model["config"].get("check_cols") or []
    names = [column.name for column in source.columns]
    known = {name.lower() for name in names}
    for column in [] if isinstance(wanted, str) else wanted:
        if column.lower() not in known:
            raise CompilationError(
                f"snapshot '{model['name']}': check_cols: '{column}' is not a column of its query ({', '.join(names)})."
            )


def helper_columns(unique_key: str | Sequence[str]) -> list[str]:
    """The columns of dbt's staged rows that are not stored (see `snapshot_staging_table`)."""
    keys = range(1, len(unique_key) + 1) if isinstance(unique_key, list) else ()
    return ["dbt_change_type", "dbt_unique_key", *(f"dbt_unique_key_{number}" for number in keys)]


def keys_sql(source: ModelQuery, config: Mapping[str, Any]) -> str:
    """A query for one invalid key: the number of its rows, its columns, and the number of rows without `updated_at`.

    Finds a key with several rows or else, under `strategy: timestamp`, one with a row without `updated_at`.
    """
    keys = ", ".join(_keys(config))
    timeless = f"count_if({config['updated_at']} is null)" if config["strategy"] == "timestamp" else "0"
    return (
        f"select * from (select count(*) as __dbt_rows, {keys}, {timeless} as __dbt_timeless from {source} "
        f"group by {keys}) where __dbt_rows > 1 or __dbt_timeless > 0 order by __dbt_rows desc limit 1"
    )


def key_warning(model: Mapping[str, Any], found: Sequence[Any]) -> str:
    """The warning about a key that `keys_sql` found because a row has no `updated_at`.

    Raises:
        CompilationError: the key has several rows.
    """
    name, config = model["name"], model["config"]
    count, *values, _ = found
    shown = ", ".join(
        f"{key} = {'NULL' if value is None else value}" for key, value in zip(_keys(config), values, strict=True)
    )
    if count > 1:
        raise CompilationError(
            f"snapshot '{name}': {count} rows of its query have the same unique_key ({shown}), but a snapshot keeps "
            "one version of a key at a time. Nothing was written. Select one of them (row_number() … = 1), or add "
            "columns to unique_key."
        )
    updated_at = config["updated_at"]
    return (
        f"snapshot '{name}': updated_at ({updated_at}) is NULL in some rows ({shown}). Their changes create no version "
        f"until it has a value. Give it a value in the query (coalesce({updated_at}, …)), or use strategy: check."
    )


def _keys(config: Mapping[str, Any]) -> Sequence[str]:
    key = config["unique_key"]
    return [key] if isinstance(key, str) else key


def require_meta_columns(table: ExistingTable, names: Mapping[str, str], hard_deletes: str | None) -> None:
    """Raise SnapshotTargetNotSnapshotTableError, as dbt does, if a table lacks one of dbt's columns (`names`)."""
    have = {column.name.lower() for column in table.columns}
    wanted = [*_TIMES, "dbt_scd_id", *(["dbt_is_deleted"] if hard_deletes == "new_record" else [])]
    if missing := [names[name] for name in wanted if names[name].lower() not in have]:
        raise SnapshotTargetNotSnapshotTableError(missing)


def with_time_of_end(source: ModelQuery, model: Mapping[str, Any], table: ExistingTable | None) -> ModelQuery:
    """Cast dbt_valid_to of a snapshot's rows to the type of the table's column or, for a new table, of dbt_valid_from.

    Its type is string if dbt_valid_to_current is a string such as '9999-12-31'.
    """
    begin, end = _meta_columns(model, _TIMES[:2])
    columns = table.columns if table else source.columns
    types = {column.name.lower(): column.data_type for column in columns}
    has = {column.name.lower(): column.dtype for column in source.columns}[end]
    wanted = types.get(end, has) if table else types[begin] if has == "string" else has
    ends = [column for column in source.columns if has != wanted and column.name.lower() == end]
    return _with_casts(source, {column.name: (wanted, f"cast({column.quoted} as {wanted})") for column in ends})


def time_columns(model: Mapping[str, Any]) -> frozenset[str]:
    """The columns, in lower case, that dbt derives from a snapshot's `updated_at`; empty for any other node."""
    return frozenset(_meta_columns(model, _TIMES) if model["resource_type"] == "snapshot" else ())


def _meta_columns(model: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The names of dbt's columns in a snapshot, in lower case."""
    named = model["config"].get("snapshot_meta_column_names") or {}
    return [(named.get(name) or name).lower() for name in names]


def timed_by_versions(source: ModelQuery, versions: Iterable[PaimonColumn], model: Mapping[str, Any]) -> ModelQuery:
    """Give dbt's timestamps in a snapshot's staged rows their types from `versions` (`build_snapshot_table`).

    With `hard_deletes` the staged columns also hold the time of the run, in a type that fits both. Only that time is
    truncated to the table's precision.
    """
    times = time_columns(model)
    types = {column.name.lower(): column.dtype for column in versions if column.name.lower() in times}
    columns = (replace(column, dtype=types.get(column.name.lower(), column.dtype)) for column in source.columns)
    return replace(source, columns=tuple(columns))
