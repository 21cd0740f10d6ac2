"""Aggregations that give a wrong value for some changes of a key, on the versions that run.

Paimon accepts them, and most changes come out right, so a table that exists goes on with a warning; a new one is
refused (the flag `require_exact_merges`). Sources: the FieldAggregators, AggregateMergeFunction and
PartialUpdateMergeFunction at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import split_field_option
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.build import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec

# They take a value back from what they have. If Paimon merges a '-U' with its '+U' before it meets the older rows, in
# the write buffer or in a compaction of the newest files, there is nothing yet, and the '-U' is forgotten [ran].
_FORGETFUL: Final = frozenset({"product", "collect", "merge_map", "nested_update", "last_non_null_value"})
_FIRST: Final = frozenset({"first_value", "first_non_null_value", "first_not_null_value"})


def doubtful(spec: TableSpec, config: Mapping[str, Any], model: str, versions: Versions) -> Problems:
    """The aggregations of a table that may give a wrong value, as messages.

    Args:
        spec: the table.
        config: the model's config, to name the key where something was written.
        model: name of the model.
        versions: the versions that run.
    """
    problems, written = Problems(model), ConfigOrigin(config)
    in_one_write = config.get("materialized") in ("table", "seed")
    for where, reason in _doubts(spec, versions, in_one_write=in_one_write):
        problems.add(*written.find(where, spec), reason)
    return problems


def _doubts(spec: TableSpec, versions: Versions, *, in_one_write: bool = False) -> Iterator[tuple[str, str]]:
    """(option, reason with remedy); `in_one_write`: whether each write replaces all rows."""
    if spec.merge_engine not in ("aggregation", "partial-update"):
        return
    for option, columns, function in _functions(spec):
        yield from _forgotten(spec, option, columns, function, versions)
        if not in_one_write and not versions.supports(Capability.FIRST_VALUE_BY_SEQUENCE):
            yield from _by_latest_sequence(spec, option, columns, function)


def _functions(spec: TableSpec) -> Iterable[tuple[str, tuple[str, ...], str]]:
    """(option, its columns or none for all others, function)."""
    for option, function in spec.options.items():
        found = split_field_option(option)
        if option == "fields.default-aggregate-function":
            yield option, (), function
        elif found and found[1] == "aggregate-function":
            yield option, found[0], function


def _forgotten(
    spec: TableSpec, option: str, columns: tuple[str, ...], function: str, versions: Versions
) -> Iterator[tuple[str, str]]:
    rowkind = spec.options.get("rowkind.field")
    if rowkind is None or spec.is_true("ignore-delete") or rowkind in columns:
        return
    if any(spec.is_true(f"fields.{column}.ignore-retract") for column in columns):
        return
    grouped = spec.merge_engine == "partial-update"
    sums = function == "sum" and grouped and not versions.supports(Capability.SUM_RETRACTS_IN_SEQUENCE_GROUP)
    forgets = function in _FORGETFUL and not versions.supports(Capability.RETRACTIONS_BEFORE_OLDER_ROWS)
    if forgets or sums:
        instead = "merge_engine='aggregation' with 'sum'" if sums else "'sum' or 'last_value'"
        yield (
            option,
            f"'{function}' forgets a '-U' or '-D' (rowkind_field='{rowkind}') that Paimon merges with the key's next "
            f"row before it meets the older ones: within one run, or in a compaction. Use {instead}, set "
            "ignore_retract for the column, or keep the rows in a 'deduplicate' table and aggregate them in a query",
        )


def _by_latest_sequence(
    spec: TableSpec, option: str, columns: tuple[str, ...], function: str
) -> Iterator[tuple[str, str]]:
    # A merged row keeps the first value and the latest sequence: a row that comes later and lies between is taken for
    # the first [ran, all three].
    if function not in _FIRST:
        return
    ordering = list(split_columns(spec.options.get("sequence.field", "")))
    for group, members in spec.sequence_groups.items():
        if not columns or set(members) & set(columns):
            ordering += group
    if ordering:
        yield (
            option,
            f"'{function}' with an order ({', '.join(ordering)}): once rows are merged, the value has the latest "
            "order, and a row that comes afterwards and lies between is taken for the first. Use 'min' of a column "
            "that grows with the order, leave out the order, so that the row written first counts, or select the "
            "first row in the model's query",
        )
