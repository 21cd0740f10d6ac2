"""known-defects.md: Paimon's defects (from `capabilities`), what the adapter does about them, and the tests of this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.capabilities.rules import Rule
from reference.markdown import plain, table

_PAGE: Final = """\
# Known defects of Paimon

Each defect returns wrong rows, loses rows or makes a table unreadable. The second column lists the Paimon
releases that have the defect, the third what dbt-paimon does about it. `dbt debug` counts the defects of your
`paimon_version`.

Other pages describe [what file formats lose](../data-types.md#what-files-lose), [NaN in ORC](../limits.md#reading),
a running Flink compaction job that [loses a new column](../flink.md#a-job-that-is-running),
Paimon's own [incremental queries over several commits](../changelog.md#reading-changes), and deletes that wait in
[postpone buckets](../buckets.md#postpone-buckets).

{table}

Programs that use the same tables without dbt-paimon are not protected.

`make reference` writes this page from `capabilities/rules.py`.
"""

# Capability -> (what the adapter does if a release lacks it, the test that shows this).
ANSWERS: Final[Mapping[Capability, tuple[str, str]]] = {
    Capability.OLD_BUCKETS_GUARDED: ("a rescale of some partitions is refused", "functional/buckets/test_rescale.py"),
    Capability.DECIMAL_FIRST_IN_STRUCT: ("the table is refused", "unit/test_corpus.py"),
    Capability.FILTERS_ON_SMALL_INTEGERS: (
        "avoided: filters inside Parquet files are off for such tables",
        "functional/types/test_round_trip.py",
    ),
    Capability.FILTERS_THAT_KEEP_NULLS: ("a warning for each such condition", "functional/types/test_null_filters.py"),
    Capability.FILTERS_AFTER_TYPE_CHANGE: (
        "Parquet: avoided, filters inside its files are off; ORC: the change of type is refused",
        "functional/incremental/test_older_types.py",
    ),
    Capability.FILTERS_AFTER_CHANGE_TO_TEXT: (
        "the change of type is refused",
        "functional/incremental/test_older_types.py",
    ),
    Capability.TOP_N: (
        "nothing: sort by a second column, too, or by an expression such as `-v`",
        "functional/types/test_top_n.py",
    ),
    Capability.MAX_WITHOUT_STATISTICS: ("such statistics are refused", "functional/types/test_top_n.py"),
    Capability.SEQUENCE_OUTSIDE_DEFAULT_AGGREGATE: ("the function is refused", "unit/test_corpus.py"),
    Capability.REMOVE_RECORD_ON_DELETE: ("the option is refused", "unit/test_corpus.py"),
    Capability.RETRACTIONS_IN_SEQUENCE_GROUP: (
        "new tables are refused; a warning for existing ones",
        "functional/merge_engines/test_right_values.py",
    ),
    Capability.RETRACTIONS_BEFORE_OLDER_ROWS: (
        "new tables are refused; a warning for existing ones",
        "functional/merge_engines/test_right_values.py",
    ),
    Capability.FIRST_VALUE_BY_SEQUENCE: (
        "new tables are refused; a warning for existing ones",
        "functional/merge_engines/test_right_values.py",
    ),
    Capability.STRUCT_IN_NULL_STRUCT: ("the row is refused", "functional/merge_engines/test_right_values.py"),
    Capability.RECORD_EXPIRY_OF_NULL: ("the column is made NOT NULL", "functional/merge_engines/test_right_values.py"),
    Capability.RECORD_EXPIRY_AFTER_MERGING: (
        "new tables that aggregate are refused; nothing for others: let the time field grow with each change of a key",
        "unit/test_corpus.py",
    ),
    **dict.fromkeys(
        (
            Capability.PARQUET_FORMAT_V2,
            Capability.DATA_EVOLUTION,
            Capability.REMOVE_RECORD_ON_SEQUENCE_GROUP,
            Capability.CLUSTERED_KEYS,
            Capability.NESTED_UPDATE_AT_ITS_LIMIT,
            Capability.LIMIT_WITH_64_BITS,
            Capability.LONG_RECORD_EXPIRY,
            Capability.DESCENDING_SEQUENCE,
            Capability.NULLS_IN_RANGE_BITMAP,
            Capability.BITMAP_OR,
        ),
        ("the option is refused", "unit/test_corpus.py"),
    ),
    Capability.LATE_ROWS_WITH_LOOKUP: (
        "new tables are refused; a warning for existing ones",
        "functional/types/test_known_defects.py",
    ),
    Capability.MOVED_KEYS_OF_ANY_WIDTH: ("the table is refused", "unit/test_corpus.py"),
    Capability.BINARY_IN_COLLECTIONS: ("nothing: use `hex`", "functional/types/test_known_defects.py"),
    Capability.BLOOM_FILTERS_OF_DECIMALS: (
        "nothing: leave this option out",
        "functional/types/test_known_defects.py",
    ),
    Capability.DATE_PARTITIONS_BY_TIMESTAMP: (
        "nothing: compare with a date",
        "functional/types/test_known_defects.py",
    ),
    Capability.MOVED_KEYS_IN_LEVEL_0: ("the table is refused", "unit/test_corpus.py"),
    Capability.RETRACTIONS_WITHOUT_INSERT: (
        "nothing: leave out a delete of a key that is not in the table",
        "functional/types/test_known_defects.py",
    ),
    Capability.NULL_STRUCTS_OF_CASTS: (
        "nothing: test a field of the struct for NULL",
        "functional/types/test_known_defects.py",
    ),
    Capability.NULL_IN_SEQUENCES: (
        "nothing: use `coalesce` in the query",
        "functional/types/test_known_defects.py",
    ),
    Capability.ONE_COMMIT_WITH_DELETION_VECTORS: (
        "nothing: do not read or roll back to the first commit",
        "functional/types/test_known_defects.py",
    ),
    Capability.SUBSTRING_OF_PARTITIONS: (
        "nothing: use `like`",
        "functional/types/test_known_defects.py",
    ),
    Capability.UPDATES_OF_TWO_STRUCTS: (
        "nothing: set one struct per statement",
        "functional/types/test_known_defects.py",
    ),
    Capability.ROW_IDS: (
        "`row_tracking_of` is refused; nothing in SQL of your own",
        "functional/monitoring/test_monitoring.py",
    ),
    Capability.LIMIT_WITH_DELETION_VECTORS: (
        "nothing: limit a query with `order by`",
        "functional/types/test_top_n.py",
    ),
    Capability.FILTERS_WITH_FALLBACK_BRANCH: (
        "nothing: filter by partition columns only",
        "functional/types/test_top_n.py",
    ),
    Capability.TEXT_OF_TIMESTAMP_PARTITIONS: (
        "nothing: compare with a timestamp, or use `date_format`",
        "functional/types/test_top_n.py",
    ),
    Capability.EXPIRE_PARTITIONS_WITH_COMMAS: (
        "refused for a table with such partitions; not if the table option `partition.expiration-strategy` does it",
        "functional/maintenance/test_maintenance.py",
    ),
    Capability.KEY_WITH_ONE_OF_TWO_PARTITIONS: ("the table is refused", "unit/test_corpus.py"),
    Capability.NEGATIVE_ZERO: ("models write 0.0", "functional/merge_engines/test_right_values.py"),
    Capability.COLLECT_DISTINCT_OF_FIRST_ROW: (
        "duplicates are removed as rows are written",
        "functional/merge_engines/test_right_values.py",
    ),
    Capability.COMPACT_ORDER_CHECKS_APPENDS: (
        "on 0.9 with method: session, the rows are kept; otherwise a warning",
        "functional/maintenance/test_sorted_beside_writers.py",
    ),
    Capability.ORC_TIMESTAMPS_OF_ANY_HOUR: (
        "a warning, if the JVM's time zone has clock changes",
        "functional/maintenance/test_time_zones.py",
    ),
    Capability.INCREMENTAL_QUERY_MERGES: (
        "`paimon_changes` merges the rows of a key itself",
        "functional/changes/test_ways.py",
    ),
    Capability.DELETE_KEEPS_ROWS_OF_NULL_CONDITIONS: (
        "in hooks and operations, `is true` is added to the condition",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETE_BY_WHOLE_CONDITION: (
        "in hooks and operations, DELETE checks the condition on each row",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETE_OF_BLANK_PARTITIONS: (
        "in hooks and operations, DELETE checks the condition on each row",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETE_BESIDE_ROWKIND: (
        "DELETE is refused; `delete_rows` deletes",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETE_SHOWS_FIRST_ROWS: (
        "DELETE is refused; `delete_rows` deletes",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETED_VALUES_FORGOTTEN: (
        "a warning, with the remedy: a compaction after the run",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.DELETE_WITHOUT_COMPACTION: (
        "DELETE fails and names `delete_rows`, which compacts first",
        "functional/maintenance/test_delete_rows.py",
    ),
    Capability.ROLLBACK_KEEPS_FILES: (
        "the rollback ends at a compaction right after that state, or is refused",
        "functional/time_travel/test_time_travel.py",
    ),
    Capability.BRANCHES_WITH_ALL_SCHEMAS: (
        "with method: session, the schemas are copied; otherwise the error explains this",
        "functional/wap/test_wap.py",
    ),
}


def releases_without(rule: Rule) -> str:
    """The Paimon releases without a capability."""
    if rule.until:
        return f"{rule.until} and newer"
    return f"before {rule.paimon}" if rule.paimon else "all"


def page() -> str:
    """The whole page."""
    defects = [(each.value.wrong, releases_without(each.value), *answer) for each, answer in ANSWERS.items()]
    rows = [
        (plain(wrong), releases, plain(answer), f"`tests/{test}`")
        for wrong, releases, answer, test in sorted(defects, key=lambda each: (each[1] != "all", each[1], each[0]))
    ]
    return _PAGE.format(table=table(("what goes wrong", "Paimon", "dbt-paimon", "test"), rows))
