"""The rows of a dbt snapshot: columns named as its table names them, and the times that dbt adds to them.

dbt's macros compare names as they are written. A column that the query spells in another case than the table would be
new to the check strategy in every run, and NULL in what it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.writing.model_query import ModelQuery

_TIMES: Final = ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")


def spelled_rows(source: ModelQuery, columns: Iterable[str]) -> ModelQuery:
    """The same rows, each column spelled as that of a table which has its name in any case; others as they are."""
    spell = speller(columns)
    names = [spell(column.name) for column in source.columns]
    if names == [column.name for column in source.columns]:
        return source
    selected = ", ".join(
        f"{column.quoted} as {quoted(name)}" for column, name in zip(source.columns, names, strict=True)
    )
    renamed = (replace(column, column=name) for column, name in zip(source.columns, names, strict=True))
    return ModelQuery(f"(select {selected} from {source})", tuple(renamed), source.view)


def time_columns(model: Mapping[str, Any]) -> frozenset[str]:
    """The columns, in lower case, that dbt makes of a snapshot's `updated_at`; none of another node."""
    if model["resource_type"] != "snapshot":
        return frozenset()
    named = model["config"].get("snapshot_meta_column_names") or {}
    return frozenset((named.get(name) or name).lower() for name in _TIMES)


def timed_by_versions(
    source: ModelQuery, versions: Iterable[PaimonColumn], model: Mapping[str, Any]
) -> ModelQuery:
    """The rows that a snapshot's run stages, their times of the type that a version of the query gives them.

    With `hard_deletes` the same columns have the time of the run, too, and the type that holds both. That time is
    cut to what the table keeps; the times of the query are not.

    Args:
        source: the staged rows.
        versions: the columns of the query's own versions (`build_snapshot_table`).
        model: the node of the manifest.
    """
    times = time_columns(model)
    types = {column.name.lower(): column.dtype for column in versions if column.name.lower() in times}
    columns = (
        replace(column, dtype=types.get(column.name.lower(), column.dtype)) for column in source.columns
    )
    return replace(source, columns=tuple(columns))
