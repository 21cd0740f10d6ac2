"""Rules over a whole table: options that exclude or need each other.

Paimon reports them at CREATE TABLE, one at a time, or at the first INSERT, or never. Each rule names its source:
SchemaValidation, TableSchema and the merge functions, read at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import (
    FUNCTION_SETTINGS,
    RETRACTING_FUNCTIONS,
    canonical,
    split_field_option,
)
from dbt.adapters.paimon.options.values import codec_fault, pairs
from dbt.adapters.paimon.spec import iceberg
from dbt.adapters.paimon.spec.table import DEFAULT_FUNCTION, DYNAMIC_BUCKET, POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql.text import is_plain

# Column settings that are also valid on tables without primary key.
_FOR_ANY_TABLE: Final = ("default-value", "stats-mode", "map.storage-layout")

# A rule yields (Paimon's option, or 'primary_key' / 'partition_by', and the reason with its remedy).
_Found = Iterable[tuple[str, str]]


def _key_rules(spec: TableSpec, versions: Versions) -> _Found:
    # TableSchema.trimmedPrimaryKeys
    if spec.primary_key and set(spec.primary_key) <= set(spec.partition_by):
        yield (
            "primary_key",
            "all of it is in partition_by, so a partition would hold one row. "
            "Add the columns that distinguish rows, or partition by fewer columns",
        )
    if spec.primary_key:
        return
    ignored = "needs a primary key; without one Paimon ignores it. Set primary_key, or remove it"
    for name in ("merge-engine", "sequence.field", "rowkind.field"):
        if name in spec.options:
            yield name, ignored
    # SchemaValidation refuses it.
    if spec.changelog_producer != "none":
        yield "changelog-producer", "needs a primary key. Set primary_key, or remove it"
    for name in spec.options:
        found = split_field_option(name)
        if name == DEFAULT_FUNCTION or (found and found[1] not in _FOR_ANY_TABLE):
            yield name, ignored


def _bucket_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateBucket
    bucket = spec.bucket
    if bucket < POSTPONE_BUCKET or bucket == 0:
        yield "bucket", "not a number of buckets. Use a number from 1, auto, -1 (dynamic), or -2 (postpone)"
    if bucket == POSTPONE_BUCKET:
        if missing := versions.explain(Capability.POSTPONE_BUCKET):
            yield "bucket", missing
        if not spec.primary_key:
            yield "bucket", "postpone buckets need a primary key. Set primary_key, or use -1"
    if bucket > 0 and not spec.primary_key and "bucket-key" not in spec.options:
        yield (
            "bucket",
            "a table without primary key needs bucket_key to fill its buckets. Set bucket_key, or use -1",
        )


def _moving_key_rules(spec: TableSpec, versions: Versions) -> _Found:
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
    if spec.moves_keys and "rowkind.field" in spec.options:
        # GlobalIndexAssigner uses the new row to delete the old one, but the row kind comes from the new row's column:
        # the key then exists twice, and the next write fails [ran, 0.9.0 and 1.4.2].
        yield (
            "rowkind.field",
            "cannot be where a key may change its partition: the row in its old partition would stay. "
            f"Add {spec.partitions_outside_key} to primary_key, or remove rowkind_field",
        )


def _delta_commit_rules(spec: TableSpec, versions: Versions) -> _Found:
    unaware = spec.bucket == DYNAMIC_BUCKET and not spec.primary_key and not spec.auto_buckets
    if unaware and "full-compaction.delta-commits" in spec.options:
        yield (
            "full-compaction.delta-commits",
            "needs buckets on a table without primary key. Set bucket, or remove it",
        )


def _bucket_key_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateBucket
    keys = spec.columns_in("bucket-key")
    if keys and spec.bucket == DYNAMIC_BUCKET and not spec.auto_buckets:
        yield (
            "bucket-key",
            "Cannot define 'bucket-key' with bucket = -1: it needs a fixed number of buckets, and bucket is -1 "
            "(dynamic), also where it is not set. "
            "Set bucket to a number from 1, or remove bucket_key",
        )
    outside = ", ".join(name for name in keys if name not in spec.primary_key)
    if spec.primary_key and outside:
        yield (
            "bucket-key",
            f"{outside} is not in the primary key ({', '.join(spec.primary_key)}). Use a part of the primary key",
        )


def _hashed_column_rules(spec: TableSpec, versions: Versions) -> _Found:
    # TableSchema.originalBucketKeys
    keys = spec.columns_in("bucket-key")
    hashed = keys or tuple(name for name in spec.primary_key if name not in spec.partition_by)
    if spec.bucket > 0 and len(hashed) == 1 and not is_plain(hashed[0]):
        missing = versions.explain(Capability.FIXED_BUCKET_BY_QUOTED_COLUMN)
        if not missing and "." in hashed[0]:
            missing = versions.explain(Capability.FIXED_BUCKET_BY_DOTTED_COLUMN)
        if missing:
            yield "bucket-key" if keys else "primary_key", f"'{hashed[0]}': {missing}"
    inside = ", ".join(name for name in keys if name in spec.partition_by)
    if inside:
        yield (
            "bucket-key",
            f"{inside} is in partition_by, and buckets are inside partitions. Use other columns",
        )


def _sequence_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateSequenceField
    fields = spec.columns_in("sequence.field")
    if not fields or not spec.primary_key:
        return
    if spec.merge_engine == "first-row":
        yield (
            "sequence.field",
            "first-row keeps the row that was written first and has no sequence. "
            "Remove sequence_field, or use merge_engine='deduplicate' to keep the latest",
        )
    if spec.crosses_partitions:
        yield (
            "sequence.field",
            "cannot order rows that move between partitions: "
            f"primary_key leaves out {spec.partitions_outside_key}. "
            "Add it to primary_key, or remove sequence_field",
        )
    for name in fields:
        if f"fields.{name}.aggregate-function" in spec.options:
            yield (
                f"fields.{name}.aggregate-function",
                f"'{name}' is the sequence field, which Paimon keeps itself. Remove its aggregate_function",
            )


def _default_on_sequence_rules(spec: TableSpec, versions: Versions) -> _Found:
    # AggregateMergeFunction and PartialUpdateMergeFunction: up to 1.0 the default also applies to sequence columns,
    # whose order is lost with the first sum; they may not have their own function (SchemaValidation) [ran, 0.9.0].
    function = spec.options.get(DEFAULT_FUNCTION)
    if function is None or versions.supports(Capability.SEQUENCE_OUTSIDE_DEFAULT_AGGREGATE):
        return
    for columns in (spec.columns_in("sequence.field"), *spec.sequence_groups):
        # With several columns, only the latest row as a whole has the latest sequence.
        keeping = ("last_value", "last_non_null_value", "max")[: 3 if len(columns) == 1 else 1]
        ordering = [column for column in columns if column not in spec.primary_key]
        if ordering and function not in keeping:
            yield (
                DEFAULT_FUNCTION,
                f"it also applies to {_quoted(ordering, 'and')}, which {'orders' if len(ordering) == 1 else 'order'} "
                f"the rows and would be aggregated by '{function}'. Use {_quoted(keeping, 'or')}, give each column an "
                "aggregate_function of its own instead, or use Paimon 1.1 or later",
            )


def _quoted(names: Iterable[str], conjunction: str) -> str:
    return f" {conjunction} ".join(f"'{name}'" for name in names)


def _sequence_group_rules(spec: TableSpec, versions: Versions) -> _Found:
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
        keys = [member for member in (*columns, *members) if member in spec.primary_key]
        if keys:
            yield name, f"{', '.join(keys)} is in the primary key, which no update changes. Remove it"
        for member in members:
            if member in owner:
                yield name, f"'{member}' is already in the group of '{owner[member]}'. Keep it in one group"
            owner.setdefault(member, ",".join(columns))
    for column in sorted({column for columns in spec.sequence_groups for column in columns}):
        if f"fields.{column}.aggregate-function" in spec.options:
            yield (
                f"fields.{column}.aggregate-function",
                f"'{column}' orders a sequence group and cannot be aggregated. Remove its aggregate_function",
            )


def _aggregate_rules(spec: TableSpec, versions: Versions) -> _Found:
    for name, column, function in spec.aggregate_functions() if spec.primary_key else ():
        if column in spec.primary_key:
            yield name, f"'{column}' is in the primary key, which Paimon never aggregates. Remove it"
        elif spec.merge_engine in ("deduplicate", "first-row"):
            yield name, _does_not_aggregate(spec)
        elif spec.merge_engine == "partial-update":
            fault = _fault_outside_groups(spec, column, function, versions)
            if fault:
                yield name, fault


def _does_not_aggregate(spec: TableSpec) -> str:
    return f"merge_engine='{spec.merge_engine}' does not aggregate. Use 'aggregation', or remove it"


def _fault_outside_groups(spec: TableSpec, column: str, function: str, versions: Versions) -> str | None:
    """Why partial-update does not aggregate a column ('' for all columns); Paimon fails when rows are written.

    PartialUpdateMergeFunction: "Must use sequence group for aggregation functions".
    """
    groups = spec.sequence_groups
    grouped = {name for columns, members in groups.items() for name in (*columns, *members)}
    keeps_last = function == "last_non_null_value"
    if (
        column in grouped
        or (keeps_last and versions.supports(Capability.LAST_VALUE_WITHOUT_SEQUENCE_GROUP))
        or (groups and versions.supports(Capability.AGGREGATE_OUTSIDE_SEQUENCE_GROUP))
    ):
        return None
    if column:
        return (
            "partial-update aggregates columns of a sequence group only. List "
            f"'{column}' in the sequence_group of its sequence column, or use merge_engine='aggregation'"
        )
    # With groups, the columns of the default function are only known from the query: see `column_rules`.
    return None if groups else "partial-update aggregates with a sequence_group only. Give one, or remove it"


def _function_setting_rules(spec: TableSpec, versions: Versions) -> _Found:
    # Paimon silently accepts a column setting that nothing reads.
    if not spec.primary_key:
        return
    default = spec.options.get(DEFAULT_FUNCTION, "last_non_null_value")
    no_distinct = versions.explain(Capability.LISTAGG_DISTINCT)
    for name, columns, _ in spec.field_options("ignore-retract", *FUNCTION_SETTINGS):
        if spec.merge_engine not in ("aggregation", "partial-update"):
            yield name, _does_not_aggregate(spec)
            continue
        setting = name.rpartition(".")[2]
        function = spec.options.get(f"fields.{','.join(columns)}.aggregate-function", default)
        readers = FUNCTION_SETTINGS.get(setting, (function,))
        if function not in readers:
            known = _quoted(readers, "or")
            yield name, f"'{function}' does not read it. Use {known} as aggregate_function, or remove it"
        elif (setting, function) == ("distinct", "listagg") and no_distinct:
            yield name, f"{no_distinct} Remove it"


def _retract_rules(spec: TableSpec, versions: Versions) -> _Found:
    # Later reads fail if the merge engine cannot apply '-U' and '-D' rows [ran, 0.9.0].
    if "rowkind.field" not in spec.options or spec.is_true("ignore-delete"):
        return
    remedy = "Put 'ignore-delete': true into tblproperties, or remove it"
    removes = spec.is_true(f"{spec.merge_engine}.remove-record-on-delete")
    if spec.merge_engine == "first-row":
        # FirstRowMergeFunction.add
        yield "rowkind.field", f"first-row accepts no '-U' and '-D' rows. {remedy}"
    elif spec.merge_engine == "partial-update" and not spec.sequence_groups and not removes:
        # PartialUpdateMergeFunction.add
        yield (
            "rowkind.field",
            "partial-update accepts no '-U' and '-D' rows: the table would become unreadable. "
            f"{remedy}; or give it a sequence_group, whose columns a delete empties",
        )


def _function_retract_rules(spec: TableSpec, versions: Versions) -> _Found:
    rowkind = spec.options.get("rowkind.field")
    if rowkind is None or spec.is_true("ignore-delete"):
        return
    # FieldAggregator.retract; if a '-D' row removes the record, no function is called.
    if spec.is_true(f"{spec.merge_engine}.remove-record-on-delete"):
        return
    for name, column, function in spec.aggregate_functions():
        if function not in RETRACTING_FUNCTIONS and not spec.is_true(f"fields.{column}.ignore-retract"):
            remedy = (
                "Set ignore_retract for the column" if column else "Give such columns a function of their own"
            )
            yield (
                name,
                f"'{function}' cannot take back the '-U' and '-D' rows that rowkind_field='{rowkind}' "
                f"announces: the table would become unreadable. {remedy}, or put 'ignore-delete': true into "
                "tblproperties",
            )


def _default_value_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateDefaultValues
    for name, columns, _ in spec.field_options("default-value"):
        for column in columns:
            if column in (*spec.primary_key, *spec.partition_by):
                yield (
                    name,
                    f"'{column}' is a key or partition column and cannot have a default. Write coalesce() in SQL",
                )


def _changelog_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateTableSchema
    producer = spec.changelog_producer
    if spec.merge_engine == "first-row" and producer not in ("none", "lookup"):
        yield "changelog-producer", "first-row supports only 'none' and 'lookup'. Use one of them"
    if spec.is_true("streaming-read-overwrite"):
        if not spec.primary_key:
            yield "streaming-read-overwrite", "needs a primary key. Set primary_key, or remove it"
        elif producer in ("full-compaction", "lookup"):
            yield (
                "streaming-read-overwrite",
                f"returns changes twice with changelog_producer='{producer}'. Remove one",
            )
    both = producer == "lookup" and "full-compaction.delta-commits" in spec.options
    if both and (missing := versions.explain(Capability.LOOKUP_WITH_DELTA_COMMITS)):
        yield "full-compaction.delta-commits", missing


def _deletion_vector_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateForDeletionVectors
    name = "deletion-vectors.enabled"
    if not spec.is_true(name):
        return
    if spec.merge_engine == "first-row" and not spec.is_true("pk-clustering-override"):
        yield name, "first-row never deletes old rows, so it does not use them. Remove deletion_vectors"
    producer = spec.changelog_producer
    if producer not in ("none", "input", "lookup"):
        yield name, f"does not work with changelog_producer='{producer}'. Use 'lookup', 'input' or 'none'"


def _delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    # PartialUpdateMergeFunction.Factory
    name = "partial-update.remove-record-on-delete"
    if not spec.is_true(name):
        return
    if missing := versions.explain(Capability.REMOVE_RECORD_ON_DELETE):
        yield name, missing
        return
    if spec.is_true("ignore-delete"):
        yield name, "contradicts 'ignore-delete'='true'. Keep one of the two"
    if spec.sequence_groups:
        yield name, "does not work with a sequence_group. Keep one of the two"
    if spec.primary_key and spec.merge_engine != "partial-update":
        yield name, f"is for merge_engine='partial-update', and this is '{spec.merge_engine}'. Remove it"


def _group_delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    name = "partial-update.remove-record-on-sequence-group"
    if name not in spec.options:
        return
    if spec.is_true("ignore-delete"):
        yield name, "contradicts 'ignore-delete'='true'. Keep one of the two"
    ordering = {column for columns in spec.sequence_groups for column in columns}
    missing = [column for column in spec.columns_in(name) if column not in ordering]
    if missing:
        yield name, f"{', '.join(missing)} orders no sequence_group. Name a column that has one"


def _aggregation_delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    name = "aggregation.remove-record-on-delete"
    if not spec.is_true(name):
        return
    if spec.primary_key and spec.merge_engine != "aggregation":
        yield name, f"is for merge_engine='aggregation', and this is '{spec.merge_engine}'. Remove it"
    # FieldAggregatorFactory.create
    for option, _, _ in spec.field_options("ignore-retract"):
        if spec.is_true(option):
            yield option, f"contradicts '{name}'='true'. Keep one of the two"


def _background_expiry_rules(spec: TableSpec, versions: Versions) -> _Found:
    # TableCommitImpl.close: shutdownNow interrupts the thread that expires snapshots.
    name = "snapshot.expire.execution-mode"
    if spec.options.get(name, "").lower() == "async":
        yield (
            name,
            "a dbt run writes in batches, and the end of a batch interrupts what still expires in the background. "
            "Remove it: sync is the default",
        )


def _retention_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation: min >= 1 and min <= max, for table snapshots and changelogs, defaults included.
    for family in ("snapshot", "changelog"):
        low_name, high_name = f"{family}.num-retained.min", f"{family}.num-retained.max"
        if low_name not in spec.options and high_name not in spec.options:
            continue
        low, high = (_retained(spec, family, bound, versions) for bound in ("min", "max"))
        if low is not None and low < 1:
            yield low_name, "at least 1 is needed, the newest one is always kept. Use 1 or more"
        elif low is not None and high is not None and low > high:
            origin = "" if low_name in spec.options else ", Paimon's default"
            yield (
                high_name if origin else low_name,
                f"the minimum ({low}{origin}) is above the maximum ({high}). "
                f"Set num_retained_min to {high} or less, or raise num_retained_max",
            )


def _retained(spec: TableSpec, family: str, bound: str, versions: Versions) -> int | None:
    """The number of retained snapshots or changelogs; changelogs default to the number of snapshots."""
    name = f"{family}.num-retained.{bound}"
    if name not in spec.options:
        name = f"snapshot.num-retained.{bound}"
    parsed = canonical(name, spec.options.get(name), versions.paimon)
    return parsed if isinstance(parsed, int) else None


def pattern_fault(pattern: str, partition_by: Iterable[str]) -> str:
    """Why a 'partition.timestamp-pattern' does not fit a table's partitions; '' if it does."""
    rest = pattern
    # Like PartitionTimeExtractor, but longer names first, in case one begins with another.
    for name in sorted(partition_by, key=len, reverse=True):
        rest = rest.replace(f"${name}", "")
    if "$" not in rest:
        return ""
    unknown = rest.split("$", 1)[1].split(" ")[0]
    listed = ", ".join("$" + column for column in partition_by)
    return f"'${unknown}' is not a partition column. Use {listed}" if unknown else ""


def _partition_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation, up to 1.4; from 2.0 Paimon accepts it, but nothing expires.
    if not spec.partition_by and "partition.expiration-time" in spec.options:
        yield "partition.expiration-time", "needs partitions. Set partition_by, or remove it"


def _record_expiry_rules(spec: TableSpec, versions: Versions) -> _Found:
    # RecordLevelExpire.create: refused only when rows are written.
    name = "record-level.expire-time"
    if name not in spec.options:
        return
    if not spec.primary_key:
        yield name, "needs a primary key; without one rows never expire. Set primary_key, or remove it"
    elif "record-level.time-field" not in spec.options:
        yield name, "needs a column with a row's age. Set 'record-level.time-field', or remove it"


def _codec_rules(spec: TableSpec, versions: Versions) -> _Found:
    # RowDataParquetBuilder, OrcFile: refused only when rows are written.
    per_level = dict(pairs(spec.options.get("file.format.per.level", "")))

    def fault_of(level_format: str, codec: str) -> str | None:
        if level_format == "avro" and versions.supports(Capability.AVRO_CODEC_IS_ITS_OWN):
            return None
        return codec_fault(level_format, codec)

    name = "parquet.writer.version"
    if spec.options.get(name) == "v2" and (missing := versions.explain(Capability.PARQUET_FORMAT_V2)):
        yield name, missing
    codec = spec.options.get("file.compression")
    if codec is not None and (fault := fault_of(spec.file_format, codec)):
        yield "file.compression", fault
    for level, codec in dict(pairs(spec.options.get("file.compression.per.level", ""))).items():
        if fault := fault_of(per_level.get(level, spec.file_format).lower(), codec):
            yield "file.compression.per.level", f"level {level}: {fault}"


# SortBufferWriteBuffer needs three pages, and a page must hold its own bookkeeping.
_LEAST_PAGE: Final = 2**10
_LEAST_PAGES: Final = 3


def _buffer_rules(spec: TableSpec, versions: Versions) -> _Found:
    # Refused only when rows are written [ran, 0.9.0].
    page, buffer = (
        canonical(name, spec.options.get(name), versions.paimon)
        for name in ("page-size", "write-buffer-size")
    )
    if not isinstance(page, int) or not isinstance(buffer, int):
        return
    if page < _LEAST_PAGE or page & (page - 1):
        yield "page-size", "no row could be written. Use a power of two from 1 kb, as in '64 kb'"
    elif spec.primary_key and buffer < _LEAST_PAGES * page:
        where = "write-buffer-size" if "write-buffer-size" in spec.options else "page-size"
        yield (
            where,
            f"no row could be written: a write buffer ({buffer} bytes) holds {_LEAST_PAGES} pages ({page} bytes each) "
            "or more. Use a greater 'write-buffer-size', or a smaller 'page-size'",
        )
    retention = "lookup.cache-file-retention"
    if spec.options.get(retention) and canonical(retention, spec.options[retention], versions.paimon) == 0:
        yield retention, "a lookup would lose its files while it reads them. Use a second or more"


def _clustering_override_rules(spec: TableSpec, versions: Versions) -> _Found:
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


def _chain_rules(spec: TableSpec, versions: Versions) -> _Found:
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
    missing = [key for key, is_set in needed.items() if not is_set]
    if missing:
        yield name, f"needs {', '.join(missing)}. Set what is missing, or remove it"
    if spec.is_true("deletion-vectors.enabled"):
        yield name, "does not support deletion vectors. Remove one of the two"
    if spec.changelog_producer not in ("none", "input"):
        yield name, "supports only changelog_producer 'none' and 'input'. Use one of them"


def _snapshot_ordering_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateSnapshotSequenceOrdering, 2.0
    name = "sequence.snapshot-ordering"
    if not spec.is_true(name):
        return
    if not spec.primary_key:
        yield name, "needs a primary key. Set primary_key, or remove it"
    if "sequence.field" in spec.options:
        yield name, "orders rows by table snapshot, and 'sequence.field' by a column. Remove one of the two"
    if not spec.is_true("write-only"):
        yield name, "needs 'write-only'='true', and compaction in a run of its own. Set it, or remove this"


def _branch_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateFallbackBranch: a new table has no branches yet.
    if {"scan.fallback-branch", "scan.primary-branch"} <= set(spec.options):
        yield "scan.primary-branch", "contradicts 'scan.fallback-branch'. Keep one of the two"


def _append_only_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation, 1.4: validateRowTracking and validateIncrementalClustering
    for name in ("row-tracking.enabled", "clustering.incremental"):
        if spec.is_true(name) and spec.primary_key:
            yield name, "is for tables without primary key. Remove it, or primary_key"
    if spec.is_true("row-tracking.enabled") and spec.bucket != DYNAMIC_BUCKET:
        yield "row-tracking.enabled", "needs bucket=-1. Remove bucket, or row tracking"


def _data_evolution_rules(spec: TableSpec, versions: Versions) -> _Found:
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


def _clustering_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateIncrementalClustering, 1.4
    name = "clustering.incremental"
    if not spec.is_true(name) or spec.primary_key or spec.bucket == DYNAMIC_BUCKET:
        return
    if spec.options.get("bucket-append-ordered", "true").lower() == "true":
        yield name, "keeps no order in buckets. Set 'bucket-append-ordered': false, or remove bucket"
    if spec.is_true("deletion-vectors.enabled"):
        yield name, "does not support deletion vectors with buckets. Remove one of the two"


def _keyed_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation: validateTableSchema (upsert key), validateChangelogReadSequenceNumber
    if "upsert-key" in spec.options and spec.primary_key:
        yield "upsert-key", "is for tables without primary key. Remove it"
    name = "table-read.sequence-number.enabled"
    if spec.is_true(name) and not spec.primary_key:
        yield name, "needs a primary key; other tables number no rows. Set primary_key, or remove it"


RULES: Final[tuple[Callable[[TableSpec, Versions], _Found], ...]] = (
    _key_rules,
    _bucket_rules,
    _moving_key_rules,
    _delta_commit_rules,
    _bucket_key_rules,
    _hashed_column_rules,
    _sequence_rules,
    _default_on_sequence_rules,
    _sequence_group_rules,
    _aggregate_rules,
    _retract_rules,
    _function_retract_rules,
    _default_value_rules,
    _changelog_rules,
    _deletion_vector_rules,
    _delete_rules,
    _group_delete_rules,
    _aggregation_delete_rules,
    _retention_rules,
    _partition_rules,
    _append_only_rules,
    _data_evolution_rules,
    _clustering_rules,
    _keyed_rules,
    _record_expiry_rules,
    _codec_rules,
    _buffer_rules,
    _clustering_override_rules,
    _chain_rules,
    _snapshot_ordering_rules,
    _branch_rules,
    iceberg.rules,
)
# The rules for options that Paimon silently ignores (the flag `require_strict_config`).
UNREAD_RULES: Final[tuple[Callable[[TableSpec, Versions], _Found], ...]] = (
    _function_setting_rules,
    _background_expiry_rules,
)
