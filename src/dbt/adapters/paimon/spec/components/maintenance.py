"""Compaction and maintenance: after runs by a policy (see `maintenance_policy`), and by Paimon while it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import BOOLEAN, MAPPING, key_field
from dbt.adapters.paimon.options.table_options import canonical, did_you_mean
from dbt.adapters.paimon.spec.component import Component, Found, Types, config_key
from dbt.adapters.paimon.spec.components.partitioning import pattern_fault
from dbt.adapters.paimon.spec.maintenance_policy import Compact, ExpirePartitions, ExpireSnapshots, MaintenancePolicy
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DYNAMIC_BUCKET, TableSpec


@dataclass
class Keys:
    """The config keys."""

    compact_after_build: bool | str | None = config_key(
        "Whether a large first load of an incremental model is also compacted",
        BOOLEAN,
        default="`true`",
        page="maintenance.md#a-first-load",
    )
    maintenance: dict[str, Any] = key_field(
        dict,
        "When the table is compacted and cleaned up: after runs, and by `dbt run-operation maintain`",
        MAPPING,
        is_merged=True,
        page="maintenance.md",
    )


_WHOLE_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint")


def checked(spec: TableSpec, problems: Problems, versions: Versions) -> TableSpec:
    """The table with the options of its maintenance policy; adds the policy's faults to `problems`."""
    policy = spec.maintenance
    if policy is None:
        return spec
    for key, reason in _policy_rules(policy, spec, versions):
        problems.add(key, None, reason)
    if policy.expire_snapshots is None:
        return spec
    # Paimon also expires snapshots at each commit, by the table's options, so these get the limits of the policy.
    return replace(spec, options={**policy.expire_snapshots.options, **spec.options})


def _policy_rules(policy: MaintenancePolicy, spec: TableSpec, versions: Versions) -> Found:
    if policy.compact:
        yield from _compact_rules(policy.compact, spec, versions)
    if policy.expire_partitions:
        yield from _partition_expiry_rules(policy.expire_partitions, spec, versions)
    missing = versions.explain(Capability.REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS)
    if policy.remove_orphan_files and len(spec.partition_by) > 1 and missing:
        yield "maintenance.remove_orphan_files", missing
    if policy.expire_snapshots:
        yield from _snapshot_expiry_rules(policy.expire_snapshots, spec, versions)


def _partition_expiry_rules(expire: ExpirePartitions, spec: TableSpec, versions: Versions) -> Found:
    where = "maintenance.expire_partitions"
    if not spec.partition_by:
        yield where, "the table has no partitions. Set partition_by, or expire_partitions: null"
    missing = versions.explain(Capability.EXPIRE_PARTITIONS_OUTSIDE_THE_METASTORE)
    if missing and not spec.is_true("metastore.partitioned-table"):
        yield where, missing
    if fault := pattern_fault(expire.timestamp_pattern, spec.partition_by):
        yield f"{where}.timestamp_pattern", fault


def _snapshot_expiry_rules(expire: ExpireSnapshots, spec: TableSpec, versions: Versions) -> Found:
    for name, text in expire.options.items():
        given = spec.options.get(name, text)
        if canonical(name, given, versions.paimon) != canonical(name, text, versions.paimon):
            yield (
                "maintenance.expire_snapshots",
                f"would set '{name}' to '{text}', and the model sets it to '{given}'. Keep one of the two",
            )


def _compact_rules(compact: Compact, spec: TableSpec, versions: Versions) -> Found:
    if (compact.newest or compact.idle or compact.where) and not spec.partition_by:
        yield "maintenance.compact.partitions", "the table has no partitions. Set partition_by, or remove it"
    if compact.strategy == "minor" and (missing := versions.explain(Capability.COMPACT_STRATEGY)):
        yield "maintenance.compact.strategy", missing
    # CompactProcedure.execute supports only HASH_FIXED, HASH_DYNAMIC and BUCKET_UNAWARE [ran, 0.9.0].
    if spec.moves_keys:
        yield (
            "maintenance.compact",
            "Spark cannot compact tables whose keys may change their partition. Add every partition column to "
            "primary_key, or set compact: null and let Paimon compact as it writes",
        )
    yield from _sort_rules(compact, spec)


def _sort_rules(compact: Compact, spec: TableSpec) -> Found:
    where = "maintenance.compact.order_by"
    if compact.order and (spec.primary_key or spec.bucket != DYNAMIC_BUCKET):
        yield where, "only tables without primary_key and with bucket=-1 can be sorted. Remove it"
    if inside := ", ".join(name for name in compact.order_by if name in spec.partition_by):
        yield where, f"{inside} is in partition_by, and rows are sorted inside partitions. Use other columns"


def _column_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    policy = spec.maintenance
    if policy is None:
        return
    keyed = {name: types[name].lower() for name in spec.partition_by if name in types}
    if policy.compact:
        for column in policy.compact.order_by:
            if column not in types:
                hint = did_you_mean(column, types, 0.6, label="The model's columns")
                yield "maintenance.compact.order_by", f"there is no column '{column}'. {hint}"
        yield from _newest_problems(policy.compact, keyed)
    if policy.expire_partitions:
        yield from expiry_problems(policy.expire_partitions, keyed, spec.partition_by)


def _newest_problems(compact: Compact, keyed: Mapping[str, str]) -> Found:
    for name, kind in keyed.items() if compact.newest else ():
        if not kind.startswith(("string", "varchar", "char", "date", *_WHOLE_NUMBERS)):
            yield (
                "maintenance.compact.partitions",
                f"'newest' takes partition columns of string, whole numbers or date, and '{name}' is {kind}. "
                "Use {'older_than': '1 d'}, or leave partitions out",
            )


def expiry_problems(expire: ExpirePartitions, keyed: Mapping[str, str], partition_by: Sequence[str]) -> Found:
    """Why Paimon would expire no partition; `keyed`: the known types of the partition columns, in lower case."""
    # Checked again with the table's spelling: Paimon compares the names in the pattern case-sensitively.
    if fault := pattern_fault(expire.timestamp_pattern, partition_by):
        yield "maintenance.expire_partitions.timestamp_pattern", fault
    if expire.expire_strategy != "values-time":
        return
    # PartitionTimeExtractor.extract reads the first column if there is no pattern.
    pattern = expire.timestamp_pattern or "".join(f"${name}" for name in partition_by[:1])
    # PartitionExpireStrategy.convertPartition passes a date as a number of days, which no formatter can parse.
    for name, kind in keyed.items():
        if kind == "date" and f"${name}" in pattern:
            yield (
                "maintenance.expire_partitions",
                f"'{name}' is a date, which Paimon reads as a number of days, so no partition would expire. "
                "Cast it to string, or use expire_strategy: update-time",
            )


def _delta_commit_rules(spec: TableSpec, versions: Versions) -> Found:
    name = "full-compaction.delta-commits"
    unaware = spec.bucket == DYNAMIC_BUCKET and not spec.primary_key and not spec.auto_buckets
    if unaware and name in spec.options:
        yield name, "needs buckets on a table without primary key. Set bucket, or remove it"


def _append_table_options(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # Only AppendOnlyFileStoreWrite and the coordinators of append tables read these options, not MergeTreeWriter.
    for name in ("compaction.min.file-num", "compaction.max.file-num"):
        if name in spec.options and spec.primary_key:
            yield (
                name,
                "only tables without primary key read it, so it does nothing here. Set "
                "num-sorted-run.compaction-trigger, or remove it",
            )


def _differs_by_version(spec: TableSpec, types: Types, versions: Versions) -> Found:
    name = "full-compaction.delta-commits"
    if name in spec.options and (missing := versions.explain(Capability.FULL_COMPACTION_ON_WRITE)):
        yield name, f"does nothing here: {missing}"
    name = "compaction.optimization-interval"
    if name in spec.options and (missing := versions.explain(Capability.COMPACTION_INTERVAL_ACROSS_RUNS)):
        yield name, f"makes every run end with a full compaction: {missing}"


COMPONENT: Final = Component(
    keys=Keys,
    rules=(_delta_commit_rules,),
    column_rules=(_column_rules,),
    advice=(_append_table_options, _differs_by_version),
)
