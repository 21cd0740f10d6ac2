"""`tblproperties`: all of Paimon's options, and the rules for options that belong to no other component."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import FILE_INDEX_SETTING, is_duration, lookup, parse_duration
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.component import Component, Found, Types, config_key
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import type_name

# Options with which Paimon returns wrong rows (see Capability): (the option, the value, what a Paimon needs for it).
_WRONG: Final = (
    ("data-evolution.enabled", "true", Capability.DATA_EVOLUTION),
    ("deletion-vectors.bitmap64", "true", Capability.LIMIT_WITH_64_BITS),
    ("file-index.bitmap.columns", "", Capability.BITMAP_OR),
    ("file-index.range-bitmap.columns", "", Capability.NULLS_IN_RANGE_BITMAP),
    ("partial-update.remove-record-on-sequence-group", "", Capability.REMOVE_RECORD_ON_SEQUENCE_GROUP),
    ("pk-clustering-override", "true", Capability.CLUSTERED_KEYS),
    ("sequence.field.sort-order", "descending", Capability.DESCENDING_SEQUENCE),
)


@dataclass
class Keys:
    """The config key."""

    tblproperties: dict[str, Any] | None = config_key(
        "Any other option of Paimon, under its own name",
        "a mapping of options to values",
        page="reference/paimon-options.md",
    )


def read(config: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The options in a config's `tblproperties`, by name."""
    properties = config.get("tblproperties")
    if properties is None:
        return {}
    if not isinstance(properties, Mapping):
        problems.add(
            "tblproperties",
            properties,
            "a mapping of option names to values is needed. Write it as in {'write-only': true}",
        )
        return {}
    # null removes an option that dbt_project.yml sets for a folder.
    return {str(name).strip(): value for name, value in properties.items() if value is not None}


def _record_expiry_rules(spec: TableSpec, versions: Versions) -> Found:
    # Paimon refuses this only when rows are written (RecordLevelExpire.create).
    name = "record-level.expire-time"
    if name not in spec.options:
        return
    if not spec.primary_key:
        yield name, "needs a primary key; without one rows never expire. Set primary_key, or remove it"
    elif "record-level.time-field" not in spec.options:
        yield name, "needs a column with a row's age. Set 'record-level.time-field', or remove it"
    elif (missing := versions.explain(Capability.LONG_RECORD_EXPIRY)) and _ends_after_2038(spec.options[name]):
        yield name, missing


def _ends_after_2038(duration: str) -> bool:
    return is_duration(duration) and time.time() + parse_duration(duration) / 10**9 >= 2**31


def _wrong_rules(spec: TableSpec, versions: Versions) -> Found:
    for name, value, capability in _WRONG:
        found = spec.options.get(name)
        if found is None or (not lookup(name, versions.paimon) and not name.startswith("file-index.")):
            continue
        if found.lower() == (value or found.lower()) and (missing := versions.explain(capability)):
            yield name, missing


def _expiry_field_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # Paimon refuses this only when rows are written (RecordLevelExpire.create).
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


def _index_setting_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # FileIndexOptions: the first write fails, because the column counts as a map.
    for name in spec.options:
        if not (found := FILE_INDEX_SETTING.fullmatch(name)):
            continue
        kind, column, _ = found.groups()
        listed = split_columns(spec.options.get(f"{kind}.columns", ""))
        if column in types and column not in (part.partition("[")[0] for part in listed):
            yield name, f"'{column}' has no such index. Add it to '{kind}.columns', or remove this"


COMPONENT: Final = Component(
    keys=Keys,
    columns=tuple(
        "record-level.time-field clustering.columns chain-table.chain-partition-keys manifest-sort.partition-field "
        "blob-field blob-descriptor-field blob-external-storage-field blob-view-field vector-field "
        "pk-bitmap.index.columns pk-btree.index.columns pk-full-text.index.columns pk-vector.index.columns".split()
    ),
    # At CREATE TABLE, Paimon itself reports what options such as chain-table.enabled or row-tracking.enabled need.
    rules=(_record_expiry_rules, _wrong_rules),
    column_rules=(_expiry_field_rules, _index_setting_rules),
    guards={
        "clustering.columns": lambda change, options, versions: (
            options.get("pk-clustering-override", "").lower() == "true"
        )
    },
)
