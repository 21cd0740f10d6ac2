"""Option changes that make Paimon merge the stored rows of a key differently.

Paimon merges when rows are read or compacted, with the options that the table has then: after `sum` became `max`, 3
and 4 are no longer 7 but 4, also in older table snapshots [ran, 0.9.0, 1.4.2 and 2.0.0].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from dbt.adapters.paimon.options.table_options import FUNCTION_SETTINGS, split_field_option
from dbt.adapters.paimon.options.values import split_columns

_AGGREGATING: Final = ("aggregation", "partial-update")
_DEFAULT_FUNCTION: Final = "fields.default-aggregate-function"
# Paimon's function if neither the column nor the table has one.
_USUAL: Final = "last_non_null_value"
# Defaults of column settings; '' for the others.
_UNSET: Final[Mapping[str, str]] = MappingProxyType(
    {"distinct": "false", "ignore-retract": "false", "list-agg-delimiter": ","}
)


def columns_merged_differently(
    name: str, old: Mapping[str, str], new: Mapping[str, str], columns: Iterable[str]
) -> frozenset[str]:
    """The columns whose stored values are merged differently after a change of the option `name`.

    Args:
        old, new: all options of the table, existing and wanted.
        columns: the table's columns that are not in its key.
    """
    if old.get("merge-engine") not in _AGGREGATING:
        return frozenset()
    concerned = frozenset(columns)
    attribute = "aggregate-function"
    if name != _DEFAULT_FUNCTION:
        named, attribute = split_field_option(name) or ((), "")
        if attribute == "sequence-group":
            before, after = (set(split_columns(options.get(name, ""))) for options in (old, new))
            return concerned & (before ^ after)
        concerned = concerned.intersection(named)
    if attribute == "aggregate-function":
        return frozenset(column for column in concerned if _function(old, column) != _function(new, column))
    unset = _UNSET.get(attribute, "")
    is_setting = attribute in ("ignore-retract", *FUNCTION_SETTINGS)
    return concerned if is_setting and old.get(name, unset) != new.get(name, unset) else frozenset()


def _function(options: Mapping[str, str], column: str) -> str:
    own = options.get(f"fields.{column}.aggregate-function")
    return own or options.get(_DEFAULT_FUNCTION) or _USUAL
