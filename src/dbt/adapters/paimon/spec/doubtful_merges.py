"""Aggregations that give a wrong value for some changes of a key, in the Paimon version in use.

Paimon accepts them, and most results are right. So existing tables get a warning, and new ones are refused (the flag
`require_exact_merges`). Sources: the FieldAggregators, AggregateMergeFunction and PartialUpdateMergeFunction at
release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec

# Functions that remove a retracted value from the current one. If Paimon merges a '-U' with its '+U' before the older
# rows (in the write buffer, or when compacting the newest files), there is no value yet, and the '-U' is lost [ran].
_LOSING_RETRACTIONS: Final = frozenset({"product", "collect", "merge_map", "nested_update", "last_non_null_value"})
# Functions for which a value that is merged twice counts twice.
_NOT_IDEMPOTENT: Final = frozenset({"sum", "product", "collect", "listagg"})
_FIRST: Final = frozenset({"first_value", "first_non_null_value", "first_not_null_value"})


def doubtful(spec: TableSpec, config: Mapping[str, Any], model: str, versions: Versions) -> Problems:
    """The problems of a table's aggregations that may give a wrong value."""
    problems = Problems(model)
    in_one_write = config.get("materialized") in ("table", "seed")
    ConfigOrigin(config).report(problems, spec, _doubts(spec, versions, in_one_write=in_one_write))
    return problems


def _doubts(spec: TableSpec, versions: Versions, *, in_one_write: bool) -> Iterator[tuple[str, str]]:
    if spec.merge_engine not in ("aggregation", "partial-update"):
        return
    expiry = "record-level.expire-time"
    if not in_one_write and expiry in spec.options and not versions.supports(Capability.RECORD_EXPIRY_AFTER_MERGING):
        yield (
            expiry,
            f"Paimon drops old rows before it merges them with newer rows of their key, so a compaction changes the "
            f"merged values (merge_engine='{spec.merge_engine}'). Remove it, and delete old keys with delete_rows",
        )
    if not in_one_write and not versions.supports(Capability.LATE_ROWS_WITH_LOOKUP):
        yield from _late_rows(spec)
    has_retractions = "rowkind.field" in spec.options and not spec.is_true("ignore-delete")
    for option, column, function in spec.aggregate_functions():
        if has_retractions:
            yield from _lost_retractions(spec, option, column, function, versions)
        if not in_one_write and not versions.supports(Capability.FIRST_VALUE_BY_SEQUENCE):
            yield from _by_latest_sequence(spec, option, column, function)


def _late_rows(spec: TableSpec) -> Iterator[tuple[str, str]]:
    has_vectors = spec.is_true("deletion-vectors.enabled")
    if spec.changelog_producer == "lookup" and "sequence.field" in spec.options and not has_vectors:
        yield (
            "changelog-producer",
            f"'lookup' loses late rows of a table with merge_engine='{spec.merge_engine}' and a sequence_field. Use "
            "'full-compaction', or give the columns a sequence_group instead of the sequence_field",
        )


def _lost_retractions(
    spec: TableSpec, option: str, column: str, function: str, versions: Versions
) -> Iterator[tuple[str, str]]:
    rowkind = spec.options["rowkind.field"]
    if rowkind == column:
        return
    ignored = spec.is_true(f"fields.{column}.ignore-retract")
    counted = (
        spec.merge_engine == "partial-update"
        and function in _NOT_IDEMPOTENT
        and not spec.is_true(f"fields.{column}.distinct")
        and not versions.supports(Capability.RETRACTIONS_IN_SEQUENCE_GROUP)
    )
    if counted:
        yield (
            option,
            f"'{function}' in a sequence group counts the value of a '-U' or '-D' (rowkind_field='{rowkind}') that "
            "Paimon merges with the key's next row before the older ones, within one run or in a compaction"
            f"{', despite ignore_retract' if ignored else ''}. Use merge_engine='aggregation', or keep the rows in a "
            "'deduplicate' table and aggregate them in a query",
        )
    elif (
        not ignored
        and function in _LOSING_RETRACTIONS
        and not versions.supports(Capability.RETRACTIONS_BEFORE_OLDER_ROWS)
    ):
        yield (
            option,
            f"'{function}' forgets a '-U' or '-D' (rowkind_field='{rowkind}') that Paimon merges with the key's next "
            "row before the older ones, within one run or in a compaction. Use 'sum' or 'last_value', set "
            "ignore_retract for the column, or keep the rows in a 'deduplicate' table and aggregate them in a query",
        )


def _by_latest_sequence(spec: TableSpec, option: str, column: str, function: str) -> Iterator[tuple[str, str]]:
    # A merged row has the first value but the latest sequence, so a row that arrives later with a sequence in between
    # is taken for the first [ran, 0.9.0, 1.4.2 and 2.0.0].
    if function not in _FIRST:
        return
    ordering = list(spec.columns_in("sequence.field"))
    for group, members in spec.sequence_groups.items():
        if not column or column in members:
            ordering += group
    if ordering:
        yield (
            option,
            f"'{function}' with an order ({', '.join(ordering)}): once rows are merged, the first value has the latest "
            "order, and a row that arrives later with an order in between is taken for the first. Use 'min' of a "
            "column that grows with the order, leave out the order, so that the row written first counts, or select "
            "the first row in the model's query",
        )
