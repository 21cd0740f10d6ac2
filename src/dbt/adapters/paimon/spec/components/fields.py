"""`fields`: settings of individual columns (see `aggregates` for their functions)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import FIELD_ATTRIBUTES, Versions
from dbt.adapters.paimon.keys import COLUMNS, NUMBER, Key
from dbt.adapters.paimon.options.table_options import did_you_mean, squash
from dbt.adapters.paimon.spec.component import Component, Found, OptionValue, Types, config_key
from dbt.adapters.paimon.spec.config_values import plain_columns
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.plain_values import INTEGERS, MOMENTS, surely_fits
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, type_tree


@dataclass
class Keys:
    """The config key."""

    # Any: column -> {aggregate_function, ignore_retract, default_value, sequence_group, …}
    fields: dict[str, Any] | None = config_key(
        "Settings of individual columns",
        "a mapping of columns to mappings",
        page="merge-engines.md#aggregate-functions",
    )


# Keys of a column in `fields`; `capabilities.FIELD_ATTRIBUTES` has the first Paimon version of each.
FIELD_KEYS: Final[Mapping[str, Key]] = {
    "aggregate_function": Key("The function that merges the column's values", page="merge-engines.md"),
    "ignore_retract": Key("Whether the function ignores `-U` and `-D` rows", page="merge-engines.md"),
    "default_value": Key("The value of the column for rows that have NULL; until Paimon 1.1", page="merge-engines.md"),
    "sequence_group": Key(
        "The columns that are updated together, in the order of this one", COLUMNS, page="merge-engines.md"
    ),
    "distinct": Key("Whether `collect` and `listagg` keep each value once", page="merge-engines.md"),
    "list_agg_delimiter": Key("The separator of `listagg`", default="a comma", page="merge-engines.md"),
    "stats_mode": Key("The statistics of the column in data files: `none`, `counts`, `full`, `truncate(16)`"),
    "nested_key": Key("The key of the nested rows of `nested_update`", COLUMNS, page="merge-engines.md"),
    "count_limit": Key("The most nested rows that `nested_update` keeps", NUMBER, page="merge-engines.md"),
    "ts_field": Key("The field of `merge_map_with_keytime` with the time of a value", "a field"),
    "nested_sequence_field": Key("The field that orders nested rows with the same key", "a field"),
    "nested_key_null_strategy": Key("How nested rows with a NULL key are handled"),
    "map.storage_layout": Key("How a map is laid out in files"),
    "map.shared_shredding.max_columns": Key("The most columns that a shredded map is stored in", NUMBER),
    "map.shared_shredding.column_placement_policy": Key("Which keys of a shredded map get which column"),
    "pk_vector.index.type": Key("The type of a vector index of the column"),
    "pk_vector.index.options": Key("Options of that index"),
    "pk_vector.distance.metric": Key("The metric of that index"),
    "pk_full_text.index.options": Key("Options of a full-text index of the column"),
    "pk_btree.index.options": Key("Options of a B-tree index of the column"),
    "pk_bitmap.index.options": Key("Options of a bitmap index of the column"),
}
_FIELD_ATTRIBUTES: Final = {squash(name): name for name in FIELD_ATTRIBUTES}


def _read(config: Mapping[str, Any], problems: Problems) -> Iterator[OptionValue]:
    fields = config.get("fields")
    if fields is None:
        return
    if not isinstance(fields, Mapping):
        problems.add(
            "fields",
            fields,
            "a mapping of columns to their settings is needed. Write it as in {'n': {'aggregate_function': 'sum'}}",
        )
        return
    for column, settings in fields.items():
        if settings is not None and not isinstance(settings, Mapping):
            problems.add(
                f"fields.{column}", settings, "a mapping is needed. Write it as in {'aggregate_function': 'sum'}"
            )
            continue
        for key, value in (settings or {}).items():
            if value is not None:
                yield from _setting(column, str(key), value, problems)


def _setting(column: str, key: str, value: Any, problems: Problems) -> Iterator[OptionValue]:
    where = f"fields.{column}.{key}"
    attribute = _FIELD_ATTRIBUTES.get(squash(key))
    if attribute is None:
        hint = did_you_mean(key, [name.replace("-", "_") for name in FIELD_ATTRIBUTES], 0.6)
        problems.add(where, value, f"unknown key. {hint}")
        return
    members = ",".join(plain_columns(value, where, problems)) if attribute == "sequence-group" else value
    yield where, f"fields.{column}.{attribute}", members


def _sequence_group_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateSequenceGroup, PartialUpdateMergeFunction.Factory
    owner: dict[str, str] = {}
    for columns, members in spec.sequence_groups.items():
        name = f"fields.{','.join(columns)}.sequence-group"
        if spec.primary_key and spec.merge_engine != "partial-update":
            yield (
                name,
                f"only merge_engine='partial-update' reads it, and this is '{spec.merge_engine}'. "
                "Set merge_engine, or use sequence_field",
            )
        if keys := ", ".join(member for member in (*columns, *members) if member in spec.primary_key):
            yield name, f"{keys} is in the primary key, which no update changes. Remove it"
        for member in members:
            if member in owner:
                yield name, f"'{member}' is already in the group of '{owner[member]}'. Keep it in one group"
            owner.setdefault(member, ",".join(columns))


def _sequence_column_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateSequenceGroup
    for column in sorted({column for columns in spec.sequence_groups for column in columns}):
        own = f"fields.{column}.aggregate-function"
        if own in spec.options:
            yield own, f"'{column}' orders a sequence group and cannot be aggregated. Remove its aggregate_function"


def _default_value_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateDefaultValues
    keys = (*spec.primary_key, *spec.partition_by)
    for name, columns, _ in spec.field_options("default-value"):
        for column in (each for each in columns if each in keys):
            yield name, f"'{column}' is a key or partition column and cannot have a default. Write coalesce() in SQL"


def _default_type_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    for name, columns, value in spec.field_options("default-value"):
        for column in columns:
            kind = type_tree(types.get(column, "string"))
            if isinstance(kind, (Array, Map, Struct)):
                yield name, f"'{column}' is {types[column]}, which cannot have a default. Write coalesce() in the model"
            elif isinstance(kind, Atom) and not _is_value(value, kind):
                yield name, f"'{column}' is {types[column]}, and the text is not a valid one. Write a {kind.name}"


def _is_value(text: str, kind: Atom) -> bool:
    """Whether a default is a value of a type, written in full.

    Of others, Paimon silently cuts off a part, or takes NULL (CastExecutors, DefaultValueAssigner) [ran, 0.9.0].
    """
    if kind.name in ("char", "varchar"):
        return len(text) <= kind.arguments[0]
    if (kind.name == "date" and len(text) > len("2024-01-31")) or (kind.name in MOMENTS and "T" in text):
        return False
    if kind.name in (*INTEGERS, *MOMENTS, "decimal", "double", "boolean"):
        return surely_fits(text, str(kind))
    return kind.name != "float" or surely_fits(text, "double")


COMPONENT: Final = Component(
    keys=Keys,
    read=_read,
    rules=(_sequence_group_rules, _sequence_column_rules, _default_value_rules),
    column_rules=(_default_type_rules,),
)
