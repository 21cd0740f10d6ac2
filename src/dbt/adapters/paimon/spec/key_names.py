"""Reports config keys that nothing reads: misspelt keys, and Paimon options outside `tblproperties`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.options.table_options import squash, suggestion, table_options
from dbt.adapters.paimon.spec.components import OPTION_KEYS, TABLE_KEYS
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS, VIEW_KEYS
from dbt.adapters.paimon.spec.foreign_config import is_foreign, refusals
from dbt.adapters.paimon.spec.problems import Problems

_OURS: Final = (*TABLE_KEYS, *STRATEGY_KEYS, *VIEW_KEYS)
# dbt's keys that decide which rows are written. A misspelt one would silently change the rows. `_meant_key`
# mistakes no other key of dbt for one of these or of ours.
_DECIDING_KEYS: Final = (
    "unique_key incremental_strategy on_schema_change event_time batch_size full_refresh check_cols hard_deletes"
).split()

# Common mistakes that are not similar enough to the key for `suggestion` to find it.
_ALIASES: Final[Mapping[str, str]] = {
    "partitionkeys": "partition_by",
    "numbuckets": "bucket",
    "mergecondition": "matched_condition",
}


def check_key_names(config: Mapping[str, Any], problems: Problems, versions: Versions) -> None:
    """Report keys of other adapters, misspelt keys, and Paimon options outside `tblproperties`."""
    for key, reason in refusals(config):
        problems.add_ignored(key, config[key], reason)
    for key, value in config.items():
        if value is None or key in _OURS or key in _DECIDING_KEYS or is_foreign(key):
            continue
        if near := _meant_key(key):
            problems.add(key, value, f"unknown config key. Did you mean '{near}'?")
        elif option := _option_named(key, versions):
            problems.add(key, value, f"a Paimon option, not a config key. Put '{option}' into tblproperties")


@lru_cache(maxsize=1024)
def _option_named(key: str, versions: Versions) -> str | None:
    """The Paimon option with this name in a different spelling; only names of several words count."""
    options = (name for name in table_options(versions.paimon) if re.search(r"[-.]", name))
    return next((name for name in options if squash(name) == squash(key)), None)


@lru_cache(maxsize=1024)
def _meant_key(key: str) -> str | None:
    """The config key that an unknown key probably means: an alias, a similar key, or the key of a Paimon option."""
    by_option = {squash(option): own for own, option in OPTION_KEYS.items()}
    return (
        _ALIASES.get(squash(key))
        or suggestion(key, _OURS, cutoff=0.85)
        or suggestion(key, _DECIDING_KEYS, cutoff=0.9)
        or by_option.get(squash(key))
    )
