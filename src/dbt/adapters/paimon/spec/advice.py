"""Warnings about a valid config that may surprise its author; `rules` refuses what is invalid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.options.table_options import parse_duration
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.build import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DEFAULT_FUNCTION, DYNAMIC_BUCKET, POSTPONE_BUCKET
from dbt.adapters.paimon.sql.type_trees import Atom, type_tree

if TYPE_CHECKING:
    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.spec.table import TableSpec

# As in `rules`: (option or 'primary_key', reason with remedy).
_Advice = Iterable[tuple[str, str]]

# A bigint holds every decimal with this number of digits.
_DIGITS_OF_BIGINT: Final = 18


def advice(
    spec: TableSpec,
    config: Mapping[str, Any],
    model: str,
    versions: Versions,
    types: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """The warnings for a valid table, each with model, key, value and remedy.

    `types` is column -> Spark type, if the columns are known already.
    """
    problems = Problems(model)
    origin = ConfigOrigin(config)
    for name, reason in (
        *_keys_in_several_partitions(spec),
        *_unread_bucket_options(spec),
        *_append_table_options(spec),
        *_idle_expiry(spec),
        *_unread_by_this_version(spec, versions),
        *_narrow_sums(spec, types),
    ):
        problems.add(*origin.find(name, spec), reason)
    for key, reason in (
        *_lost_deletes(spec, config),
        *_carried_values(spec, config, versions),
        *_idle_unique_key(spec, config),
    ):
        problems.add(key, config.get(key), reason)
    return tuple(problems.messages)


def _idle_unique_key(spec: TableSpec, config: Mapping[str, Any]) -> _Advice:
    if config.get("unique_key") and config.get("incremental_strategy") == "append" and not spec.primary_key:
        yield (
            "unique_key",
            "incremental_strategy='append' adds rows without looking for a key: a row that comes again is "
            "duplicated. Remove unique_key, use 'merge', or set primary_key and use 'upsert'",
        )


def _keys_in_several_partitions(spec: TableSpec) -> _Advice:
    # KeyValueFileStore.bucketMode: only bucket=-1 keeps an index of keys across partitions.
    if spec.crosses_partitions and spec.bucket != DYNAMIC_BUCKET:
        outside = spec.partitions_outside_key
        yield (
            "primary_key",
            f"leaves out the partition column {outside}, and with bucket={spec.bucket} Paimon does not look "
            "for a key in other partitions: one that changes its partition is duplicated. Delete the old row "
            f"first, use bucket=-1 (dynamic)(Paimon then moves the row), or add {outside} to primary_key",
        )


def _unread_bucket_options(spec: TableSpec) -> _Advice:
    # PaimonSparkWriter.write: HASH_FIXED and BUCKET_UNAWARE read none of these options.
    dynamic = bool(spec.primary_key) and spec.bucket == DYNAMIC_BUCKET
    for name in spec.options:
        if name.startswith("dynamic-bucket.") and not dynamic:
            yield (
                name,
                "only a primary-key table with bucket=-1 reads it, so it does nothing here. Set bucket to -1, or "
                "remove it"
                if spec.primary_key
                else "only a primary-key table has dynamic buckets, so it does nothing here. Remove it",
            )
        if name.startswith("postpone.") and spec.bucket != POSTPONE_BUCKET:
            yield (
                name,
                "only bucket=-2 (postpone) reads it, so it does nothing here. Set bucket to -2, or remove it",
            )


def _append_table_options(spec: TableSpec) -> _Advice:
    # AppendOnlyFileStoreWrite and the coordinators of append tables; MergeTreeWriter reads neither.
    for name in ("compaction.min.file-num", "compaction.max.file-num"):
        if name in spec.options and spec.primary_key:
            yield (
                name,
                "only tables without primary key read it, so it does nothing here. Set "
                "num-sorted-run.compaction-trigger, or remove it",
            )


def _idle_expiry(spec: TableSpec) -> _Advice:
    # PartitionExpire.expire: the interval begins with the writer, which ends with the batch.
    interval = parse_duration(spec.options.get("partition.expiration-check-interval", "1 h"))
    if "partition.expiration-time" in spec.options and interval:
        yield (
            "partition.expiration-time",
            "expires nothing here: a run ends before partition.expiration-check-interval (1 h by default). Set that to "
            "'0 s' in tblproperties, or use `expire_partitions` of maintenance instead",
        )


def _unread_by_this_version(spec: TableSpec, versions: Versions) -> _Advice:
    name = "full-compaction.delta-commits"
    if name in spec.options and (missing := versions.explain(Capability.FULL_COMPACTION_ON_WRITE)):
        yield name, f"does nothing here: {missing}"
    name = "compaction.optimization-interval"
    if name in spec.options and (missing := versions.explain(Capability.COMPACTION_INTERVAL_ACROSS_RUNS)):
        yield name, f"makes every run end with a full compaction: {missing}"
    name = "tag.automatic-creation"
    creation = spec.options.get(name, "").lower()
    if creation == "batch" and (missing := versions.explain(Capability.BATCH_TAGS)):
        yield name, f"makes no tag here: {missing}"
    if creation == "watermark":
        # TagTimeExtractor.WatermarkExtractor reads the snapshot's watermark, which Spark's writers do not set.
        yield name, "makes no tag here: Spark's commits have no watermark. Use 'process-time'"
    name = "file.compression.zstd-level"
    missing = versions.explain(Capability.PARQUET_ZSTD_LEVEL_IS_ITS_OWN)
    if name in spec.options and spec.file_format == "parquet" and _uses_zstd(spec) and missing:
        yield name, f"is the level of whichever table this process writes first: {missing}"


def _uses_zstd(spec: TableSpec) -> bool:
    codec = spec.options.get("file.compression", "zstd")
    return "zstd" in f"{codec} {spec.options.get('file.compression.per.level')}".lower()


def _lost_deletes(spec: TableSpec, config: Mapping[str, Any]) -> _Advice:
    deletes = config.get("incremental_strategy") in ("delete+insert", "microbatch", "apply_changes")
    if deleting.waits_for_compaction(spec) and (deletes or config.get("merge_delete_condition")):
        yield (
            "incremental_strategy",
            "writes deletes, which Spark's compaction of postpone buckets drops. Set "
            "postpone_bucket.batch_write_fixed_bucket to true, or use other buckets",
        )


def _carried_values(spec: TableSpec, config: Mapping[str, Any], versions: Versions) -> _Advice:
    carried = deleting.carried_values(spec, versions)
    hooks = f"{config.get('post-hook')} {config.get('post_hook')}"
    if carried and config.get("merge_delete_condition") and "compact(" not in hooks:
        yield "merge_delete_condition", f'{carried}. Add post_hook="{{{{ compact(this) }}}}"'


def _narrow_sums(spec: TableSpec, types: Mapping[str, str]) -> _Advice:
    # FieldSumAgg, FieldProductAgg: Java's integer arithmetic, Decimal.fromBigDecimal [ran, 0.9.0].
    for column, data_type in types.items():
        own = f"fields.{column}.aggregate-function"
        name = own if own in spec.options else DEFAULT_FUNCTION
        function = spec.options.get(name, "")
        kind = type_tree(data_type)
        if function not in ("sum", "product") or column in spec.primary_key or not isinstance(kind, Atom):
            continue
        if kind.name in ("tinyint", "smallint", "int"):
            happens, wider = "wraps around", "bigint"
        elif kind.name == "decimal" and kind.arguments[0] - kind.arguments[1] < _DIGITS_OF_BIGINT:
            happens, wider = "becomes NULL", f"decimal(38,{kind.arguments[1]})"
        else:
            continue
        yield (
            name,
            f"'{column}' is {data_type}, and a {function} that exceeds it "
            f"{happens} in Paimon, without an error. Give {wider} in the model: cast({column} as {wider})",
        )
