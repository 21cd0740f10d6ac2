"""`fields`: settings of individual columns (see `aggregates` for their functions)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.names import FIELD_ATTRIBUTES
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
    """Whether a default is a complete and valid value of a type.

    Paimon silently shortens any other default, or uses NULL (CastExecutors, DefaultValueAssigner) [ran, 0.9.0].
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
