"""The rows of a dbt snapshot: columns spelled as in its table, and the types of dbt's timestamps.

dbt's macros compare names case-sensitively. A column that the query spells in another case than the table would look
new to the check strategy in every run, and would be written as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.sql.assignment import Refusal, assigned, misfits
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import Array, Map, Struct, type_tree
from dbt.adapters.paimon.tables.changeset import ExistingColumn
from dbt.adapters.paimon.writing.model_query import ModelQuery

_TIMES: Final = ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")


def spelled_rows(source: ModelQuery, columns: Iterable[str]) -> ModelQuery:
    """The same rows, each column spelled as the table's column of that name in any case; other columns as they are."""
    spell = speller(columns)
    names = [spell(column.name) for column in source.columns]
    if names == [column.name for column in source.columns]:
        return source
    selected = ", ".join(
        f"{column.quoted} as {quoted(name)}" for column, name in zip(source.columns, names, strict=True)
    )
    renamed = (replace(column, column=name) for column, name in zip(source.columns, names, strict=True))
    return ModelQuery(f"(select {selected} from {source})", tuple(renamed), source.view)


def with_fields_of_table(source: ModelQuery, columns: Iterable[ExistingColumn]) -> ModelQuery:
    """The same rows, with the fields of structs as the table has them.

    dbt's macros compare and unite the query's columns with the table's, for which Spark wants the same fields in the
    same order. What does not fit its column is left as it is, and refused later (`row_checks`).
    """
    wanted = {column.name.lower(): column.data_type for column in columns}
    selected, changed = [], []
    for column in source.columns:
        has, wants = type_tree(column.dtype), type_tree(wanted.get(column.name.lower(), ""))
        fits = isinstance(wants, (Array, Map, Struct)) and has is not None and not misfits(has, wants)
        if not fits or has == wants:
            selected.append(column.quoted)
            changed.append(column)
            continue
        assert has is not None
        assert wants is not None
        value = assigned(column.quoted, has, wants, partial(_refused, column.name))
        selected.append(f"{value} as {column.quoted}")
        changed.append(replace(column, dtype=str(wants)))
    if selected == [column.quoted for column in source.columns]:
        return source
    return ModelQuery(f"(select {', '.join(selected)} from {source})", tuple(changed), source.view)


def _refused(column: str, refusal: Refusal) -> str:
    fault = string_literal(f"snapshot: column {column}: {refusal.reason}: ")
    return f"raise_error(concat({fault}, {refusal.value}))"


def time_columns(model: Mapping[str, Any]) -> frozenset[str]:
    """The columns, in lower case, that dbt derives from a snapshot's `updated_at`; empty for other nodes."""
    if model["resource_type"] != "snapshot":
        return frozenset()
    named = model["config"].get("snapshot_meta_column_names") or {}
    return frozenset((named.get(name) or name).lower() for name in _TIMES)


def timed_by_versions(
    source: ModelQuery, versions: Iterable[PaimonColumn], model: Mapping[str, Any]
) -> ModelQuery:
    """The staged rows of a snapshot, with timestamps in the types that a version of the query has.

    With `hard_deletes` the same columns also hold the time of the run, in a type that fits both. That time is truncated
    to the table's precision; the timestamps of the query are not.

    Args:
        source: the staged rows.
        versions: the columns of the query's versions (`build_snapshot_table`).
        model: the node in the manifest.
    """
    times = time_columns(model)
    types = {column.name.lower(): column.dtype for column in versions if column.name.lower() in times}
    columns = (
        replace(column, dtype=types.get(column.name.lower(), column.dtype)) for column in source.columns
    )
    return replace(source, columns=tuple(columns))
