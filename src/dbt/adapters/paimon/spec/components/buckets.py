"""The buckets: how many, by which columns, and how they grow (see `auto_buckets` for `bucket: auto`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import COLUMNS, MAPPING, Key
from dbt.adapters.paimon.spec.component import Columns, Component, Found, PropertyChange, Types, config_key
from dbt.adapters.paimon.spec.config_values import columns_text
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DYNAMIC_BUCKET, POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql.data_types import type_name
from dbt.adapters.paimon.sql.text import is_plain

AUTO: Final = "auto"


@dataclass
class Keys:
    """The config keys."""

    bucket: int | str | None = config_key(
        "Number of buckets per partition: `auto` chooses it by the size of the first rows, `-1` is dynamic, `-2` is "
        "postponed",
        "a number, or `auto`",
        default="`auto` with a primary key; `-1` for streams and for tables without a key",
        option="bucket",
        page="buckets.md",
    )
    bucket_key: Columns = config_key(
        "The columns whose hash decides a row's bucket",
        COLUMNS,
        default="the primary key without the partition columns",
        option="bucket-key",
        page="buckets.md",
    )
    # The keys of these two mappings are in _DYNAMIC_KEYS and _POSTPONE_KEYS.
    dynamic_bucket: dict[str, Any] | None = config_key(
        "How dynamic buckets grow", MAPPING, page="buckets.md#dynamic-buckets"
    )
    postpone_bucket: dict[str, Any] | None = config_key(
        "How postponed rows get their bucket", MAPPING, page="buckets.md#postpone-buckets"
    )


_DYNAMIC_KEYS: Final[Mapping[str, Key]] = {
    "target_row_num": Key(
        "Keys per bucket; beyond that, new keys go to a new bucket", option="dynamic-bucket.target-row-num"
    ),
    "initial_buckets": Key(
        "How many buckets are filled in parallel at first; at most one per writing task",
        default="one per task",
        option="dynamic-bucket.initial-buckets",
    ),
    "max_buckets": Key(
        "The most buckets, regardless of `target_row_num`; from Paimon 1.1", option="dynamic-bucket.max-buckets"
    ),
    "assigner_parallelism": Key(
        "The number of tasks that assign buckets", option="dynamic-bucket.assigner-parallelism"
    ),
}
_POSTPONE_KEYS: Final[Mapping[str, Key]] = {
    "batch_write_fixed_bucket": Key(
        "Whether Spark writes to real buckets at once; otherwise rows wait for a compaction",
        option="postpone.batch-write-fixed-bucket",
    ),
    "default_bucket_num": Key(
        "How many buckets a compaction makes in a new partition",
        default="one per core of Spark",
        option="postpone.default-bucket-num",
    ),
    "max_parallelism": Key(
        "The most buckets that a direct write makes in a new partition",
        option="postpone.batch-write-fixed-bucket.max-parallelism",
    ),
}


def _is_auto(bucket: Any) -> bool:
    return isinstance(bucket, str) and bucket.strip().lower() == AUTO


def is_auto(config: Mapping[str, Any], options: Mapping[str, str], problems: Problems) -> bool:
    """Whether the adapter chooses the number of buckets. Adds a problem for each option that contradicts this."""
    if not _is_auto(config.get("bucket")):
        return False
    for name in options:
        if name == "bucket" or name.startswith(("dynamic-bucket.", "postpone.")):
            problems.add("bucket", config["bucket"], f"'{name}' is set, too. Keep one of the two")
    return True


def _bucket_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateBucket
    bucket = spec.bucket
    if bucket < POSTPONE_BUCKET or bucket == 0:
        yield "bucket", "not a number of buckets. Use a number from 1, auto, -1 (dynamic), or -2 (postpone)"
    if bucket == POSTPONE_BUCKET:
        if missing := versions.explain(Capability.POSTPONE_BUCKET):
            yield "bucket", missing
        if not spec.primary_key:
            yield "bucket", "postpone buckets need a primary key. Set primary_key, or use -1"
        # PostponeUtils makes the write write-only, so its files stay in level 0 [ran, 1.4.2, 2.0.0].
        writes_at_once = spec.postpones_nothing and versions.supports(Capability.COMPACT_POSTPONE_BUCKET)
        if spec.primary_key and spec.skips_level_0 and writes_at_once:
            why = "first-row" if spec.merge_engine == "first-row" else "deletion vectors"
            yield (
                "bucket",
                f"with {why}, queries do not see the rows that a run writes until a compaction. Use a number from 1 or "
                "auto, or postpone_bucket: {batch_write_fixed_bucket: false} with a compaction",
            )
    if bucket > 0 and not spec.primary_key and "bucket-key" not in spec.options:
        yield "bucket", "a table without primary key needs bucket_key to fill its buckets. Set bucket_key, or use -1"


def _bucket_key_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateBucket
    keys = spec.columns_in("bucket-key")
    if keys and spec.bucket == DYNAMIC_BUCKET and not spec.auto_buckets:
        yield (
            "bucket-key",
            "Cannot define 'bucket-key' with bucket = -1 (dynamic), which is also the default here: it needs a fixed "
            "number of buckets. Set bucket to a number from 1, or remove bucket_key",
        )
    outside = ", ".join(name for name in keys if name not in spec.primary_key)
    if outside and (key := ", ".join(spec.primary_key)):
        yield "bucket-key", f"{outside} is not in the primary key ({key}). Use a part of the primary key"
    if inside := ", ".join(name for name in keys if name in spec.partition_by):
        yield "bucket-key", f"{inside} is in partition_by, and buckets are inside partitions. Use other columns"


def _hashed_columns(spec: TableSpec) -> tuple[str, ...]:
    # TableSchema.originalBucketKeys
    return spec.columns_in("bucket-key") or tuple(name for name in spec.primary_key if name not in spec.partition_by)


def _hashed_column_rules(spec: TableSpec, versions: Versions) -> Found:
    keys, hashed = spec.columns_in("bucket-key"), _hashed_columns(spec)
    if spec.bucket > 0 and len(hashed) == 1 and not is_plain(hashed[0]):
        dotted = "." in hashed[0] and versions.explain(Capability.FIXED_BUCKET_BY_DOTTED_COLUMN)
        if missing := versions.explain(Capability.FIXED_BUCKET_BY_QUOTED_COLUMN) or dotted:
            yield "bucket-key" if keys else "primary_key", f"'{hashed[0]}': {missing}"


def _mod_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # ModBucketFunction refuses other columns only when rows are written [ran, 1.4.2].
    name = "bucket-function.type"
    is_fixed = spec.bucket > 0 or (spec.auto_buckets and not spec.crosses_partitions)
    if spec.options.get(name, "").lower() != "mod" or not is_fixed:
        return
    hashed = _hashed_columns(spec)
    if len(hashed) != 1 or type_name(types.get(hashed[0], "int")) not in ("int", "bigint"):
        listed = ", ".join(f"{column} {types.get(column, '')}".strip() for column in hashed)
        yield name, f"buckets by remainder need one column, an int or a bigint, and these are by {listed}. Remove it"


def _unread_bucket_options(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # PaimonSparkWriter.write: HASH_FIXED and BUCKET_UNAWARE do not read these options.
    for name in spec.options:
        if name.startswith("dynamic-bucket.") and not spec.primary_key:
            yield name, "only a primary-key table has dynamic buckets, so it does nothing here. Remove it"
        elif name.startswith("dynamic-bucket.") and spec.bucket != DYNAMIC_BUCKET:
            yield (
                name,
                "only a primary-key table with bucket=-1 reads it, so it does nothing here. Set bucket to -1, or "
                "remove it",
            )
        if name.startswith("postpone.") and spec.bucket != POSTPONE_BUCKET:
            yield name, "only bucket=-2 (postpone) reads it, so it does nothing here. Set bucket to -2, or remove it"


def _changes_layout(change: PropertyChange, options: Mapping[str, str], versions: Versions) -> bool:
    # ALTER can only change one fixed number to another: dynamic (-1) and postpone (-2) buckets have different layouts.
    return not (_is_positive(change.old) and _is_positive(change.new))


def _is_positive(bucket: str | None) -> bool:
    return bucket is not None and bucket.isdigit() and int(bucket) > 0


COMPONENT: Final = Component(
    keys=Keys,
    values={"bucket": lambda value, key, problems: None if _is_auto(value) else value, "bucket_key": columns_text},
    groups={
        "dynamic_bucket": (_DYNAMIC_KEYS, "{'target_row_num': 2000000}"),
        "postpone_bucket": (_POSTPONE_KEYS, "{'batch_write_fixed_bucket': false}"),
    },
    columns=("bucket-key",),
    rules=(_bucket_rules, _bucket_key_rules, _hashed_column_rules),
    column_rules=(_mod_rules,),
    advice=(_unread_bucket_options,),
    guards={"bucket": _changes_layout},
)
