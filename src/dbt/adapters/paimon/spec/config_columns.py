"""Keys of a config, beside those of the table itself, that name columns of the model's query.

dbt's macros leave out a name that they do not find: of a misspelt merge_update_columns no column is updated, and a
misspelt check_cols makes no version, and both end with success. So does a name that the query gives and the table has
not, which `on_schema_change='ignore'` leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.spec.build import column_list
from dbt.adapters.paimon.spec.strategies import DELETE_INSERT, MERGE, MICROBATCH, STRATEGIES
from dbt.adapters.paimon.sql.text import is_plain

_INCREMENTAL = ("incremental", "streaming")
# Strategies whose statements find rows by unique_key.
_MATCHING = (MERGE, DELETE_INSERT)
_MERGE_KEYS = ("merge_update_columns", "merge_exclude_columns")


def unknown_columns(
    config: Mapping[str, Any],
    columns: Sequence[str],
    *,
    table: Sequence[str] | None = None,
    case_sensitive: bool = False,
    builds: bool = False,
) -> Iterator[tuple[str, str]]:
    """(key, reason with remedy) of every name that is no column.

    Args:
        config: the model's.
        columns: what its query gives.
        table: the columns that its table has when the query's are written, if those are others.
        case_sensitive: whether Spark looks names up as they are written.
        builds: whether a table is built, which reads no unique_key: dbt's conformance suite wants it to pass
            (BaseIncrementalUniqueKey).
    """
    for key, name in _named(config):
        if builds and key == "unique_key":
            continue
        if not among(name, columns, case_sensitive):
            yield key, f"the query gives no column '{name}'. {hint(name, columns)}"
        elif table is not None and _is_written(key, config) and not among(name, table, case_sensitive):
            yield (
                key,
                f"its table has no column '{name}', and on_schema_change='ignore' adds none. "
                "Set on_schema_change='append_new_columns', or leave out the name",
            )


def among(name: str, columns: Iterable[str], case_sensitive: bool) -> bool:
    """Whether a column of this name is there, as Spark looks it up."""
    return name in columns if case_sensitive else name.lower() in map(str.lower, columns)


def hint(name: str, columns: Iterable[str]) -> str:
    """What a name was meant to be, or what there is."""
    known = list(columns)
    near = suggestion(name, known)
    return f"Did you mean '{near}'?" if near else f"Its columns: {', '.join(known)}"


def _is_written(key: str, config: Mapping[str, Any]) -> bool:
    """Whether a statement of ours reads or writes the columns of this key in the table."""
    matches = (config.get("incremental_strategy") or "default") in ("default", *_MATCHING)
    return key == "merge_update_columns" or (key == "unique_key" and matches)


def _named(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    strategy = config.get("incremental_strategy") or ""
    # A strategy of the project's own may read these keys in its own way.
    ours = not strategy or strategy == "default" or strategy in STRATEGIES
    if config.get("materialized") in _INCREMENTAL and ours:
        for key in _MERGE_KEYS:
            yield from ((key, name) for name in column_list(config.get(key)))
        # Where no statement reads it, other adapters take an expression.
        read = strategy in _MATCHING
        names = column_list(config.get("unique_key"))
        yield from (("unique_key", name) for name in names if read or is_plain(name))
    event_time = config.get("event_time")
    # dbt writes it into a filter as it is, so that it may be an expression; microbatch here takes it for a name.
    if isinstance(event_time, str) and (is_plain(event_time) or strategy == MICROBATCH):
        yield "event_time", event_time
