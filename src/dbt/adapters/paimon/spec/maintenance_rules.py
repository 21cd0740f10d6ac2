"""Rules for a maintenance policy: actions that its table or its columns cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import canonical, suggestion
from dbt.adapters.paimon.spec.maintenance_policy import Compact, ExpirePartitions, MaintenancePolicy
from dbt.adapters.paimon.spec.rules import unknown_in_pattern
from dbt.adapters.paimon.spec.table import TableSpec


def policy_rules(policy: MaintenancePolicy, spec: TableSpec, versions: Versions) -> Iterable[tuple[str, str]]:
    """(key, reason with remedy) for actions of a policy that this table cannot have."""
    yield from _compact_rules(policy, spec, versions)
    yield from _partition_expiry_rules(policy.expire_partitions, spec, versions)
    nested = Capability.REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS
    if policy.remove_orphan_files and len(spec.partition_by) > 1 and not versions.supports(nested):
        yield "maintenance.remove_orphan_files", versions.explain(nested)
    yield from _snapshot_expiry_rules(policy, spec, versions)


def _partition_expiry_rules(
    partitions: ExpirePartitions | None, spec: TableSpec, versions: Versions
) -> Iterable[tuple[str, str]]:
    if partitions and not spec.partition_by:
        yield (
            "maintenance.expire_partitions",
            "the table has no partitions. Set partition_by, or expire_partitions: null",
        )
    outside = Capability.EXPIRE_PARTITIONS_OUTSIDE_THE_METASTORE
    in_metastore = spec.options.get("metastore.partitioned-table", "").lower() == "true"
    if partitions and not in_metastore and not versions.supports(outside):
        yield "maintenance.expire_partitions", versions.explain(outside)
    if partitions and (unknown := unknown_in_pattern(partitions.timestamp_pattern, spec.partition_by)):
        yield (
            "maintenance.expire_partitions.timestamp_pattern",
            f"'${unknown}' is not a partition column. Use {', '.join('$' + name for name in spec.partition_by)}",
        )


def _snapshot_expiry_rules(
    policy: MaintenancePolicy, spec: TableSpec, versions: Versions
) -> Iterable[tuple[str, str]]:
    if policy.expire_snapshots:
        for name, text in policy.expire_snapshots.options.items():
            given = spec.options.get(name)
            if given is not None and canonical(name, given, versions.paimon) != canonical(
                name, text, versions.paimon
            ):
                yield (
                    "maintenance.expire_snapshots",
                    f"would set '{name}' to '{text}', and the model sets it to '{given}'. Keep one of the two",
                )


def column_problems(
    policy: MaintenancePolicy, types: Mapping[str, str], partition_by: Sequence[str]
) -> Iterable[tuple[str, str]]:
    """(key, reason with remedy) for actions that the table's columns do not allow; `types` are Spark's, by column."""
    keyed = {name: types[name].lower() for name in partition_by if name in types}
    if policy.compact:
        yield from _sort_problems(policy.compact, types)
        yield from _newest_problems(policy.compact, keyed)
    if policy.expire_partitions:
        yield from _expiry_problems(policy.expire_partitions, keyed, partition_by)


def _sort_problems(compact: Compact, types: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for column in compact.order_by:
        if column not in types:
            near = suggestion(column, types, cutoff=0.6)
            hint = f"Did you mean '{near}'?" if near else f"The model's columns: {', '.join(types)}"
            yield "maintenance.compact.order_by", f"there is no column '{column}'. {hint}"


def _newest_problems(compact: Compact, keyed: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for name, kind in keyed.items() if compact.newest else ():
        if not kind.startswith(("string", "varchar", "char", "date", *_WHOLE)):
            yield (
                "maintenance.compact.partitions",
                f"'newest' takes partition columns of string, whole numbers or date, and '{name}' is {kind}. "
                "Use {'older_than': '1 d'}, or leave partitions out",
            )


def _expiry_problems(
    expire: ExpirePartitions, keyed: Mapping[str, str], partition_by: Sequence[str]
) -> Iterable[tuple[str, str]]:
    # Paimon is case-sensitive about these names, and the config may spell them differently.
    if unknown := unknown_in_pattern(expire.timestamp_pattern, partition_by):
        listed = ", ".join("$" + name for name in partition_by)
        yield (
            "maintenance.expire_partitions.timestamp_pattern",
            f"'${unknown}' is not a partition column. Use {listed}",
        )
    if expire.expire_strategy != "values-time":
        return
    # PartitionExpireStrategy.convertPartition passes the number of days, which no formatter can parse.
    for name, kind in keyed.items():
        if kind == "date" and (not expire.timestamp_pattern or f"${name}" in expire.timestamp_pattern):
            yield (
                "maintenance.expire_partitions",
                f"'{name}' is a date, which Paimon reads as a number of days, so no partition would expire. "
                "Cast it to string, or use expire_strategy: update-time",
            )


_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")


def _compact_rules(
    policy: MaintenancePolicy, spec: TableSpec, versions: Versions
) -> Iterable[tuple[str, str]]:
    compact = policy.compact
    if compact is None:
        return
    partial = compact.newest or compact.idle or compact.where
    if partial and not spec.partition_by:
        yield "maintenance.compact.partitions", "the table has no partitions. Set partition_by, or remove it"
    if compact.strategy == "minor" and not versions.supports(Capability.COMPACT_STRATEGY):
        yield "maintenance.compact.strategy", versions.explain(Capability.COMPACT_STRATEGY)
    # CompactProcedure.execute supports HASH_FIXED, HASH_DYNAMIC and BUCKET_UNAWARE [ran, 0.9.0].
    if spec.crosses_partitions and spec.bucket == -1:
        yield (
            "maintenance.compact",
            "Spark cannot compact tables whose keys may change their partition. Add every partition column to "
            "primary_key, or set compact: null and let Paimon compact as it writes",
        )
    yield from _sort_rules(compact, spec)


def _sort_rules(compact: Compact, spec: TableSpec) -> Iterable[tuple[str, str]]:
    if compact.order and (spec.primary_key or spec.bucket != -1):
        yield (
            "maintenance.compact.order_by",
            "only tables without primary_key and with bucket=-1 can be sorted. Remove it",
        )
    inside = [name for name in compact.order_by if name in spec.partition_by]
    if inside:
        yield (
            "maintenance.compact.order_by",
            f"{', '.join(inside)} is in partition_by, and rows are sorted inside partitions. Use other columns",
        )
