"""The capabilities that some supported combinations of Paimon, Spark and catalog lack, each with its rule.

Each rule names its source: a Paimon class, read at the release tags, or a trial with some versions ("[ran, 0.9.0]").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final


@dataclass(frozen=True)
class Rule:
    """When a combination has a capability.

    Attributes:
        label: what messages and `listed` call it; empty if nothing names it.
        paimon: the first Paimon release with it; None if no release has it.
        until: the first Paimon release that no longer has it.
        spark: the first Spark with it.
        until_spark: the first Spark that no longer has it.
        catalogs: the first Paimon release per catalog kind, instead of `paimon`; other kinds lack it.
        listed: whether `dbt debug` and docs/compatibility.md list it.
        wrong: the defect of the Paimon releases without it (docs/reference/known-defects.md): wrong rows, lost rows, or
            unreadable tables.
    """

    label: str = ""
    paimon: str | None = "0.9"
    until: str | None = None
    spark: str | None = None
    until_spark: str | None = None
    catalogs: Mapping[str, str] = field(default_factory=dict)
    remedy: str = ""
    listed: bool = False
    wrong: str = ""


_WITH_BRANCHES: Final[Mapping[str, str]] = {"filesystem": "0.9", "hive": "0.9", "rest": "1.0"}


class Capability(Enum):
    """A feature that some supported combinations lack; its value is the rule."""

    # HiveCatalog.createView from 1.0, RESTCatalog.createView from 1.1, JdbcCatalog.createView from 2.0.
    VIEWS = Rule(
        "persistent views in the Paimon catalog",
        catalogs={"hive": "1.0", "rest": "1.1", "jdbc": "2.0"},
        remedy="Set `view_catalog` to a catalog that has views, or use 'table' or 'ephemeral'.",
        listed=True,
    )
    # CreatePaimonViewExec refuses column comments in all releases before 2.0.
    VIEW_COLUMN_COMMENTS = Rule("comments on the columns of views in the Paimon catalog", paimon="2.0")
    # org.apache.paimon.rest.RESTCatalogFactory, from 1.0.
    REST_CATALOG = Rule(
        "REST catalogs",
        paimon="1.0",
        remedy="Set paimon_version to a release that has them, or metastore to filesystem, hive or jdbc.",
        listed=True,
    )
    # HiveCatalog.createTableImpl of 0.9 takes a second client from its pool while it holds one, so threads deadlock
    # if there are as many threads as clients [ran, 0.9.0].
    HIVE_CALLS_ONE_AT_A_TIME = Rule("hive catalogs that create tables with one client of the metastore", paimon="1.0")
    # PostgresqlDistributedLockDialect, from 1.1.
    JDBC_LOCK_ON_POSTGRESQL = Rule(
        "locks of a jdbc catalog on PostgreSQL",
        paimon="1.1",
        remedy="Set paimon_version to a release that has them, use a hive catalog, or set lock.enabled to false "
        "under catalog_options and let one process at a time write.",
        listed=True,
    )
    # SchemaValidation.isPostponeBucketTable, from 1.1.
    POSTPONE_BUCKET = Rule(
        "postpone bucket (bucket = -2)",
        paimon="1.1",
        remedy="Use bucket = -1 (dynamic) or a fixed number.",
        listed=True,
    )
    # SparkPostponeCompactProcedure, from 1.4; before that, only Flink compacts them.
    COMPACT_POSTPONE_BUCKET = Rule(
        "sys.compact of postpone buckets",
        paimon="1.4",
        remedy="Compact the table with Flink, or set paimon_version to a release that has it.",
        listed=True,
    )
    # Spark's RescaleProcedure, from 1.4; Flink's is older.
    RESCALE = Rule("sys.rescale", paimon="1.4", listed=True)
    # AbstractFileStoreScan.checkNumOfBuckets, up to 0.9. Later, AbstractFileStoreWrite checks only the bucket that it
    # writes, and accepts rows for new buckets. A key in an old bucket then exists twice [ran, 1.4.2].
    OLD_BUCKETS_GUARDED = Rule(
        until="1.0",
        wrong="after a rescale of some partitions, keys that are written again in the other ones exist twice",
    )
    # Before 1.3, SchemaValidation.validateBucket refuses fixed buckets with such a key.
    FIXED_BUCKET_ACROSS_PARTITIONS = Rule(
        "fixed buckets when the primary key leaves out a partition column",
        paimon="1.3",
        remedy="Add every partition column to primary_key, or use bucket = -1.",
        listed=True,
    )
    # PaimonScan.extractBucketTransform quotes the bucket key from 1.3 on; before, every read fails [ran, 0.9.0].
    FIXED_BUCKET_BY_QUOTED_COLUMN = Rule(
        "fixed buckets by one column whose name needs backticks",
        paimon="1.3",
        # On Spark 4.1, reads fail as they did before Paimon 1.3 [ran, 2.0.0].
        until_spark="4.1",
        remedy="Give the column a name of letters, digits and _, or use bucket = -1.",
    )
    # From 1.3, PaimonScan.extractBucketTransform reads a bucket key with a dot as a nested field [ran, 1.4.2].
    FIXED_BUCKET_BY_DOTTED_COLUMN = Rule(
        "fixed buckets by one column with a dot in its name",
        paimon=None,
        remedy="Give the column a name without dots, or use bucket = -1.",
    )
    # From 1.0, OptionUtils.mergeSQLConfWithIdentifier puts catalog, schema and table unescaped into a regex.
    TABLE_NAMES_OF_ANY_TEXT = Rule(
        "table names that are not valid regular expressions",
        until="1.0",
        remedy="Use a name without special characters of regular expressions, such as ( or *.",
    )
    # Parquet's CodecFactory caches codecs for the whole JVM: by name, from 1.4 also by level [ran, 0.9.0, 1.4.2].
    PARQUET_ZSTD_LEVEL_IS_ITS_OWN = Rule(
        "file.compression.zstd-level of Parquet, for each table",
        paimon="1.4",
        remedy="Set it for all models or for none, use file_format: orc, or another codec.",
        listed=True,
    )
    # VectorizedColumnReader reads delta encodings from 1.4 on; before, it fails: "Unsupported encoding" [ran, 0.9.0].
    # From 1.4, VectorizedDeltaByteArrayReader.previous is a view of a buffer that each batch clears
    # [ran, 1.4.2 and 2.0.0].
    PARQUET_FORMAT_V2 = Rule(
        paimon=None,
        wrong="texts in Parquet files of `parquet.writer.version` v2 cannot be read, or from Paimon 1.4 have zero "
        "bytes in place of characters, which a compaction keeps",
    )
    # AvroFileFormat.createCodecFactory: before 1.0, it ignores any file.compression but zstd, and uses avro.codec.
    AVRO_CODEC_IS_ITS_OWN = Rule("Avro files that ignore the compressions of other formats", until="1.0")
    # NestedColumnReader.readRow of 0.9 asks the first field's vector for its length, which a vector of decimals does
    # not have. Such rows can be written but not read [ran, 0.9.0].
    DECIMAL_FIRST_IN_STRUCT = Rule(
        "structs that begin with a decimal, in Parquet files",
        paimon="1.0",
        remedy="Put another field first, or use file_format = 'orc'.",
        wrong="a struct that begins with a decimal cannot be read from Parquet",
        listed=True,
    )
    # ParquetFilters.toParquetObject, https://github.com/apache/paimon/pull/4365: before, Paimon compared a Byte or a
    # Short with Parquet's Integer. With statistics, that fails; with a dictionary, it finds no row [ran, 0.9.0].
    FILTERS_ON_SMALL_INTEGERS = Rule(
        paimon="1.0",
        wrong="a filter on a tinyint or smallint column of a Parquet table fails or misses rows",
    )
    # SparkFilterConverter, https://github.com/apache/paimon/pull/6943: before, Paimon read NOT (column <=> 'a') as
    # column <> 'a', and could skip files with NULL [ran, 0.9.0].
    FILTERS_THAT_KEEP_NULLS = Rule(
        paimon="1.4",
        wrong="a filter with `is distinct from` or `is not true` misses rows with NULL",
    )
    # PredicateBuilder.in of older releases fails for an empty list: "There must be at least 1 inner predicate". Dynamic
    # partition pruning passes an empty list if one side of a join has no rows [ran, 0.9.0].
    JOINS_WITH_NOTHING = Rule("joins with an empty input by a table's partition columns", paimon="1.4")
    # SchemaEvolutionUtil.createDataFilters, https://github.com/apache/paimon/pull/4705: before, Paimon cast a filter's
    # values to the type in the file: 3000000000 to -1294967296, and 5.5 to 5 [ran, 0.9.0].
    FILTERS_AFTER_TYPE_CHANGE = Rule(
        "filters that find the rows of older ORC files after a column's type has changed",
        paimon="1.0",
        wrong="after a column's type has changed, filters miss rows of older files",
    )
    # The same cast fails for a string that is not a number. Before 1.3, Paimon also compares the minimum and maximum of
    # older files as strings, https://github.com/apache/paimon/pull/5825.
    FILTERS_AFTER_CHANGE_TO_TEXT = Rule(
        "filters that find the rows of older files after a column has become a string, or was one",
        paimon="1.3",
        wrong="after a column's type has changed to or from a string, filters fail or miss rows of older files",
    )
    # PaimonMetadataColumn, from 1.0.1. Only a test uses this rule.
    PARTITION_AND_BUCKET_COLUMNS = Rule("the columns __paimon_partition and __paimon_bucket", paimon="1.0")
    # CoreOptions 'row-tracking.enabled', from 1.3.
    ROW_TRACKING = Rule("row tracking (row-tracking.enabled)", paimon="1.3", listed=True)
    # Before 2.0, rows that a filter leaves out are not counted [ran, 1.4.2; 2.0.0 is right].
    ROW_IDS = Rule(
        "row ids (row_tracking_of)",
        paimon="2.0",
        wrong="`_ROW_ID` in a query with a condition is the id of another row",
    )
    # MergeIntoPaimonDataEvolutionTable; DataEvolutionFileStoreScan.filterByStats of 1.4 skips the files that have no
    # column of the query [ran, 1.4.2; 2.0.0 is right].
    DATA_EVOLUTION = Rule(
        "MERGE of some columns into files of their own (data-evolution.enabled)",
        paimon="2.0",
        remedy="Remove it.",
        wrong="with `data-evolution.enabled`, a query of columns that were added later finds no older row",
    )
    # CoreOptions.CLUSTERING_INCREMENTAL, from 1.3 [ran, 1.4.2, 2.0.0]. Only a test uses this rule.
    INCREMENTAL_CLUSTERING = Rule("compactions that sort new files only (clustering.incremental)", paimon="1.3")
    # CoreOptions.DEFAULT_VALUE_SUFFIX: removed in 1.2, replaced by a column's DEFAULT.
    FIELD_DEFAULT_VALUE = Rule(
        "default values by table option (fields.<column>.default-value)",
        until="1.2",
        remedy="Give the default in the model's SQL, with coalesce().",
        listed=True,
    )
    # PartialUpdateMergeFunction: before 1.1, one sequence group allowed aggregations of every column [ran, 0.9.0].
    AGGREGATE_OUTSIDE_SEQUENCE_GROUP = Rule(
        "partial-update that aggregates columns outside its sequence groups", until="1.1"
    )
    # PartialUpdateMergeFunction, from 1.1; before, this function needs a sequence group as all others do [ran, 0.9.0].
    LAST_VALUE_WITHOUT_SEQUENCE_GROUP = Rule(
        "last_non_null_value in partial-update tables without a sequence group", paimon="1.1"
    )
    # AggregateMergeFunction and PartialUpdateMergeFunction: getAggFuncName, from 1.0.1.
    SEQUENCE_OUTSIDE_DEFAULT_AGGREGATE = Rule(
        paimon="1.1",
        wrong="`fields.default-aggregate-function` also aggregates the sequence columns",
    )
    # FieldListaggAgg reads `distinct` from 1.4.
    LISTAGG_DISTINCT = Rule("listagg with distinct", paimon="1.4")
    # PartialUpdateMergeFunction of 0.9: if a deleted key is written again, every read and compaction fails
    # [ran, 0.9.0], and a compaction of only some levels drops the delete but not the row.
    REMOVE_RECORD_ON_DELETE = Rule(
        "partial-update.remove-record-on-delete",
        paimon="1.0",
        remedy="Use 'ignore-delete' or 'deduplicate', or a sequence_group: a delete sets its columns to NULL.",
        wrong="with `partial-update.remove-record-on-delete`, a key that comes again makes the table unreadable",
        listed=True,
    )
    # DataWrite.needFullCompaction, from 1.4; before that, only Flink reads the option [ran, 0.9.0 and 1.4.2].
    FULL_COMPACTION_ON_WRITE = Rule(
        "full-compaction.delta-commits on Spark",
        paimon="1.4",
        remedy='Add post_hook="{{ compact(this) }}".',
        listed=True,
    )
    # MergeTreeCompactManagerFactory reads the time of the last full compaction from 2.0 on; before, a new writer
    # compacts at once [ran, 0.9.0].
    COMPACTION_INTERVAL_ACROSS_RUNS = Rule(
        "compaction.optimization-interval that counts from one run to the next",
        paimon="2.0",
        remedy="Remove it, and use `compact` of maintenance with every_commits.",
    )
    # SpecialFields.SYSTEM_FIELD_NAMES, from 1.0; not reserved in 0.9 [ran].
    ROWKIND_IS_PAIMONS_COLUMN = Rule("the reserved column name rowkind", paimon="1.0")
    # PartialUpdateMergeFunction.initRow, from 1.1: a retraction that is merged first becomes the row's value, and is
    # then merged again with the older rows [ran, 1.4.2 and 2.0.0].
    RETRACTIONS_IN_SEQUENCE_GROUP = Rule(
        until="1.1",
        wrong="`sum` in a sequence group returns a wrong value for a `-U` and its `+U` in one write, and with "
        "`ignore_retract` so do `product`, `collect` and `listagg`",
    )
    # FieldProductAgg, FieldCollectAgg, FieldMergeMapAgg, FieldNestedUpdateAgg and FieldLastNonNullValueAgg ignore
    # a retraction while they have no value [ran, 0.9.0, 1.4.2 and 2.0.0].
    RETRACTIONS_BEFORE_OLDER_ROWS = Rule(
        paimon=None,
        wrong="`product`, `collect`, `merge_map`, `nested_update` and `last_non_null_value` ignore a `-U` or `-D` "
        "that is merged before the older rows",
    )
    # AggregateMergeFunction.getResult returns the first value with the highest sequence [ran, 0.9.0, 1.4.2 and 2.0.0].
    FIRST_VALUE_BY_SEQUENCE = Rule(
        paimon=None,
        wrong="`first_value` and `first_non_null_value` with a sequence return a later value",
    )
    # NestedColumnReader of 0.9 skips the values two levels below a NULL: such rows can be written but not read
    # [ran, 0.9.0].
    STRUCT_IN_NULL_STRUCT = Rule(
        "NULL in place of a struct that has a struct in it, in Parquet files",
        paimon="1.0",
        remedy="Use file_format = 'orc', or write a struct whose fields are NULL.",
        wrong="NULL in place of a struct that has a struct in it cannot be read from Parquet",
    )
    # RecordLevelExpire of 0.9 asserts in every compaction that the time of each row is not NULL [ran, 0.9.0].
    RECORD_EXPIRY_OF_NULL = Rule(
        "rows without a value in their record-level.time-field",
        paimon="1.0",
        wrong="a NULL in `record-level.time-field` makes each compaction fail",
    )
    # RecordLevelExpire.wrap filters each file before the rows of a key are merged [ran, 0.9.0, 1.4.2 and 2.0.0].
    RECORD_EXPIRY_AFTER_MERGING = Rule(
        paimon=None,
        wrong="`record-level.expire-time` drops the old values of a key before they are merged, so that a compaction "
        "changes an aggregate, or shows an older row again",
    )
    # RecordLevelExpire before 1.2 adds it to the row's time as an int [ran, 0.9.0; 1.4.2 and 2.0.0 are right].
    LONG_RECORD_EXPIRY = Rule(
        "record-level.expire-time that ends after 2038",
        paimon="1.2",
        remedy="Use a shorter time, such as '3650 d'.",
        wrong="a `record-level.expire-time` of about 4,000 days or more makes a compaction drop all rows",
    )
    # SortBufferWriteBuffer before 2.0 sorts ascending [ran, 0.9.0, 1.4.2 and 2.0.0].
    DESCENDING_SEQUENCE = Rule(
        "sequence.field.sort-order = descending within one run",
        paimon="2.0",
        remedy="Remove it, and order by a column that grows, such as -ts.",
        wrong="with `sequence.field.sort-order` = `descending`, the row of a run with the greatest sequence wins",
    )
    # RangeBitmap.isNull returns the first and the last position of a file that has only NULLs [ran, 1.4.2 and 2.0.0].
    NULLS_IN_RANGE_BITMAP = Rule(
        "range-bitmap indexes of columns with NULLs",
        paimon=None,
        remedy="Use a bloom filter ('file-index.bloom-filter.columns').",
        wrong="`is null` on a column with a `range-bitmap` index finds two rows of a file that has only NULLs",
    )
    # BitmapIndexResultLazy.or calls `and` before 1.1 [ran, 0.9.0; 1.4.2 and 2.0.0 are right].
    BITMAP_OR = Rule(
        "bitmap indexes and conditions with OR",
        paimon="1.1",
        remedy="Use a bloom filter ('file-index.bloom-filter.columns').",
        wrong="`a = 1 or b = 2` on a column `a` with a `bitmap` index finds no row of a file without the value 1",
    )
    # PartialUpdateMergeFunction.Factory.adjustReadType leaves out the sequence column, if the query does not read it
    # [ran, 1.4.2 and 2.0.0].
    REMOVE_RECORD_ON_SEQUENCE_GROUP = Rule(
        "partial-update.remove-record-on-sequence-group",
        paimon=None,
        remedy="Remove it, and remove rows with delete_rows, or with a partial-update.remove-record-on-delete table "
        "without sequence groups.",
        wrong="with `partial-update.remove-record-on-sequence-group`, a query that does not read the sequence column "
        "returns deleted rows",
    )
    # ClusteringKeyIndex.bootstrap of 1.4 sorts the keys in the wrong order [ran, 1.4.2; 2.0.0 is right].
    CLUSTERED_KEYS = Rule(
        "pk-clustering-override",
        paimon="2.0",
        remedy="Remove it.",
        wrong="with `pk-clustering-override`, a key that is written again can exist twice",
    )
    # FieldNestedUpdateAgg.agg, from 1.1, returns the old rows before it looks at the keys [ran, 1.4.2; 2.0.0 is right].
    NESTED_UPDATE_AT_ITS_LIMIT = Rule(
        "nested_update with both nested_key and count_limit",
        paimon="2.0",
        remedy="Remove count_limit.",
        wrong="`nested_update` with `nested_key` ignores changes of its rows, once it has `count_limit` rows",
    )
    # FileIndexEvaluator.createBaseSelection subtracts vectors of 32 bits only [ran, 1.4.2 and 2.0.0].
    LIMIT_WITH_64_BITS = Rule(
        "LIMIT with deletion vectors of 64 bits (deletion-vectors.bitmap64)",
        paimon=None,
        remedy="Remove it.",
        wrong="with `deletion-vectors.bitmap64`, a query with a `limit` returns too few rows",
    )
    # DataTableBatchScan.applyPushDownLimit of 0.9 counts deleted rows [ran, 0.9.0; 1.4.2 and 2.0.0 are right].
    LIMIT_WITH_DELETION_VECTORS = Rule(
        paimon="1.0",
        wrong="a query with a `limit` returns too few rows of a table with deletion vectors and without a key",
    )
    # FallbackReadFileStoreTable.Scan before 1.4 takes a partition for missing if statistics skip its files
    # [ran, 0.9.0; 1.4.2 and 2.0.0 are right].
    FILTERS_WITH_FALLBACK_BRANCH = Rule(
        paimon="1.4",
        wrong="with `scan.fallback-branch`, a condition finds rows of the branch in partitions that the table has, too",
    )
    # LookupMergeFunction before 1.2 keeps the row of the highest level, not the merged one [ran, 0.9.0 and 2.0.0].
    LATE_ROWS_WITH_LOOKUP = Rule(
        paimon="1.2",
        wrong="`aggregation` and `partial-update` with a `sequence_field` and the changelog producer `lookup` lose "
        "late rows",
    )
    # IndexBootstrap before 1.4 does not read level 0, so the old row of a key that moves stays.
    MOVED_KEYS_IN_LEVEL_0 = Rule(
        "keys that move between partitions, if their rows are not compacted",
        paimon="1.4",
        remedy="Remove the option, or add the partition columns to primary_key.",
        wrong="a key that moves to another partition exists twice, if its old row is not compacted and reads wait for "
        "compactions",
    )
    # GlobalIndexAssigner before 1.4 encodes the row with two columns more than it decodes [ran, 0.9.0; 1.4.2 is right].
    MOVED_KEYS_OF_ANY_WIDTH = Rule(
        "keys that move between partitions in a table of 55, 56, 119, 120, … columns",
        paimon="1.4",
        remedy="Add or remove two columns, or add the partition columns to primary_key.",
        wrong="a table of 55, 56, 119, 120, … columns whose keys can change their partition gets the values of other "
        "columns",
    )
    # FieldCollectAgg and FieldMergeMapAgg compare byte arrays by identity [ran, 0.9.0, 1.4.2 and 2.0.0].
    BINARY_IN_COLLECTIONS = Rule(
        paimon=None,
        wrong="`collect` with `distinct` and `merge_map` keep equal binary values and keys twice",
    )
    # ParquetFilters of 1.4 sends the shortest bytes of a decimal [ran, 1.4.2; 2.0.0 is right].
    BLOOM_FILTERS_OF_DECIMALS = Rule(
        paimon="2.0",
        wrong="on Paimon 1.4 with `parquet.bloom.filter.enabled`, `amount = 1.50` finds no row, if `amount` is a "
        "decimal with more than 18 digits",
    )
    # DateToTimestampCastRule, from 1.4, uses the JVM's time zone [ran, 1.4.2 and 2.0.0; 0.9.0 is right].
    DATE_PARTITIONS_BY_TIMESTAMP = Rule(
        until="1.4",
        wrong="on Spark 3.5, `day >= timestamp'2024-01-31 00:00:00'` misses a day, if `day` is a partition column of "
        "type date, and the session's time zone is not the JVM's",
    )
    # PartialUpdateMergeFunction.retractWithSequenceGroup before 1.1 leaves the key empty [ran, 0.9.0; 2.0.0 is right].
    RETRACTIONS_WITHOUT_INSERT = Rule(
        paimon="1.1",
        wrong="with sequence groups, two retractions of a key that is not in the table make it unreadable",
    )
    # PaimonAnalysis.addCastToColumn before 1.1 builds the struct from its fields [ran, 0.9.0; 2.0.0 is right].
    NULL_STRUCTS_OF_CASTS = Rule(
        paimon="1.1",
        wrong="NULL in a struct column of an ORC or Avro table is written as a struct of NULLs, if Spark casts a "
        "column of the statement",
    )
    # AggregateMergeFunction before 1.1: each sequence column keeps its last value that is not NULL
    # [ran, 0.9.0; 2.0.0 is right].
    NULL_IN_SEQUENCES = Rule(
        paimon="1.1",
        wrong="a NULL in one of several columns of `sequence_field` of an `aggregation` table is replaced by the older "
        "row's value, so a newer row counts as late",
    )
    # MergeIntoPaimonTable and UpdatePaimonTableCommand before 1.3 [ran, 0.9.0 and 2.0.0].
    ONE_COMMIT_WITH_DELETION_VECTORS = Rule(
        paimon="1.3",
        wrong="MERGE and UPDATE of a table with deletion vectors and without a key make two commits; after the first, "
        "readers see both the old and the new rows",
    )
    # SubstringTransform.isNullAt(0) of 1.4 looks at the first partition column.
    SUBSTRING_OF_PARTITIONS = Rule(
        paimon="2.0",
        wrong="on Paimon 1.4, `substring(day, 1, 7) = '2024-01'` finds no row whose first partition column is NULL, if "
        "`day` is the second one",
    )
    # AssignmentAlignmentHelper.recursiveAlignUpdates before 2.0 gives all updates to each struct.
    UPDATES_OF_TWO_STRUCTS = Rule(
        paimon="2.0",
        wrong="`update … set net.amount = 1, gross.tax = 2` also sets `gross.amount` and `net.tax`",
    )
    # SparkExpressionConverter and CastTransform, from 1.4: the text has six digits after the seconds
    # [ran, 1.4.2 and 2.0.0; 0.9.0 is right].
    TEXT_OF_TIMESTAMP_PARTITIONS = Rule(
        until="1.4",
        wrong="`cast(hour as string) = '2024-01-31 05:00:00'` finds no row, if `hour` is a partition column of type "
        "timestamp",
    )
    # PartitionExpire.convertToPartitionString joins the values by commas, and the expired ones are split again
    # [ran, 1.4.2 and 2.0.0; 0.9.0 is right].
    EXPIRE_PARTITIONS_WITH_COMMAS = Rule(
        until="1.0",
        wrong="`expire_partitions` drops the partition `us` in place of the expired partition `us,ca`",
    )
    # GlobalIndexAssigner of 0.9 lists the fields of key and partition together, so the first write fails: "Field names
    # must be unique" [ran, 0.9.0]. With 1.4.2 and 2.0.0 it succeeds.
    KEY_WITH_ONE_OF_TWO_PARTITIONS = Rule(
        "primary keys with some of the partition columns, but not all",
        paimon="1.0",
        remedy="Put all partition columns into primary_key, or none.",
        wrong="a table whose key has only some of the partition columns cannot be written",
    )
    # Statistics and ORC's filters compare bits, and so do keys from 2.0 [ran, 0.9.0, 1.4.2 and 2.0.0].
    NEGATIVE_ZERO = Rule(
        paimon=None,
        wrong="-0.0 and 0.0 count as different values in filters, and from Paimon 2.0 in keys",
    )
    # FieldCollectAgg.agg returns the first array as it is, with duplicates [ran, 0.9.0, 1.4.2 and 2.0.0].
    COLLECT_DISTINCT_OF_FIRST_ROW = Rule(
        paimon=None,
        wrong="`collect` with `distinct` keeps duplicates of a key's first row",
    )
    # FieldListaggAggFactory, from 1.4: STRING only.
    LISTAGG_ON_VARCHAR = Rule("listagg on varchar(n)", until="1.4", remedy="Cast the column to string.")
    # RecordLevelExpire, from 1.0; before that only integers, of the type in record-level.time-field-type.
    RECORD_EXPIRY_BY_TIMESTAMP = Rule(
        "record-level.time-field of type timestamp",
        paimon="1.0",
        remedy="Give the model a column of seconds (int), or of milliseconds (bigint).",
    )
    # SchemaValidation of 2.0 refuses full-compaction.delta-commits with changelog-producer = lookup.
    LOOKUP_WITH_DELTA_COMMITS = Rule(
        "full-compaction.delta-commits with changelog_producer = lookup",
        until="2.0",
        remedy="Use changelog_producer = 'full-compaction', or drop full-compaction.delta-commits.",
    )
    # SchemaManager.checkAlterTableOption of 1.4 guards deletion-vectors.enabled and ignore-delete.
    GUARDED_OPTION_CHANGES = Rule("guarded changes of deletion-vectors.enabled and ignore-delete", paimon="1.4")
    # MergeIntoPaimonTable encodes rows with the table's schema, but Spark's RowEncoder does not support varchar
    # [ran, 0.9.0]. From 1.3 on, it uses Paimon's schema, where a varchar is a string [ran, 1.4.2, 2.0.0].
    MERGE_ON_VARCHAR = Rule(
        "MERGE INTO tables with varchar columns",
        paimon="1.3",
        remedy="Use a string: cast(… as string) in the query, or data_type: string in the contract.",
    )
    # The same on 0.9. MERGE works on 1.4.2, but on 2.0 it fails again [ran, 0.9.0, 1.4.2, 2.0.0].
    MERGE_ON_CHAR = Rule(
        "MERGE INTO tables with char columns",
        paimon=None,
        remedy="Use a string: cast(… as string) in the query, or data_type: string in the contract.",
    )
    # TopNDataSplitEvaluator, from 1.3: it takes a field's id for its position, and skips splits whose values are NULL
    # [ran, 1.4.2, 2.0.0].
    TOP_N = Rule(
        until="1.3",
        wrong="`order by` one column with a `limit` of 100 or less, on a table without a key, fails or returns wrong "
        "rows (a struct before the column, a dropped column, only NULLs in a partition)",
    )
    # AggregatePushDownUtils, from 1.1: files without statistics do not count [ran, 1.4.2, 2.0.0].
    MAX_WITHOUT_STATISTICS = Rule(
        "max() and min() of columns whose statistics are counts only",
        until="1.1",
        wrong="`max()` and `min()` of a table without a key skip files whose statistics are `counts`",
    )
    # FieldSumAgg and FieldProductAgg of 2.0 use Math.addExact; before, the sum wraps around [ran, 0.9.0, 1.4.2, 2.0.0].
    SUMS_WRAP_AROUND = Rule("sums of whole numbers that wrap around", until="2.0")
    COMPACT_ORDER = Rule("sys.compact with order, zorder and hilbert (append tables)", listed=True)
    # commit.strict-mode.last-safe-snapshot (StrictModeChecker), from 1.4. Without this option, a sorted compaction
    # overwrites rows that other programs append meanwhile [ran, 0.9.0, 1.4.2 and 2.0.0].
    COMPACT_ORDER_CHECKS_APPENDS = Rule(
        "sorted compaction that fails where other programs append meanwhile",
        paimon="1.4",
        remedy="Let no other program write meanwhile, or leave out the order; on Paimon 0.9, `method: session` "
        "keeps such rows, except on tables with deletion vectors.",
        wrong="sorted compaction loses rows that another program appends meanwhile",
    )
    # PaimonSparkWriter and CommitMessageImpl, as `spark.sorted_compaction` uses them [ran, 0.9.0]. The releases from
    # 1.0 to 1.3 were not tried.
    COMPACT_ORDER_IN_PROCESS = Rule("a sorted compaction by Paimon's classes in dbt's process", until="1.0")
    # CompactProcedure's parameter compact_strategy, from 1.0.
    COMPACT_STRATEGY = Rule(
        "sys.compact with compact_strategy",
        paimon="1.0",
        remedy="Leave it out: Paimon 0.9 always compacts fully.",
        listed=True,
    )
    # ExpireSnapshotsProcedure: older_than is a TIMESTAMP at 0.9 and a STRING from 1.0.
    EXPIRE_SNAPSHOTS_OLDER_THAN_TEXT = Rule("sys.expire_snapshots with older_than as text", paimon="1.0")
    # ExpireSnapshotsImpl.expire of 2.0 deletes a table snapshot only if the next one is too old as well [ran, 2.0.0].
    EXPIRE_SNAPSHOTS_KEEPS_THE_STATE_THEN = Rule(
        "sys.expire_snapshots that keeps the table's state at older_than", paimon="2.0"
    )
    # Timestamp.toSQLTimestamp goes through java.sql.Timestamp, in the JVM's time zone [ran, 0.9.0, 1.4.2].
    ORC_TIMESTAMPS_OF_ANY_HOUR = Rule(
        paimon=None,
        wrong="ORC moves a timestamp by an hour if it is in the hour that a clock change skips",
    )
    # ProcedureUtils.fillInSnapshotOptions: without retain_min, the table's own minimum applies (by default 10), which
    # must not exceed retain_max [ran, 1.4.2, 2.0.0].
    EXPIRE_SNAPSHOTS_RETAIN_MAX_ALONE = Rule(
        "sys.expire_snapshots with retain_max below snapshot.num-retained.min", until="1.1"
    )
    EXPIRE_PARTITIONS = Rule("sys.expire_partitions", listed=True)
    # Before 1.1, PartitionExpire also drops partitions in the metastore, which fails if they are not registered there
    # [ran, 0.9.0].
    EXPIRE_PARTITIONS_OUTSIDE_THE_METASTORE = Rule(
        "sys.expire_partitions where the metastore does not know the partitions",
        catalogs={"filesystem": "0.9", "hive": "1.1", "jdbc": "0.9", "rest": "1.0"},
        remedy="Set 'metastore.partitioned-table': 'true' in tblproperties.",
    )
    # ExpirePartitionsProcedure: expiration_time is optional from 1.1.
    EXPIRE_PARTITIONS_BY_TABLE_OPTIONS = Rule(
        "sys.expire_partitions by the table's own partition.expiration-time",
        paimon="1.1",
        remedy="Give expiration_time.",
        listed=True,
    )
    # partition.expiration-max-num; ExpirePartitionsProcedure.max_expires replaces it.
    EXPIRE_PARTITIONS_IS_LIMITED = Rule("sys.expire_partitions drops at most 100 partitions by default", paimon="1.0")
    REMOVE_ORPHAN_FILES = Rule("sys.remove_orphan_files", listed=True)
    # OrphanFilesClean.listAndCleanDataDirs of 0.9 waits for tasks in the thread pool that it runs in: with two
    # partition columns it usually deadlocks [ran, 0.9.0].
    REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS = Rule(
        "sys.remove_orphan_files on tables with several partition columns",
        paimon="1.0",
        remedy="Leave such tables out.",
        listed=True,
    )
    # PaimonTableValuedFunctions.resolvePaimonTableValuedFunction always uses the session's catalog up to 1.0.
    INCREMENTAL_QUERY_IN_ANY_CATALOG = Rule(
        "paimon_incremental_query on other catalogs than the session's", paimon="1.1"
    )
    # IncrementalDeltaStartingScanner reads its splits as a stream from 1.1 on, so a key may have several rows.
    INCREMENTAL_QUERY_MERGES = Rule(until="1.1", wrong="`paimon_incremental_query` can return several rows per key")
    # DataTableBatchScan up to 1.4 leaves level 0 of first-row tables out of every scan. AbstractBatchTableScan of 2.0
    # reads it in incremental scans [ran, 2.0.0]. Only a test uses this rule.
    INCREMENTAL_QUERY_OF_LEVEL_0 = Rule("paimon_incremental_query that reads level 0 of first-row tables", paimon="2.0")
    # DeleteFromPaimonTableCommand.performNonPrimaryKeyDelete keeps the rows of Not(condition), and so loses those for
    # which the condition is NULL; 1.4 uses Not(EqualNullSafe(condition, true)) [ran, 0.9.0, 1.4.2].
    DELETE_KEEPS_ROWS_OF_NULL_CONDITIONS = Rule(
        paimon="1.4",
        wrong="DELETE also removes rows for which its condition is NULL",
    )
    # DELETE drops partitions if its condition is only about partition columns. 0.9 ignores the parts that it cannot
    # translate: `dt > '2024' and upper(dt) = 'X'` drops all partitions after 2024 [ran, 0.9.0, 1.4.2].
    DELETE_BY_WHOLE_CONDITION = Rule(
        paimon="1.4",
        wrong="DELETE by partition columns ignores parts of its condition, and removes too many partitions",
    )
    # InternalRowPartitionComputer.generatePartValues gives NULL and blank strings the same partition name, which Paimon
    # reads as NULL [ran, 0.9.0, 1.4.2].
    DELETE_OF_BLANK_PARTITIONS = Rule(
        paimon=None,
        wrong="DELETE of a partition whose value is a blank string also removes the partition of NULL",
    )
    # RowKindGenerator reads the kind from the column, even for rows that DELETE writes as -D [ran, 0.9.0].
    DELETE_BESIDE_ROWKIND = Rule(paimon=None, wrong="DELETE on a table with `rowkind.field` removes nothing")
    # DELETE rewrites the other rows of a file to level 0, which scans of first-row tables skip [ran, 0.9.0].
    DELETE_SHOWS_FIRST_ROWS = Rule(
        paimon=None,
        wrong="DELETE on a `first-row` table hides other rows until a compaction",
    )
    # PartialUpdateMergeFunction and AggregateMergeFunction keep a delete record's values for the key's next record.
    # DELETE and MERGE write all values of a row into its delete record [ran, 1.4.2].
    DELETED_VALUES_FORGOTTEN = Rule(
        paimon=None,
        wrong="with `remove-record-on-delete`, a deleted key that comes again gets its old values where the new "
        "row has NULL",
    )
    # A DELETE is wrong unless the files that it rewrites (PaimonCommand.findTouchedFiles) hold all rows of their keys.
    # It does not read files that the condition excludes: `delete … where id = 2` rewrites an older value of key 1. It
    # then hides the newer value in a file without key 2 [ran, 1.4.2, 2.0.0].
    DELETE_WITHOUT_COMPACTION = Rule(
        paimon=None,
        wrong="DELETE on a `partial-update` or `aggregation` table that is not compacted can give other keys older "
        "values",
    )
    # RollbackHelper.cleanSnapshotsDataFiles up to 1.1.1 deletes files that a later compaction moved to another level.
    ROLLBACK_KEEPS_FILES = Rule(
        paimon="1.2",
        wrong="a rollback to a state before a compaction deletes files that the table still needs",
    )
    REPLACE_TAG = Rule("sys.replace_tag", paimon="1.0", listed=True)
    # WriteIntoPaimonTable and WriteHelper: batchCreateTag, from 1.1.
    BATCH_TAGS = Rule(
        "automatic tags of batch jobs (tag.automatic-creation = batch)",
        paimon="1.1",
        remedy="Use table_tag, which gives the table snapshot of a run a tag.",
        listed=True,
    )
    # JdbcCatalog.assertMainBranch, from 0.9.0 to 2.0.0.
    BRANCHES = Rule("branches", catalogs=_WITH_BRANCHES, remedy="Use another kind of catalog.", listed=True)
    # BranchManager.createBranch of 0.9 copies only one schema, so files of older schemas cannot be read [ran, 0.9.0].
    BRANCHES_WITH_ALL_SCHEMAS = Rule(
        paimon="1.0",
        wrong="a branch cannot read rows written before the table's last ALTER",
    )
    FAST_FORWARD = Rule("sys.fast_forward", catalogs=_WITH_BRANCHES, listed=True)
    # IcebergCommitCallback. 0.9 (`metadata.iceberg-compatible`) writes no field ids into Parquet, and fails after
    # the commit for timestamps, small integers and nested types. pyiceberg and DuckDB can read 1.4's metadata
    # [ran, 0.9.0, 1.4.2].
    ICEBERG_METADATA = Rule(
        "tables that Iceberg's readers can read (iceberg: true)",
        paimon="1.4",
        remedy="Set paimon_version to a release that has it, or read the table with Paimon's own readers.",
        listed=True,
    )
    # CreatePaimonSQLFunctionCommand, for Spark's CREATE FUNCTION … RETURN (SPARK-46057); AbstractCatalog.createFunction
    # fails, and RESTCatalog replaces it [ran, 2.0.0, 4.1.1].
    SQL_FUNCTIONS = Rule(
        "SQL functions (functions/) on Spark 4",
        catalogs={"rest": "2.0"},
        spark="4.0",
        remedy="Write a macro that renders the expression, or a Python model.",
        listed=True,
    )
    # SystemTableLoader.SYSTEM_TABLE_LOADERS at the release tags.
    BUCKETS_TABLE = Rule("$buckets", paimon="1.0", remedy="Group $files by partition and bucket.")
    BINLOG_TABLE = Rule("$binlog", paimon="1.0", remedy="Use $audit_log.")
    TABLE_INDEXES_TABLE = Rule("$table_indexes", paimon="1.0")
    FILE_KEY_RANGES_TABLE = Rule("$file_key_ranges", paimon="1.4", remedy="Use min_key and max_key of $files.")
    # S3Loader of 2.0 has no requiredOptions, so Paimon can use the machine's own keys.
    S3_WITHOUT_KEYS = Rule("S3 without keys in the catalog's options", paimon="2.0")
    # OSSFileIO.tryToWriteAtomic, from 2.0, does not overwrite; S3FileIO has no such method yet.
    ATOMIC_OSS_COMMITS = Rule("atomic commits on OSS", paimon="2.0")
    # From 4.1 on, Spark's parser binds the values. Paimon's parser replaces Spark's and binds none [ran, 2.0.0, 4.1.1].
    STATEMENT_PARAMETERS = Rule("values for the ? of a statement", until_spark="4.1")
    # StructType.fieldIndex of Spark 4.1 parses the column names that SparkRowUtils.getFieldIndex passes [ran, 2.0.0].
    COLUMN_NAMES_OF_ANY_TEXT = Rule(
        "column names with a backtick, with a dot at either end, or with two dots in a row",
        until_spark="4.1",
        remedy="Give the column a name without them.",
    )
    # PreSharedKeyAuthenticationInterceptor of Spark Connect's server.
    CONNECT_PRE_SHARED_KEY = Rule("Spark Connect's own pre-shared key", spark="4.1")

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")

    @classmethod
    def _missing_(cls, value: object) -> Capability | None:
        """Look up a name as models write it: `Capability("row tracking")`."""
        return cls.__members__.get(re.sub("[ -]", "_", str(value)).upper())
