"""Aggregate functions of columns: where Paimon uses them, which types they accept, and what changing them affects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import FUNCTION_SETTINGS, RETRACTING_FUNCTIONS, split_field_option
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.component import Component, Found, Types
from dbt.adapters.paimon.spec.table import DEFAULT_FUNCTION, TableSpec
from dbt.adapters.paimon.sql.data_types import type_name
from dbt.adapters.paimon.sql.type_trees import Atom, type_tree

AGGREGATING: Final = ("aggregation", "partial-update")
# Paimon's function if neither the column nor the table sets one.
_PAIMON_DEFAULT: Final = "last_non_null_value"
# Defaults of column settings; '' for all others.
_UNSET: Final[Mapping[str, str]] = {"distinct": "false", "ignore-retract": "false", "list-agg-delimiter": ","}
# A bigint holds every number with 18 digits. A decimal with fewer digits before the point may be too narrow for a sum.
_DIGITS_OF_BIGINT: Final = 18


def _aggregate_rules(spec: TableSpec, versions: Versions) -> Found:
    for name, column, function in spec.aggregate_functions() if spec.primary_key else ():
        if column in spec.primary_key:
            yield name, f"'{column}' is in the primary key, which Paimon never aggregates. Remove it"
        elif spec.merge_engine in ("deduplicate", "first-row"):
            yield name, _does_not_aggregate(spec)
        elif spec.merge_engine == "partial-update":
            fault = _fault_outside_groups(spec, column, function, versions)
            if fault:
                yield name, fault


def _does_not_aggregate(spec: TableSpec) -> str:
    return f"merge_engine='{spec.merge_engine}' does not aggregate. Use 'aggregation', or remove it"


def _fault_outside_groups(spec: TableSpec, column: str, function: str, versions: Versions) -> str | None:
    """Why partial-update does not aggregate a column ('' for all columns)."""
    # PartialUpdateMergeFunction.Factory refuses such a function when rows are written, and from 1.4 on at CREATE TABLE:
    # "Must use sequence group for aggregation functions".
    groups = spec.sequence_groups
    grouped = {name for columns, members in groups.items() for name in (*columns, *members)}
    keeps_last = function == "last_non_null_value"
    if (
        column in grouped
        or (keeps_last and versions.supports(Capability.LAST_VALUE_WITHOUT_SEQUENCE_GROUP))
        or (groups and versions.supports(Capability.AGGREGATE_OUTSIDE_SEQUENCE_GROUP))
    ):
        return None
    if column:
        return (
            "partial-update aggregates columns of a sequence group only. List "
            f"'{column}' in the sequence_group of its sequence column, or use merge_engine='aggregation'"
        )
    # With groups, only the query shows whether a column outside them uses the default function, so there is no check.
    return None if groups else "partial-update aggregates with a sequence_group only. Give one, or remove it"


def _default_on_sequence_rules(spec: TableSpec, versions: Versions) -> Found:
    # AggregateMergeFunction, PartialUpdateMergeFunction: up to 1.0, the default function also applies to sequence
    # columns, so the first sum destroys the order. A sequence column cannot have a function of its own
    # (SchemaValidation) [ran, 0.9.0].
    function = spec.options.get(DEFAULT_FUNCTION)
    if function is None or versions.supports(Capability.SEQUENCE_OUTSIDE_DEFAULT_AGGREGATE):
        return
    for columns in (spec.columns_in("sequence.field"), *spec.sequence_groups):
        # With several sequence columns, only last_value keeps the values of one row together.
        keeping = ("last_value", "last_non_null_value", "max") if len(columns) == 1 else ("last_value",)
        ordering = [column for column in columns if column not in spec.primary_key]
        if ordering and function not in keeping:
            yield (
                DEFAULT_FUNCTION,
                f"it also applies to {_quoted(ordering, 'and')}, which {'orders' if len(ordering) == 1 else 'order'} "
                f"the rows and would be aggregated by '{function}'. Use {_quoted(keeping, 'or')}, give each column an "
                "aggregate_function of its own instead, or use Paimon 1.1 or later",
            )


def _quoted(names: Iterable[str], conjunction: str) -> str:
    return f" {conjunction} ".join(f"'{name}'" for name in names)


def _function_retract_rules(spec: TableSpec, versions: Versions) -> Found:
    rowkind = spec.options.get("rowkind.field")
    if rowkind is None or spec.is_true("ignore-delete"):
        return
    # FieldAggregator.retract is not called if a '-D' row removes the whole record.
    if spec.is_true(f"{spec.merge_engine}.remove-record-on-delete"):
        return
    for name, column, function in spec.aggregate_functions():
        if function not in RETRACTING_FUNCTIONS and not spec.is_true(f"fields.{column}.ignore-retract"):
            remedy = "Set ignore_retract for the column" if column else "Give such columns a function of their own"
            yield (
                name,
                f"'{function}' cannot take back the '-U' and '-D' rows that rowkind_field='{rowkind}' "
                f"announces: the table would become unreadable. {remedy}, or put 'ignore-delete': true into "
                "tblproperties",
            )


def _function_setting_rules(spec: TableSpec, versions: Versions) -> Found:
    # Paimon silently accepts column settings that nothing reads.
    if not spec.primary_key:
        return
    default = spec.options.get(DEFAULT_FUNCTION, _PAIMON_DEFAULT)
    no_distinct = versions.explain(Capability.LISTAGG_DISTINCT)
    for name, columns, _ in spec.field_options("ignore-retract", *FUNCTION_SETTINGS):
        if spec.merge_engine not in AGGREGATING:
            yield name, _does_not_aggregate(spec)
            continue
        setting = name.rpartition(".")[2]
        function = spec.options.get(f"fields.{','.join(columns)}.aggregate-function", default)
        readers = FUNCTION_SETTINGS.get(setting, (function,))
        if function not in readers:
            known = _quoted(readers, "or")
            yield name, f"'{function}' does not read it. Use {known} as aggregate_function, or remove it"
        elif (setting, function) == ("distinct", "listagg") and no_distinct:
            yield name, f"{no_distinct} Remove it"


# Functions -> (a pattern of the column types that they accept, the same in words). Other functions accept every type.
_ACCEPTED: Final[Mapping[str, tuple[str, str]]] = {
    "sum product": (r"(tinyint|smallint|int|bigint|float|double|decimal)\b", "numbers"),
    # InternalRowUtils.compare [ran, 0.9.0]
    "max min": (
        r"(?!(boolean|variant|array|map|struct)\b)",
        "types that have an order (no boolean, array, map or struct)",
    ),
    "listagg": ("string|varchar", "string"),
    "bool_and bool_or": ("boolean", "boolean"),
    "collect": ("array<", "array"),
    "merge_map": ("map<", "map"),
    "merge_map_with_keytime": (r"map<[^<]+,struct<[^,]+,", "map<…, struct<…>> with two fields or more"),
    "nested_update nested_partial_update": ("array<struct<", "array<struct<…>>"),
    "theta_sketch hll_sketch rbm32 rbm64": ("binary", "binary"),
}
_ACCEPTED_BY: Final = {name: types for names, types in _ACCEPTED.items() for name in names.split()}


def _aggregate_type_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    if spec.merge_engine not in AGGREGATING:
        return
    default = spec.options.get(DEFAULT_FUNCTION)
    for name, data_type in types.items():
        own = f"fields.{name}.aggregate-function"
        function = spec.options.get(own, default)
        if function is None or name in spec.primary_key:
            continue
        fault = _aggregate_fault(function, data_type, versions)
        if fault and own in spec.options:
            yield own, f"'{name}' is {data_type}, and {fault}"
        elif fault:
            yield (
                DEFAULT_FUNCTION,
                f"it also applies to '{name}', which is {data_type}, and {fault}. "
                f"Or give '{name}' an aggregate_function of its own",
            )
    for _, columns, function in spec.field_options("aggregate-function"):
        yield from _nested_key_faults(spec, columns[0], function, types, versions)


def _aggregate_fault(function: str, data_type: str, versions: Versions) -> str | None:
    types, words = _ACCEPTED_BY.get(function, ("", ""))
    if not re.match(types, data_type.replace(" ", "").lower()):
        return f"'{function}' takes {words}. Use 'last_value', or cast the column in the model"
    if function == "listagg" and type_name(data_type) == "varchar":
        return versions.explain(Capability.LISTAGG_ON_VARCHAR) or None
    return None


def _nested_key_faults(spec: TableSpec, column: str, function: str, types: Types, versions: Versions) -> Found:
    # FieldNestedUpdateAgg, FieldNestedPartialUpdateAggFactory
    where = f"fields.{column}.nested-key"
    keys = spec.columns_in(where)
    if function == "nested_partial_update" and not keys:
        yield (
            f"fields.{column}.aggregate-function",
            "it needs a key for the nested rows. Set nested_key, or use 'nested_update'",
        )
    limit = f"fields.{column}.count-limit"
    missing = versions.explain(Capability.NESTED_UPDATE_AT_ITS_LIMIT)
    if function == "nested_update" and keys and limit in spec.options and missing:
        yield limit, missing
    element = re.fullmatch(r"array<struct<(.*)>>", types.get(column, "").strip(), re.DOTALL)
    if function in ("nested_update", "nested_partial_update") and element:
        for key in keys:
            if not re.search(rf"(?:^|,)\s*`?{re.escape(key)}`?\s*:", element[1]):
                yield where, f"the rows of '{column}' have no '{key}': {types[column]}. Name one of their fields"


def _narrow_sums(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # FieldSumAgg and FieldProductAgg use Java's integer arithmetic and Decimal.fromBigDecimal [ran, 0.9.0, 2.0.0].
    wraps = versions.supports(Capability.SUMS_WRAP_AROUND)
    for column, data_type in types.items():
        own = f"fields.{column}.aggregate-function"
        name = own if own in spec.options else DEFAULT_FUNCTION
        function = spec.options.get(name, "")
        kind = type_tree(data_type)
        if function not in ("sum", "product") or column in spec.primary_key or not isinstance(kind, Atom):
            continue
        if kind.name in ("tinyint", "smallint", "int"):
            happens = "wraps around in Paimon, without an error" if wraps else "makes each query of its bucket fail"
            wider = "bigint"
        elif kind.name == "decimal" and kind.arguments[0] - kind.arguments[1] < _DIGITS_OF_BIGINT:
            happens, wider = "becomes NULL in Paimon, without an error", f"decimal(38,{kind.arguments[1]})"
        else:
            continue
        yield (
            name,
            f"'{column}' is {data_type}, and a {function} that exceeds it {happens}. Give {wider} in the model: "
            f"cast({column} as {wider})",
        )


# Options that decide which stored row of a key counts, for every merge engine.
_CHOOSES_ROWS: Final = ("sequence.field", "ignore-delete")


def columns_merged_differently(
    name: str, old: Mapping[str, str], new: Mapping[str, str], columns: Iterable[str]
) -> frozenset[str]:
    """The columns whose stored values are merged differently after a change of the option `name`.

    Args:
        old, new: all options of the existing and of the wanted table.
        columns: the table's columns outside its key.
    """
    if name in _CHOOSES_ROWS:
        return frozenset(columns)
    if old.get("merge-engine") not in AGGREGATING:
        return frozenset()
    concerned = frozenset(columns)
    attribute = "aggregate-function"
    if name != DEFAULT_FUNCTION:
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
    return own or options.get(DEFAULT_FUNCTION) or _PAIMON_DEFAULT


COMPONENT: Final = Component(
    rules=(_default_on_sequence_rules, _aggregate_rules, _function_retract_rules),
    unread_rules=(_function_setting_rules,),
    column_rules=(_aggregate_type_rules,),
    advice=(_narrow_sums,),
)
