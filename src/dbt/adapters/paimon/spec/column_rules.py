"""Rules over a table's columns: those in the config must exist and have a type that Paimon accepts.

Paimon reports some of this at CREATE TABLE, some when the first or second row of a key is written, some at the first
read. Here all of it is checked before any DDL, once Spark has analyzed the model's query. Sources: SchemaValidation,
the FieldAggregator classes and RowKindGenerator at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec import maintenance_rules
from dbt.adapters.paimon.spec.build import ConfigOrigin
from dbt.adapters.paimon.spec.config_columns import among, hint, unknown_columns
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.rules import pattern_fault
from dbt.adapters.paimon.spec.spelling import named_columns, with_column_case
from dbt.adapters.paimon.spec.strategies import merges
from dbt.adapters.paimon.spec.table import DEFAULT_FUNCTION, TableSpec
from dbt.adapters.paimon.sql.data_types import field_names
from dbt.adapters.paimon.sql.default_values import is_value
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, TypeTree, type_tree

# Also within arrays, maps and structs.
_SIZED_TEXT: Final = re.compile(r"(?<!\w)(?:var)?char\(", re.IGNORECASE)
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_NESTED: Final = ("array", "map", "struct")
_AVRO_NAME: Final = re.compile(r"[^\W\d]\w*")
_DECIMAL_FIRST: Final = re.compile(r"struct<(?:`(?:[^`]|``)*`|\w+):decimal\(")


def type_name(data_type: str) -> str:
    """The name in a type text: 'decimal' of 'decimal(10,2)', 'array' of 'array<int>'."""
    return re.split(r"[(<\s]", data_type.strip().lower(), maxsplit=1)[0]


@dataclass(frozen=True)
class _Aggregate:
    """The column types that an aggregate function takes, as a test and in words, and the remedy for others."""

    takes: Callable[[str], bool]
    words: str
    instead: str


def _of(*names: str) -> Callable[[str], bool]:
    return lambda data_type: type_name(data_type) in names


def _comparable(data_type: str) -> bool:
    # InternalRowUtils.compare [ran, 0.9.0]
    return type_name(data_type) not in ("boolean", "variant", *_NESTED)


def _rows(data_type: str) -> bool:
    return data_type.replace(" ", "").lower().startswith("array<struct<")


_SUM: Final = _Aggregate(
    _of(*_NUMBERS), "numbers", "Cast the column in the model, or use 'max' or 'last_value'"
)
_ORDER: Final = _Aggregate(
    _comparable,
    "types that have an order (no boolean, array, map or struct)",
    "Use 'bool_or' or 'bool_and' for a boolean, 'last_value' for the others",
)
_BOOL: Final = _Aggregate(_of("boolean"), "boolean", "Cast the column in the model, or use 'max' or 'min'")
_SKETCH: Final = _Aggregate(
    _of("binary"), "binary", "Give a serialized sketch or bitmap, or use another function"
)
_ROWS: Final = _Aggregate(_rows, "array<struct<…>>", "Give array(named_struct(…)), or use 'collect'")

# Functions that are not listed take every type.
_AGGREGATES: Final[Mapping[str, _Aggregate]] = MappingProxyType(
    {
        "sum": _SUM,
        "product": _SUM,
        "max": _ORDER,
        "min": _ORDER,
        "listagg": _Aggregate(_of("string", "varchar"), "string", "Cast the column to string in the model"),
        "bool_and": _BOOL,
        "bool_or": _BOOL,
        "collect": _Aggregate(_of("array"), "array", "Give array(column) in the model, or use 'listagg'"),
        "merge_map": _Aggregate(_of("map"), "map", "Give map(key, value) in the model, or use 'last_value'"),
        "merge_map_with_keytime": _Aggregate(
            lambda data_type: (
                re.match(r"map<[^<]+,struct<[^,]+,", data_type.replace(" ", "").lower()) is not None
            ),
            "map<…, struct<…>> with two fields or more",
            "Give the value and its time as a struct, or use 'merge_map'",
        ),
        "nested_update": _ROWS,
        "nested_partial_update": _ROWS,
        "theta_sketch": _SKETCH,
        "hll_sketch": _SKETCH,
        "rbm32": _SKETCH,
        "rbm64": _SKETCH,
    }
)

# Config that must name columns of the query, because every row must have a value for them, or an order.
_GIVEN: Final = ("primary_key", "partition_by", "sequence.field", "rowkind.field")

# ParquetReaderFactory.setReadOptions: without both filters, whole files are read, and Spark filters the rows.
UNFILTERED: Final[Mapping[str, str]] = MappingProxyType(
    {"parquet.filter.stats.enabled": "false", "parquet.filter.dictionary.enabled": "false"}
)

# A rule yields (where, reason with remedy), as those of `rules`.
_Found = Iterable[tuple[str, str]]
_Types = Mapping[str, str]


def check_columns(
    spec: TableSpec,
    columns: Sequence[tuple[str, str]],
    *,
    config: Mapping[str, Any],
    model: str,
    versions: Versions,
    given: Sequence[str] | None = None,
    builds: bool = False,
    dropped: Collection[str] = (),
) -> TableSpec:
    """Check a table's columns against the config that names them; ConfigErrors has all problems at once.

    Returns the table with its columns spelled as in `columns`, and with the options of `filterable`.

    Args:
        spec: the validated table.
        columns: (name, Spark type) of each column that the table will have.
        config: the model's config.
        model: name of the model, for messages.
        versions: the versions to check against.
        given: the columns of the model's query, if they differ from the table's.
        builds: whether the table is created, rather than written to.
        dropped: those of `columns` that are dropped after the rows are written.
    """
    types = dict(columns)
    if not versions.case_sensitive:
        spec = with_column_case(spec, types)
    problems, origin = Problems(model), ConfigOrigin(config)
    names = list(types) if given is None else given
    for where, reason in _missing_columns(spec, types, names, dropped, versions):
        problems.add(*origin.find(where, spec), reason)
    for key, reason in unknown_columns(
        config, names, table=list(types), case_sensitive=versions.case_sensitive, builds=builds
    ):
        problems.add(key, config.get(key), reason)
    for rule in _RULES:
        for where, reason in rule(spec, types, versions):
            problems.add(*origin.find(where, spec), reason)
    if spec.maintenance:
        for where, reason in maintenance_rules.column_problems(spec.maintenance, types, spec.partition_by):
            problems.add(where, None, reason)
    merged = merges(spec, config)
    for name, data_type in types.items():
        if fault := _column_fault(name, data_type, versions, merged):
            problems.add("column", name, fault)
    problems.raise_if_any()
    return filterable(spec, types, versions)


def _missing_columns(
    spec: TableSpec,
    types: Mapping[str, str],
    names: Sequence[str],
    dropped: Collection[str],
    versions: Versions,
) -> _Found:
    for where, column in named_columns(spec):
        is_given = where not in _GIVEN or among(column, names, versions.case_sensitive)
        if column not in types or column in dropped or not is_given:
            known = types if is_given and column not in dropped else names
            yield where, f"the query has no column '{column}'. {hint(column, known)}"


def filterable(
    spec: TableSpec, types: Mapping[str, str], versions: Versions, *, older_types: bool = False
) -> TableSpec:
    """The table with options that make WHERE find all rows.

    - Before Paimon 1.0, no filters of Parquet for small integers, or if files are older than a column's type.
    - No statistics for floating-point numbers in ORC: if the first value is NaN, so are minimum and maximum, and Paimon
      finds no row by `<` or `<=` [ran, 0.9.0 and 1.4.2].
    """
    has = {*types.values()}
    if spec.file_format == "orc" and has & {"float", "double"}:
        return replace(spec, options={"metadata.stats-mode": "none", **spec.options})
    small = has & {"tinyint", "smallint"} and not versions.supports(Capability.FILTERS_ON_SMALL_INTEGERS)
    older = older_types and not versions.supports(Capability.FILTERS_AFTER_TYPE_CHANGE)
    if "parquet" in spec.file_formats and (small or older):
        return replace(spec, options={**spec.options, **UNFILTERED})
    return spec


def _column_fault(name: str, data_type: str, versions: Versions, merged: bool) -> str | None:
    # `sql.names` checks names that no version accepts.
    if name == "rowkind" and versions.supports(Capability.ROWKIND_IS_PAIMONS_COLUMN):
        return "Paimon reserves this name. Give the column another alias in the model"
    if not is_attribute_name(name) and (missing := versions.explain(Capability.COLUMN_NAMES_OF_ANY_TEXT)):
        return missing
    if type_name(data_type) == "interval":
        # SparkTypeUtils.toPaimonType
        return f"Paimon has no type for {data_type}. Cast it, to string or to a number of seconds"
    missing = versions.explain(Capability.MERGE_ON_SIZED_TEXT)
    if merged and missing and _SIZED_TEXT.search(data_type):
        return f"is {data_type}. {missing}"
    return None


def is_attribute_name(name: str) -> bool:
    """Whether Spark can parse a column's name without quotes (CatalystSqlParser.parseAttributeName)."""
    return "`" not in name and all(name.split("."))


def _key_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # SchemaValidation.validateOnlyContainPrimitiveType, validateBucket
    keys = (
        ("primary_key", spec.primary_key),
        ("partition_by", spec.partition_by),
        ("bucket-key", spec.columns_in("bucket-key")),
        ("upsert-key", spec.columns_in("upsert-key")),
    )
    for where, names in keys:
        for name in names:
            kind = type_name(types.get(name, ""))
            if kind in _NESTED:
                yield (
                    where,
                    f"'{name}' is {types[name]}, which no key can be. Use plain columns, or its parts",
                )
            elif where == "partition_by" and kind == "binary":
                # The path of such a partition would differ at every write [ran, 0.9.0].
                yield where, f"'{name}' is binary, and its rows could not be read back. Use hex({name})"


def _order_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # UserDefinedSeqComparator; a map fails at the first read [ran, 0.9.0].
    ordering = [("sequence.field", name) for name in spec.columns_in("sequence.field")]
    for option, columns, _ in spec.field_options("sequence-group"):
        ordering += [(option, name) for name in columns]
    for where, name in ordering:
        if _has_no_order(type_tree(types.get(name, ""))):
            yield where, f"'{name}' is {types[name]}, which has no order. Use a number or a time"


def _has_no_order(tree: TypeTree | None) -> bool:
    if isinstance(tree, Array):
        return _has_no_order(tree.element)
    if isinstance(tree, Struct):
        return any(_has_no_order(kind) for _, kind in tree.fields)
    return isinstance(tree, Map) or tree == Atom("variant")


def _rowkind_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # RowKindGenerator: refused only when rows are written.
    name = spec.options.get("rowkind.field", "")
    if type_name(types.get(name, "string")) not in ("string", "varchar", "char"):
        yield "rowkind.field", f"'{name}' is {types[name]}. Give a string of '+I', '-U', '+U' or '-D'"


def _aggregate_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    if spec.merge_engine not in ("aggregation", "partial-update"):
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
        yield from _nested_key_faults(spec, columns[0], function, types)


def _aggregate_fault(function: str, data_type: str, versions: Versions) -> str | None:
    known = _AGGREGATES.get(function)
    if known is None:
        return None
    if not known.takes(data_type):
        return f"'{function}' takes {known.words}. {known.instead}"
    if function == "listagg" and type_name(data_type) == "varchar":
        return versions.explain(Capability.LISTAGG_ON_VARCHAR) or None
    return None


def _nested_key_faults(spec: TableSpec, column: str, function: str, types: _Types) -> _Found:
    # FieldNestedUpdateAgg, FieldNestedPartialUpdateAggFactory
    where = f"fields.{column}.nested-key"
    keys = spec.columns_in(where)
    if function == "nested_partial_update" and not keys:
        yield (
            f"fields.{column}.aggregate-function",
            "it needs a key for the nested rows. Set nested_key, or use 'nested_update'",
        )
    element = re.fullmatch(r"array<struct<(.*)>>", types.get(column, "").strip(), re.DOTALL)
    if function in ("nested_update", "nested_partial_update") and element:
        for key in keys:
            if not re.search(rf"(?:^|,)\s*`?{re.escape(key)}`?\s*:", element[1]):
                yield (
                    where,
                    f"the rows of '{column}' have no '{key}': {types[column]}. Name one of their fields",
                )


def _record_expiry_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # RecordLevelExpire.create: refused only when rows are written.
    name = spec.options.get("record-level.time-field", "")
    if "record-level.expire-time" not in spec.options or name not in types:
        return
    kind = type_name(types[name])
    if versions.supports(Capability.RECORD_EXPIRY_BY_TIMESTAMP):
        if kind not in ("int", "bigint", "timestamp", "timestamp_ntz"):
            yield "record-level.time-field", f"'{name}' is {types[name]}. Use an int, a bigint or a timestamp"
        return
    unit = spec.options.get("record-level.time-field-type", "seconds-int").lower()
    if kind.startswith("timestamp"):
        yield (
            "record-level.time-field",
            f"'{name}' is {kind}. {versions.explain(Capability.RECORD_EXPIRY_BY_TIMESTAMP)}",
        )
    elif kind != {"seconds-int": "int", "millis-long": "bigint"}.get(unit, kind):
        yield (
            "record-level.time-field",
            f"'{name}' is {types[name]}, and 'record-level.time-field-type' is '{unit}'. "
            "Use an int of seconds with 'seconds-int', or a bigint of milliseconds with 'millis-long'",
        )


def _pattern_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # PartitionTimeExtractor: names are case-sensitive, and one that is not replaced cannot be parsed as a time.
    name = "partition.timestamp-pattern"
    fault = pattern_fault(spec.options.get(name, ""), spec.partition_by)
    if fault and spec.partition_by:
        yield name, fault


def _file_format_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    file_format = spec.file_format
    no_decimal_first = versions.explain(Capability.DECIMAL_FIRST_IN_STRUCT)
    for name, data_type in types.items():
        if file_format == "parquet" and no_decimal_first and _DECIMAL_FIRST.search(data_type):
            yield "file.format", f"'{name}' is {data_type}. {no_decimal_first}"
        for field in (name, *field_names(data_type)):
            where = f"'{name}'" if field == name else f"the field '{field}' of '{name}'"
            if file_format == "orc" and "`" in field:
                # Values are written, but read as NULL [ran, 0.9.0].
                yield (
                    "file.format",
                    f"{where} has a backtick, which ORC cannot read. Rename it, or use 'parquet'",
                )
            elif file_format == "avro" and not _AVRO_NAME.fullmatch(field):
                # org.apache.avro.Schema.validateName
                yield (
                    "file.format",
                    f"{where} has characters other than letters, digits and _, which Avro does not allow. "
                    "Rename it, or use 'parquet'",
                )


def _default_value_rules(spec: TableSpec, types: _Types, versions: Versions) -> _Found:
    # SchemaValidation.validateDefaultValues [ran, 0.9.0]
    for name, columns, value in spec.field_options("default-value"):
        for column in columns:
            kind = type_tree(types.get(column, "string"))
            if isinstance(kind, (Array, Map, Struct)):
                yield (
                    name,
                    f"'{column}' is {types[column]}, which cannot have a default. Write coalesce() in the model",
                )
            elif isinstance(kind, Atom) and not is_value(value, kind):
                yield (
                    name,
                    f"'{column}' is {types[column]}, and the text is not a valid one. Write a {kind.name}",
                )


_RULES: Final[tuple[Callable[[TableSpec, _Types, Versions], _Found], ...]] = (
    _key_rules,
    _order_rules,
    _rowkind_rules,
    _aggregate_rules,
    _record_expiry_rules,
    _pattern_rules,
    _file_format_rules,
    _default_value_rules,
)
