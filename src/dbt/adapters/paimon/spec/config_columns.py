"""Checks column names in config keys that do not define the table, such as unique_key and merge_update_columns.

dbt's macros silently skip unknown names: with a misspelt name, merge_update_columns updates no column. With
`on_schema_change='ignore'`, the same happens with a column that the table does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.options.table_options import did_you_mean
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.spelling import has_column
from dbt.adapters.paimon.spec.strategies import DELETE_INSERT, MERGE, MICROBATCH, STRATEGIES, WITH_STRATEGY
from dbt.adapters.paimon.sql.text import is_plain

# Strategies whose statements match rows by unique_key.
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
    """Yield (key, reason with remedy) for each name that is not a column of the query or, if given, of the `table`.

    A run that `builds` the table does not read unique_key, and then any plain name is accepted, as dbt's test
    BaseIncrementalUniqueKey requires.
    """
    for key, name in _named_columns(config):
        if builds and key == "unique_key" and is_plain(name):
            continue
        if not has_column(name, columns, case_sensitive):
            yield key, _missing_reason(key, name, columns)
        elif table is not None and _needs_table_column(key, config) and not has_column(name, table, case_sensitive):
            remedy = "Set on_schema_change='append_new_columns', or remove the name"
            if key == "event_time":
                remedy = f"Run the model once with --full-refresh: rows without '{name}' would be in no batch"
            yield key, f"the table has no column '{name}', and on_schema_change='ignore' does not add it. {remedy}"


def _missing_reason(key: str, name: str, columns: Sequence[str]) -> str:
    if key == "unique_key" and not is_plain(name):
        return (
            f"unique_key must list columns, and {name} is an expression. Add it to the query as a column and use that "
            "column, or list the columns that it consists of"
        )
    return f"the query has no column '{name}'. {hint(name, columns)}"


def hint(name: str, columns: Iterable[str]) -> str:
    """A hint with the column that a name probably means, or with all columns."""
    return did_you_mean(name, columns, label="Its columns")


def _needs_table_column(key: str, config: Mapping[str, Any]) -> bool:
    matches = (config.get("incremental_strategy") or "default") in ("default", *_MATCHING)
    in_batches = key == "event_time" and config.get("incremental_strategy") == MICROBATCH
    return key == "merge_update_columns" or (key == "unique_key" and matches) or in_batches


def _named_columns(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    strategy = config.get("incremental_strategy") or ""
    # A strategy defined in the project may read these keys differently.
    is_builtin = strategy in ("", "default", *STRATEGIES)
    if config.get("materialized") in WITH_STRATEGY and is_builtin:
        for key in _MERGE_KEYS:
            yield from ((key, name) for name in column_list(config.get(key)))
        # If no statement reads unique_key, it may be an expression, as in other adapters. If no strategy is configured,
        # the default is `upsert`, which has already compared unique_key with the primary key, or `merge`, which reads
        # it.
        read = strategy in (*_MATCHING, "", "default")
        names = column_list(config.get("unique_key"))
        yield from (("unique_key", name) for name in names if read or is_plain(name))
    yield from _event_time_column(config.get("event_time"), strategy)


def _event_time_column(event_time: Any, strategy: str) -> Iterator[tuple[str, str]]:
    # dbt inserts event_time into a filter, so it may be an expression. For microbatch it must be a column name.
    if isinstance(event_time, str) and (is_plain(event_time) or strategy == MICROBATCH):
        yield "event_time", event_time
