"""The primary key: from the config, `tblproperties`, or the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import COLUMNS
from dbt.adapters.paimon.options.table_options import split_field_option
from dbt.adapters.paimon.spec.component import Columns, Component, Found, Types, config_key
from dbt.adapters.paimon.spec.config_values import columns_or_property
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DEFAULT_FUNCTION, DYNAMIC_BUCKET, TableSpec, lower_names
from dbt.adapters.paimon.sql.data_types import NESTED, type_name


@dataclass
class Keys:
    """The config key."""

    primary_key: Columns = config_key(
        "The table has one row per key. A primary-key constraint in a contract does the same",
        COLUMNS,
        option="primary-key",
        page="models.md",
    )


_SCD_ID: Final = "dbt_scd_id"
# Column settings that are also valid for tables without a primary key.
_FOR_ANY_TABLE: Final = ("default-value", "stats-mode", "map.storage-layout")


def read(config: Mapping[str, Any], properties: dict[str, Any], problems: Problems) -> tuple[str, ...]:
    """The primary key in a config; removes its option from `properties`."""
    primary_key = columns_or_property(config.get("primary_key"), properties, "primary_key", "primary-key", problems)
    if config.get("materialized") == "snapshot" and primary_key:
        _check_version_id(primary_key, scd_id(config), problems)
    return primary_key


def scd_id(config: Mapping[str, Any]) -> str:
    """The column that identifies a version of a snapshot."""
    named = config.get("snapshot_meta_column_names") or {}
    return str(named.get(_SCD_ID) or _SCD_ID)


def _check_version_id(primary_key: tuple[str, ...], version_id: str, problems: Problems) -> None:
    # A run writes the ended and the new version of a row in one commit, so they need different keys.
    if version_id.lower() not in lower_names(primary_key):
        problems.add(
            "primary_key",
            list(primary_key),
            f"lacks {version_id}, so of several versions of a row the table would keep only one. "
            f"Remove it: unique_key identifies a row, and the key of the table is then {version_id}",
        )


def with_contract(
    primary_key: tuple[str, ...],
    constraints: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Mapping[str, Any]],
    problems: Problems,
) -> tuple[str, ...]:
    """The primary key of the config or of the contract's constraints, which must not contradict each other."""
    keys = _contract_keys(constraints, columns)
    contract_key = keys[0] if keys else ()
    if len(keys) > 1:
        listed = " and ".join(f"({', '.join(each)})" for each in keys)
        problems.add("constraints", None, f"the contract has several primary keys: {listed}. Keep one")
    elif contract_key and primary_key and lower_names(primary_key) != lower_names(contract_key):
        problems.add(
            "primary_key",
            list(primary_key),
            f"the contract's primary key is ({', '.join(contract_key)}). Make them equal, or keep one",
        )
    return primary_key or contract_key


def _contract_keys(
    constraints: Sequence[Mapping[str, Any]], columns: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, ...]]:
    """The keys in a contract. dbt itself refuses keys at both model and column level, and at several columns."""
    of_columns = ((name, each) for name, column in columns.items() for each in column.get("constraints") or ())
    keys = [tuple(each.get("columns") or ()) for each in constraints if _is_primary_key(each)]
    return keys + [(name,) for name, each in of_columns if _is_primary_key(each)]


def _is_primary_key(constraint: Mapping[str, Any]) -> bool:
    kind = constraint.get("type")
    return str(getattr(kind, "value", kind)) == "primary_key"


def _key_rules(spec: TableSpec, versions: Versions) -> Found:
    # TableSchema.trimmedPrimaryKeys
    if spec.primary_key and set(spec.primary_key) <= set(spec.partition_by):
        yield (
            "primary_key",
            "all of it is in partition_by, so a partition would hold one row. "
            "Add the columns that distinguish rows, or partition by fewer columns",
        )


def _unkeyed_rules(spec: TableSpec, versions: Versions) -> Found:
    if spec.primary_key:
        return
    ignored = "needs a primary key; without one Paimon ignores it. Set primary_key, or remove it"
    for name in ("merge-engine", "sequence.field", "rowkind.field"):
        if name in spec.options:
            yield name, ignored
    # SchemaValidation refuses this option instead of ignoring it.
    if spec.changelog_producer != "none":
        yield "changelog-producer", "needs a primary key. Set primary_key, or remove it"
    for name in spec.options:
        found = split_field_option(name)
        if name == DEFAULT_FUNCTION or (found and found[1] not in _FOR_ANY_TABLE):
            yield name, ignored


def _moving_key_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateBucket
    across = versions.supports(Capability.FIXED_BUCKET_ACROSS_PARTITIONS)
    if spec.bucket != DYNAMIC_BUCKET and spec.crosses_partitions and not across:
        yield (
            "primary_key",
            f"leaves out the partition column {spec.partitions_outside_key} with "
            f"bucket={spec.bucket}. Add it to primary_key, or use bucket=-1, where a key may change its partition",
        )
    partly = spec.moves_keys and set(spec.partition_by) & set(spec.primary_key)
    if partly and (missing := versions.explain(Capability.KEY_WITH_ONE_OF_TWO_PARTITIONS)):
        yield "primary_key", missing
    hiding = spec.moves_keys and spec.hides_new_rows
    if hiding and (missing := versions.explain(Capability.MOVED_KEYS_IN_LEVEL_0)):
        yield hiding.split("'")[1], missing
    if spec.moves_keys and "rowkind.field" in spec.options:
        # GlobalIndexAssigner uses the new row to delete the old one, but takes the row kind from the new row's column.
        # The key then exists twice, and the next write fails [ran, 0.9.0 and 1.4.2].
        yield (
            "rowkind.field",
            "does not work if a key may change its partition: the row in its old partition would stay. "
            f"Add {spec.partitions_outside_key} to primary_key, or remove rowkind_field",
        )


def _width_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # BinaryRow.calculateBitSetWidthInBytes; the row has two columns more when it is written.
    shifts = (len(types) + 71) // 64 != (len(types) + 73) // 64
    if spec.moves_keys and shifts and (missing := versions.explain(Capability.MOVED_KEYS_OF_ANY_WIDTH)):
        yield "primary_key", f"{len(types)} columns: {missing}"


def _key_type_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
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
            if kind in NESTED:
                yield where, f"'{name}' is {types[name]}, which no key can be. Use plain columns, or its parts"
            elif where == "partition_by" and kind == "binary":
                # The path of such a partition would differ in every write [ran, 0.9.0].
                yield where, f"'{name}' is binary, and its rows could not be read back. Use hex({name})"


def _keys_in_several_partitions(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # KeyValueFileStore.bucketMode: only bucket=-1 has an index of keys across partitions.
    if spec.crosses_partitions and spec.bucket != DYNAMIC_BUCKET:
        outside = spec.partitions_outside_key
        yield (
            "primary_key",
            f"leaves out the partition column {outside}, and with bucket={spec.bucket} Paimon does not look "
            "for a key in other partitions: one that changes its partition is duplicated. Delete the old row "
            f"first, use bucket=-1 (dynamic), so that Paimon moves the row, or add {outside} to primary_key",
        )


COMPONENT: Final = Component(
    keys=Keys,
    # The primary key is not among the options: `read` returns it.
    values={"primary_key": lambda value, key, problems: None},
    columns=("upsert-key",),
    rules=(_key_rules, _unkeyed_rules, _moving_key_rules),
    column_rules=(_key_type_rules, _width_rules),
    advice=(_keys_in_several_partitions,),
)
