"""Rules over a whole table: options that exclude or need each other.

Paimon reports them at CREATE TABLE, one at a time, or at the first INSERT, or never. Each rule names its source:
SchemaValidation, TableSchema and the merge functions, read at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import (
    FUNCTION_SETTINGS,
    RETRACTING_FUNCTIONS,
    canonical,
    split_field_option,
)
from dbt.adapters.paimon.options.values import codec_fault, split_columns
from dbt.adapters.paimon.spec import iceberg
from dbt.adapters.paimon.spec.table import DYNAMIC_BUCKET, POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql.text import is_plain

if TYPE_CHECKING:
    from dbt.adapters.paimon.spec.table import TableSpec


# Column settings that are also valid on tables without primary key.
_OF_ANY_TABLE: Final = ("default-value", "stats-mode", "map.storage-layout")


def _outside(names: Iterable[str], inside: Iterable[str]) -> str:
    known = set(inside)
    return ", ".join(name for name in names if name not in known)


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
    needing = ("merge-engine", "sequence.field", "rowkind.field")
    for name in needing:
        if name in spec.options:
            yield name, "needs a primary key; without one Paimon ignores it. Set primary_key, or remove it"
    # SchemaValidation: changelog-producer on a table without primary key is refused.
    if spec.options.get("changelog-producer", "none").lower() != "none":
        yield "changelog-producer", "needs a primary key. Set primary_key, or remove it"
    for name in spec.options:
        found = split_field_option(name)
        if name == "fields.default-aggregate-function" or (found and found[1] not in _OF_ANY_TABLE):
            yield name, "needs a primary key; without one Paimon ignores it. Set primary_key, or remove it"


def _bucket_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateBucket
    bucket = spec.bucket
    if bucket < POSTPONE_BUCKET or bucket == 0:
        yield "bucket", "not a number of buckets. Use a number from 1, auto, -1 (dynamic), or -2 (postpone)"
    if bucket == POSTPONE_BUCKET:
        if not versions.supports(Capability.POSTPONE_BUCKET):
            yield "bucket", versions.explain(Capability.POSTPONE_BUCKET)
        if not spec.primary_key:
            yield "bucket", "postpone buckets need a primary key. Set primary_key, or use -1"
    if bucket > 0 and not spec.primary_key and "bucket-key" not in spec.options:
        yield (
            "bucket",
            "a table without primary key needs bucket_key to fill its buckets. Set bucket_key, or use -1",
        )


def _moving_key_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateBucket
    bucket = spec.bucket
    across = versions.supports(Capability.FIXED_BUCKET_ACROSS_PARTITIONS)
    if bucket != DYNAMIC_BUCKET and spec.crosses_partitions and not across:
        yield (
            "primary_key",
            f"leaves out the partition column {_outside(spec.partition_by, spec.primary_key)} with "
            f"bucket={bucket}. Add it to primary_key, or use bucket=-1, where a key may change its partition",
        )
    partly = spec.moves_keys and set(spec.partition_by) & set(spec.primary_key)
    if partly and not versions.supports(Capability.KEY_WITH_ONE_OF_TWO_PARTITIONS):
        yield "primary_key", versions.explain(Capability.KEY_WITH_ONE_OF_TWO_PARTITIONS)
    if spec.moves_keys and "rowkind.field" in spec.options:
        # GlobalIndexAssigner uses the new row to delete the old one, but the row kind comes from the new row's column:
        # the key then exists twice, and the next write fails [ran, 0.9.0 and 1.4.2].
        yield (
            "rowkind.field",
            "cannot be where a key may change its partition: the row in its old partition would stay. "
            f"Add {_outside(spec.partition_by, spec.primary_key)} to primary_key, or remove rowkind_field",
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
    keys = split_columns(spec.options.get("bucket-key", ""))
    if keys and spec.bucket == DYNAMIC_BUCKET and not spec.auto_buckets:
        yield (
            "bucket-key",
            "Cannot define 'bucket-key' with bucket = -1: it needs a fixed number of buckets, and bucket is -1 "
            "(dynamic), also where it is not set. "
            "Set bucket to a number from 1, or remove bucket_key",
        )
    if spec.primary_key and not set(keys) <= set(spec.primary_key):
        yield (
            "bucket-key",
            f"{_outside(keys, spec.primary_key)} is not in the primary key ({', '.join(spec.primary_key)}). "
            "Use a part of the primary key",
        )


def _hashed_column_rules(spec: TableSpec, versions: Versions) -> _Found:
    # TableSchema.originalBucketKeys
    keys = split_columns(spec.options.get("bucket-key", ""))
    hashed = keys or tuple(name for name in spec.primary_key if name not in spec.partition_by)
    if spec.bucket > 0 and len(hashed) == 1 and not is_plain(hashed[0]):
        needed = Capability.FIXED_BUCKET_BY_QUOTED_COLUMN
        if versions.supports(needed) and "." in hashed[0]:
            needed = Capability.FIXED_BUCKET_BY_DOTTED_COLUMN
        if not versions.supports(needed):
            yield "bucket-key" if keys else "primary_key", f"'{hashed[0]}': {versions.explain(needed)}"
    inside = [name for name in keys if name in spec.partition_by]
    if inside:
        yield (
            "bucket-key",
            f"{', '.join(inside)} is in partition_by, and buckets are inside partitions. Use other columns",
        )


def _sequence_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateSequenceField
    fields = split_columns(spec.options.get("sequence.field", ""))
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
            f"primary_key leaves out {_outside(spec.partition_by, spec.primary_key)}. "
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
    name = "fields.default-aggregate-function"
    function = spec.options.get(name)
    if function is None or versions.supports(Capability.SEQUENCE_OUTSIDE_DEFAULT_AGGREGATE):
        return
    orders = [split_columns(spec.options.get("sequence.field", "")), *spec.sequence_groups]
    for columns in orders:
        # With several columns, only the latest row as a whole has the latest sequence.
        keeping = ("last_value", "last_non_null_value", "max")[: 3 if len(columns) == 1 else 1]
        ordering = [column for column in columns if column not in spec.primary_key]
        if ordering and function not in keeping:
            yield (
                name,
                f"it also applies to {_listed(ordering)}, which {'orders' if len(ordering) == 1 else 'order'} "
                f"the rows and would be aggregated by '{function}'. Use {_or(keeping)}, give each column an "
                "aggregate_function of its own instead, or use Paimon 1.1 or later",
            )


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _sequence_group_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateSequenceGroup, PartialUpdateMergeFunction.Factory
    owner: dict[str, str] = {}
    sequence_columns: set[str] = set()
    for columns, members in spec.sequence_groups.items():
        name = f"fields.{','.join(columns)}.sequence-group"
        sequence_columns.update(columns)
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
    for column in sorted(sequence_columns):
        if f"fields.{column}.aggregate-function" in spec.options:
            yield (
                f"fields.{column}.aggregate-function",
                f"'{column}' orders a sequence group and cannot be aggregated. Remove its aggregate_function",
            )


def _aggregate_rules(spec: TableSpec, versions: Versions) -> _Found:
    if not spec.primary_key:
        return
    for name, function in spec.options.items():
        found = split_field_option(name)
        default = name == "fields.default-aggregate-function"
        if not default and (found is None or found[1] != "aggregate-function"):
            continue
        column = "" if found is None else ",".join(found[0])
        if column in spec.primary_key:
            yield name, f"'{column}' is in the primary key, which Paimon never aggregates. Remove it"
        elif spec.merge_engine in ("deduplicate", "first-row"):
            yield (
                name,
                f"merge_engine='{spec.merge_engine}' does not aggregate. Use 'aggregation', or remove it",
            )
        elif spec.merge_engine == "partial-update":
            fault = _outside_groups(spec, column, function, versions)
            if fault:
                yield name, fault


def _outside_groups(spec: TableSpec, column: str, function: str, versions: Versions) -> str | None:
    """Why partial-update does not aggregate a column ('' for all of them); refused only when rows are written.

    PartialUpdateMergeFunction: "Must use sequence group for aggregation functions".
    """
    groups = spec.sequence_groups
    grouped = {name for columns, members in groups.items() for name in (*columns, *members)}
    if column in grouped:
        return None
    keeps_last = function == "last_non_null_value"
    if keeps_last and versions.supports(Capability.LAST_VALUE_WITHOUT_SEQUENCE_GROUP):
        return None
    if groups and versions.supports(Capability.AGGREGATE_OUTSIDE_SEQUENCE_GROUP):
        return None
    if not column:
        # The columns that it applies to are only known from the query: see `column_rules`.
        return (
            None if groups else "partial-update aggregates with a sequence_group only. Give one, or remove it"
        )
    return (
        "partial-update aggregates columns of a sequence group only. List "
        f"'{column}' in the sequence_group of its sequence column, or use merge_engine='aggregation'"
    )


def _function_setting_rules(spec: TableSpec, versions: Versions) -> _Found:
    # Paimon silently accepts a column setting that nothing reads.
    if not spec.primary_key:
        return
    default = spec.options.get("fields.default-aggregate-function", "last_non_null_value")
    aggregates = spec.merge_engine in ("aggregation", "partial-update")
    distinct = Capability.LISTAGG_DISTINCT
    for name in spec.options:
        found = split_field_option(name)
        if found is None or found[1] not in ("ignore-retract", *FUNCTION_SETTINGS):
            continue
        column = ",".join(found[0])
        if not aggregates:
            yield (
                name,
                f"merge_engine='{spec.merge_engine}' does not aggregate. Use 'aggregation', or remove it",
            )
            continue
        function = spec.options.get(f"fields.{column}.aggregate-function", default)
        readers = FUNCTION_SETTINGS.get(found[1], (function,))
        if function not in readers:
            known = " or ".join(f"'{reader}'" for reader in readers)
            yield name, f"'{function}' does not read it. Use {known} as aggregate_function, or remove it"
        elif (found[1], function) == ("distinct", "listagg") and not versions.supports(distinct):
            yield name, f"{versions.explain(distinct)} Remove it"


def _retract_rules(spec: TableSpec, versions: Versions) -> _Found:
    """Tables that get '-U' and '-D' rows which their merge engine cannot apply: later reads fail [ran, 0.9.0]."""
    rowkind = spec.options.get("rowkind.field")
    if rowkind is None or spec.is_true("ignore-delete"):
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
    removes = spec.is_true(f"{spec.merge_engine}.remove-record-on-delete")
    # FieldAggregator.retract; if a '-D' row removes the record, no function is called.
    for name, function in spec.options.items():
        found = split_field_option(name)
        default = name == "fields.default-aggregate-function"
        if removes or not (default or (found and found[1] == "aggregate-function")):
            continue
        column = "" if found is None else ",".join(found[0])
        if function not in RETRACTING_FUNCTIONS and not spec.is_true(f"fields.{column}.ignore-retract"):
            what = (
                "Give such columns a function of their own"
                if default
                else "Set ignore_retract for the column"
            )
            yield (
                name,
                f"'{function}' cannot take back the '-U' and '-D' rows that rowkind_field='{rowkind}' "
                f"announces: the table would become unreadable. {what}, or put 'ignore-delete': true into "
                "tblproperties",
            )


def _default_value_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateDefaultValues
    for name in spec.options:
        found = split_field_option(name)
        if found is None or found[1] != "default-value":
            continue
        for column in found[0]:
            if column in (*spec.primary_key, *spec.partition_by):
                yield (
                    name,
                    f"'{column}' is a key or partition column and cannot have a default. Write coalesce() in SQL",
                )


def _changelog_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateTableSchema
    producer = spec.options.get("changelog-producer", "none").lower()
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
    if both and not versions.supports(Capability.LOOKUP_WITH_DELTA_COMMITS):
        yield "full-compaction.delta-commits", versions.explain(Capability.LOOKUP_WITH_DELTA_COMMITS)


def _deletion_vector_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateForDeletionVectors
    if not spec.is_true("deletion-vectors.enabled"):
        return
    if spec.merge_engine == "first-row" and not spec.is_true("pk-clustering-override"):
        yield (
            "deletion-vectors.enabled",
            "first-row never deletes old rows, so it does not use them. Remove deletion_vectors",
        )
    producer = spec.options.get("changelog-producer", "none").lower()
    if producer not in ("none", "input", "lookup"):
        yield (
            "deletion-vectors.enabled",
            f"does not work with changelog_producer='{producer}'. Use 'lookup', 'input' or 'none'",
        )


def _delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    # PartialUpdateMergeFunction.Factory
    removes = "partial-update.remove-record-on-delete"
    if spec.is_true(removes) and not versions.supports(Capability.REMOVE_RECORD_ON_DELETE):
        yield removes, versions.explain(Capability.REMOVE_RECORD_ON_DELETE)
    elif spec.is_true(removes):
        if spec.is_true("ignore-delete"):
            yield removes, "contradicts 'ignore-delete'='true'. Keep one of the two"
        if spec.sequence_groups:
            yield removes, "does not work with a sequence_group. Keep one of the two"
        if spec.primary_key and spec.merge_engine != "partial-update":
            yield (
                removes,
                f"is for merge_engine='partial-update', and this is '{spec.merge_engine}'. Remove it",
            )


def _group_delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    by_group = "partial-update.remove-record-on-sequence-group"
    if by_group in spec.options:
        if spec.is_true("ignore-delete"):
            yield by_group, "contradicts 'ignore-delete'='true'. Keep one of the two"
        ordering = {column for columns in spec.sequence_groups for column in columns}
        missing = [column for column in split_columns(spec.options[by_group]) if column not in ordering]
        if missing:
            yield by_group, f"{', '.join(missing)} orders no sequence_group. Name a column that has one"


def _aggregation_delete_rules(spec: TableSpec, versions: Versions) -> _Found:
    aggregation = "aggregation.remove-record-on-delete"
    if spec.is_true(aggregation) and spec.primary_key and spec.merge_engine != "aggregation":
        yield aggregation, f"is for merge_engine='aggregation', and this is '{spec.merge_engine}'. Remove it"
    if spec.is_true(aggregation):
        # FieldAggregatorFactory.create
        for name in spec.options:
            found = split_field_option(name)
            if found and found[1] == "ignore-retract" and spec.is_true(name):
                yield name, f"contradicts '{aggregation}'='true'. Keep one of the two"


def _background_expiry_rules(spec: TableSpec, versions: Versions) -> _Found:
    # TableCommitImpl.close: shutdownNow stops the expiring thread, wherever it is.
    if spec.options.get("snapshot.expire.execution-mode", "").lower() == "async":
        yield (
            "snapshot.expire.execution-mode",
            "a dbt run writes in batches, and the end of a batch interrupts what still expires in the background. "
            "Remove it: sync is the default",
        )


def _retention_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation: min >= 1 and min <= max, for table snapshots and changelogs, defaults included.
    for family in ("snapshot", "changelog"):
        low_name, high_name = f"{family}.num-retained.min", f"{family}.num-retained.max"
        if low_name not in spec.options and high_name not in spec.options:
            continue
        fallback = family == "changelog"
        low = _retained(spec, low_name, "snapshot.num-retained.min" if fallback else None, versions)
        high = _retained(spec, high_name, "snapshot.num-retained.max" if fallback else None, versions)
        where = low_name if low_name in spec.options else high_name
        if low is not None and low < 1:
            yield low_name, "at least 1 is needed, the newest one is always kept. Use 1 or more"
        elif low is not None and high is not None and low > high:
            origin = "" if low_name in spec.options else ", Paimon's default"
            yield (
                where,
                f"the minimum ({low}{origin}) is above the maximum ({high}). "
                f"Set num_retained_min to {high} or less, or raise num_retained_max",
            )


def _retained(spec: TableSpec, name: str, fallback: str | None, versions: Versions) -> int | None:
    value = spec.options.get(name)
    if value is None and fallback is not None:
        return _retained(spec, fallback, None, versions)
    parsed = canonical(name, value, versions.paimon)
    return parsed if isinstance(parsed, int) else None


def unknown_in_pattern(pattern: str, partition_by: Iterable[str]) -> str:
    """The first `$name` in a 'partition.timestamp-pattern' that is not a partition column; '' if there is none."""
    rest = pattern
    # Like PartitionTimeExtractor, but longer names first, in case one begins with another.
    for name in sorted(partition_by, key=len, reverse=True):
        rest = rest.replace(f"${name}", "")
    return rest.split("$", 1)[1].split(" ")[0] if "$" in rest else ""


def _partition_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation, up to 1.4; from 2.0 Paimon accepts it, but nothing expires.
    if not spec.partition_by and "partition.expiration-time" in spec.options:
        yield "partition.expiration-time", "needs partitions. Set partition_by, or remove it"


def _record_expiry_rules(spec: TableSpec, versions: Versions) -> _Found:
    # RecordLevelExpire.create: refused only when rows are written.
    if "record-level.expire-time" not in spec.options:
        return
    if not spec.primary_key:
        yield (
            "record-level.expire-time",
            "needs a primary key; without one rows never expire. Set primary_key, or remove it",
        )
    elif "record-level.time-field" not in spec.options:
        yield (
            "record-level.expire-time",
            "needs a column with a row's age. Set 'record-level.time-field', or remove it",
        )


def _codec_rules(spec: TableSpec, versions: Versions) -> _Found:
    # RowDataParquetBuilder, OrcFile: refused only when rows are written.
    file_format = spec.file_format
    per_level = pairs(spec.options.get("file.format.per.level", ""))

    def fault_of(level_format: str, codec: str) -> str | None:
        if level_format == "avro" and versions.supports(Capability.AVRO_CODEC_IS_ITS_OWN):
            return None
        return codec_fault(level_format, codec)

    name = "parquet.writer.version"
    if spec.options.get(name) == "v2" and not versions.supports(Capability.PARQUET_FORMAT_V2):
        yield name, versions.explain(Capability.PARQUET_FORMAT_V2)
    if "file.compression" in spec.options:
        fault = fault_of(file_format, spec.options["file.compression"])
        if fault:
            yield "file.compression", fault
    for level, codec in pairs(spec.options.get("file.compression.per.level", "")).items():
        fault = fault_of(per_level.get(level, file_format).lower(), codec)
        if fault:
            yield "file.compression.per.level", f"level {level}: {fault}"


def pairs(text: str) -> dict[str, str]:
    """The pairs in an option value such as '0:avro,5:orc'."""
    found = (item.split(":", 1) for item in text.split(",") if ":" in item)
    return {key.strip(): value.strip() for key, value in found}


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
    producer = spec.options.get("changelog-producer", "none").lower()
    if producer not in ("none", "input"):
        yield name, f"does not work with changelog_producer='{producer}'. Use 'none' or 'input'"


def _chain_rules(spec: TableSpec, versions: Versions) -> _Found:
    # SchemaValidation.validateChainTable
    name = "chain-table.enabled"
    if not spec.is_true(name):
        return
    missing = [
        key
        for key, there in (
            ("primary_key", spec.primary_key),
            ("partition_by", spec.partition_by),
            ("bucket (from 1)", spec.bucket > 0),
            ("sequence_field", "sequence.field" in spec.options),
            ("'partition.timestamp-pattern'", "partition.timestamp-pattern" in spec.options),
            ("'partition.timestamp-formatter'", "partition.timestamp-formatter" in spec.options),
        )
        if not there
    ]
    if missing:
        yield name, f"needs {', '.join(missing)}. Set what is missing, or remove it"
    if spec.is_true("deletion-vectors.enabled"):
        yield name, "does not support deletion vectors. Remove one of the two"
    if spec.options.get("changelog-producer", "none").lower() not in ("none", "input"):
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
    # SchemaValidation.validateRowTracking, validateIncrementalClustering and the upsert-key check (1.4)
    for name in ("row-tracking.enabled", "clustering.incremental"):
        if spec.is_true(name) and spec.primary_key:
            yield name, "is for tables without primary key. Remove it, or primary_key"
    if spec.is_true("row-tracking.enabled") and spec.bucket != -1:
        yield "row-tracking.enabled", "needs bucket=-1. Remove bucket, or row tracking"
    if spec.is_true("data-evolution.enabled") and not spec.is_true("row-tracking.enabled"):
        yield "data-evolution.enabled", "needs 'row-tracking.enabled'='true'. Set it, or remove this"
        return
    for name in ("deletion-vectors.enabled", "clustering.incremental"):
        if spec.is_true("data-evolution.enabled") and spec.is_true(name):
            yield "data-evolution.enabled", f"does not work with '{name}'. Remove one of the two"
    if spec.is_true("clustering.incremental") and not spec.primary_key and spec.bucket != DYNAMIC_BUCKET:
        if spec.options.get("bucket-append-ordered", "true").lower() == "true":
            yield (
                "clustering.incremental",
                "keeps no order in buckets. Set 'bucket-append-ordered': false, or remove bucket",
            )
        if spec.is_true("deletion-vectors.enabled"):
            yield (
                "clustering.incremental",
                "does not support deletion vectors with buckets. Remove one of the two",
            )


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
