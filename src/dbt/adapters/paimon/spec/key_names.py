"""Reports config keys that nothing reads: misspelt keys, and Paimon options outside `tblproperties`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.options.table_options import squash, suggestion, table_options
from dbt.adapters.paimon.spec.components import OPTION_KEYS, TABLE_KEYS
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS, VIEW_KEYS
from dbt.adapters.paimon.spec.foreign_config import is_foreign, refusals
from dbt.adapters.paimon.spec.problems import Problems

_OURS: Final = (*TABLE_KEYS, *STRATEGY_KEYS, *VIEW_KEYS)
# Keys that dbt-core and its materializations read, so they are not misspelt.
_DBT_KEYS: Final = frozenset(
    """
    access alias batch_size begin catalog_name check_cols column_types concurrent_batches contract database
    dbt_valid_to_current delimiter deprecation_date docs enabled error_if event_time fail_calc freshness full_refresh
    grants group hard_deletes incremental_strategy invalidate_hard_deletes limit lookback materialized meta
    on_configuration_change on_error on_schema_change packages persist_docs post_hook post-hook pre_hook pre-hook
    quote_columns quoting schema severity snapshot_meta_column_names snapshot_name sql_header static_analysis
    store_failures store_failures_as strategy table_format tags target_database target_schema target_schemas unique_key
    updated_at warn_if where loaded_at_field loaded_at_query adapter_properties submission_method
    """.split()
)

# dbt's keys that decide which rows are written. A misspelt one would silently change the rows.
_DECIDING_KEYS: Final = (
    "unique_key incremental_strategy on_schema_change event_time batch_size full_refresh check_cols hard_deletes"
).split()

# Common mistakes that are not similar enough for `suggestion`.
_ALIASES: Final[Mapping[str, str]] = {
    "tableproperties": "tblproperties",
    "partitionkeys": "partition_by",
    "numbuckets": "bucket",
    "mergecondition": "matched_condition",
}


def check_key_names(config: Mapping[str, Any], problems: Problems, versions: Versions) -> None:
    """Report keys of other adapters, misspelt keys, and Paimon options outside `tblproperties`."""
    for key, reason in refusals(config):
        problems.add_ignored(key, config[key], reason)
    for key, value in config.items():
        if value is None or key in _OURS or key in _DBT_KEYS or is_foreign(key):
            continue
        if near := _meant_key(key):
            problems.add(key, value, f"unknown config key. Did you mean '{near}'?")
        elif option := _option_named(key, versions):
            problems.add(key, value, f"a Paimon option, not a config key. Put '{option}' into tblproperties")


def _option_named(key: str, versions: Versions) -> str | None:
    """The Paimon option with this name in a different spelling; only names of several words count."""
    options = (name for name in table_options(versions.paimon) if re.search(r"[-.]", name))
    return next((name for name in options if squash(name) == squash(key)), None)


def _meant_key(key: str) -> str | None:
    """The config key that an unknown key probably means: an alias, a similar key, or the key of a Paimon option."""
    by_option = {squash(option): own for own, option in OPTION_KEYS.items()}
    return (
        _ALIASES.get(squash(key))
        or suggestion(key, _OURS, cutoff=0.85)
        or suggestion(key, _DECIDING_KEYS, cutoff=0.9)
        or by_option.get(squash(key))
    )
