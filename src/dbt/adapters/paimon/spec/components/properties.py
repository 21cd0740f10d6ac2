"""`tblproperties`: all of Paimon's options, and the rules for options that belong to no other component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.component import Component, Found, Types, config_key
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DYNAMIC_BUCKET, TableSpec
from dbt.adapters.paimon.sql.data_types import type_name


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
    # null removes an option that a folder has set.
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


def _clustering_override_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validatePkClusteringOverride
    name = "pk-clustering-override"
    if not spec.is_true(name):
        return
    if "clustering.columns" not in spec.options:
        yield name, "needs columns to cluster by. Set 'clustering.columns', or remove it"
    if not spec.is_true("deletion-vectors.enabled"):
        yield name, "needs deletion vectors. Set deletion_vectors, or remove it"
    if spec.merge_engine in ("partial-update", "aggregation"):
        yield (
            name,
            f"supports only merge_engine 'deduplicate' and 'first-row', and this is '{spec.merge_engine}'. Remove it",
        )
    for other in ("sequence.field", "record-level.expire-time"):
        if other in spec.options:
            yield name, f"does not work with '{other}'. Remove one of the two"
    producer = spec.changelog_producer
    if producer not in ("none", "input"):
        yield name, f"does not work with changelog_producer='{producer}'. Use 'none' or 'input'"


def _chain_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateChainTable
    name = "chain-table.enabled"
    if not spec.is_true(name):
        return
    needed = {
        "primary_key": spec.primary_key,
        "partition_by": spec.partition_by,
        "bucket (from 1)": spec.bucket > 0,
        "sequence_field": "sequence.field" in spec.options,
        "'partition.timestamp-pattern'": "partition.timestamp-pattern" in spec.options,
        "'partition.timestamp-formatter'": "partition.timestamp-formatter" in spec.options,
    }
    if missing := ", ".join(key for key, is_set in needed.items() if not is_set):
        yield name, f"needs {missing}. Set what is missing, or remove it"
    if spec.is_true("deletion-vectors.enabled"):
        yield name, "does not support deletion vectors. Remove one of the two"
    if spec.changelog_producer not in ("none", "input"):
        yield name, "supports only changelog_producer 'none' and 'input'. Use one of them"


def _branch_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateFallbackBranch, which also requires that the branch exists.
    if {"scan.fallback-branch", "scan.primary-branch"} <= set(spec.options):
        yield "scan.primary-branch", "contradicts 'scan.fallback-branch'. Keep one of the two"


def _append_only_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation, 1.4: validateRowTracking and validateIncrementalClustering
    for name in ("row-tracking.enabled", "clustering.incremental"):
        if spec.is_true(name) and spec.primary_key:
            yield name, "is for tables without primary key. Remove it, or primary_key"
    if spec.is_true("row-tracking.enabled") and spec.bucket != DYNAMIC_BUCKET:
        yield "row-tracking.enabled", "needs bucket=-1. Remove bucket, or row tracking"


def _data_evolution_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateRowTracking, 1.4
    name = "data-evolution.enabled"
    if not spec.is_true(name):
        return
    if not spec.is_true("row-tracking.enabled"):
        yield name, "needs 'row-tracking.enabled'='true'. Set it, or remove this"
        return
    for other in ("deletion-vectors.enabled", "clustering.incremental"):
        if spec.is_true(other):
            yield name, f"does not work with '{other}'. Remove one of the two"


def _clustering_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateIncrementalClustering, 1.4
    name = "clustering.incremental"
    if not spec.is_true(name) or spec.primary_key or spec.bucket == DYNAMIC_BUCKET:
        return
    if spec.options.get("bucket-append-ordered", "true").lower() == "true":
        yield name, "keeps no order in buckets. Set 'bucket-append-ordered': false, or remove bucket"
    if spec.is_true("deletion-vectors.enabled"):
        yield name, "does not support deletion vectors with buckets. Remove one of the two"


COMPONENT: Final = Component(
    keys=Keys,
    columns=tuple(
        "record-level.time-field clustering.columns chain-table.chain-partition-keys manifest-sort.partition-field "
        "blob-field blob-descriptor-field blob-external-storage-field blob-view-field vector-field "
        "pk-bitmap.index.columns pk-btree.index.columns pk-full-text.index.columns pk-vector.index.columns".split()
    ),
    rules=(
        _record_expiry_rules,
        _clustering_override_rules,
        _chain_rules,
        _branch_rules,
        _append_only_rules,
        _data_evolution_rules,
        _clustering_rules,
    ),
    column_rules=(_expiry_field_rules,),
    guards={
        "clustering.columns": lambda change, options, versions: (
            options.get("pk-clustering-override", "").lower() == "true"
        )
    },
)
