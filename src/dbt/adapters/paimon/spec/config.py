"""`PaimonConfig`: this adapter's config keys for models, seeds and snapshots, with their documentation."""

# `_key` returns a dataclass field.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from dbt.adapters.base import AdapterConfig
from dbt_common.contracts.config.base import MergeBehavior

from dbt.adapters.paimon.capabilities import FILE_FORMATS, OLDEST_PAIMON, reaches
from dbt.adapters.paimon.keys import BOOLEAN, COLUMNS, CONDITION, MAPPING, NUMBER, Key
from dbt.adapters.paimon.spec import safeguards

# dbt validates these types with jsonschema, whose message has no remedy and stops at the first mistake. So the types
# are wide, and `build` and `strategies` check the values.
_Columns: TypeAlias = str | list[str] | None

DEAD_LETTER: Final = "dead_letter"
FAIL: Final = "fail"
DEFAULT_PROCESSING_TIME: Final = "10 seconds"
VIEW_KEYS: Final = ("refresh_mode",)
STREAM_KEYS: Final = ("processing_time", "checkpoint_location", "on_bad_message")


def _key(
    meaning: str,
    takes: str = "",
    *,
    values: tuple[str, ...] = (),
    default: str = "",
    option: str = "",
    page: str = "",
) -> Any:
    """A field of `PaimonConfig` that is None by default."""
    return field(default=None, metadata=Key(meaning, takes, values, default, option, page).metadata)


def _merged_key(meaning: str, takes: str, *, page: str) -> Any:
    """A mapping, where dbt merges the one of a folder with the one of a model."""
    key = Key(meaning, takes, page=page)
    return field(default_factory=dict, metadata={**MergeBehavior.Update.meta(), **key.metadata})


@dataclass
class PaimonConfig(AdapterConfig):
    """Config of models, seeds and snapshots; None means "not set". `build` and `strategies` check the values.

    A key that stands for an option of Paimon takes the option's values and has its default.
    """

    # The table.
    primary_key: _Columns = _key(
        "The table has one row per key. A primary-key constraint in a contract does the same",
        COLUMNS,
        option="primary-key",
        page="models.md",
    )
    # Any: columns, or a mapping or mappings as in dbt-bigquery (see `foreign_config`).
    partition_by: Any = _key("The columns of `PARTITIONED BY`", COLUMNS, page="models.md")
    bucket: int | str | None = _key(
        "Number of buckets per partition: `auto` chooses it by the size of the first rows, `-1` is dynamic, `-2` is "
        "postponed",
        "a number, or `auto`",
        default="`auto` with a primary key, else `-1`",
        page="buckets.md",
    )
    bucket_key: _Columns = _key(
        "The columns whose hash decides a row's bucket",
        COLUMNS,
        default="the primary key without the partition columns",
        page="buckets.md",
    )
    # Any: target_row_num, initial_buckets, …; batch_write_fixed_bucket, default_bucket_num, …
    dynamic_bucket: dict[str, Any] | None = _key(
        "How dynamic buckets grow", MAPPING, page="buckets.md#dynamic-buckets"
    )
    postpone_bucket: dict[str, Any] | None = _key(
        "How postponed rows get their bucket", MAPPING, page="buckets.md#postpone-buckets"
    )
    merge_engine: str | None = _key("How rows with the same key are merged", page="merge-engines.md")
    # Any: column -> {aggregate_function, ignore_retract, default_value, sequence_group, …}
    fields: dict[str, Any] | None = _key(
        "Settings of single columns",
        "a mapping of columns to mappings",
        page="merge-engines.md#aggregate-functions",
    )
    sequence_field: _Columns = _key(
        "The row with the highest value wins, regardless of arrival order",
        COLUMNS,
        page="merge-engines.md",
    )
    changelog_producer: str | None = _key(
        "The changes that readers see: none, those of the input, or old and new values", page="changelog.md"
    )
    rowkind_field: str | None = _key(
        "The column that says what a row does: `+I`, `-U`, `+U`, `-D`",
        "a column",
        page="strategies.md#apply_changes-change-rows",
    )
    file_format: str | None = _key(
        "The format of the data files",
        ", ".join(
            f"`{name}`" if reaches(OLDEST_PAIMON, since) else f"`{name}` (from {since})"
            for name, since in FILE_FORMATS.items()
        ),
        page="maintenance.md#formats-and-codecs-by-level",
    )
    deletion_vectors: bool | str | None = _key(
        "Whether deleted rows are marked in a bitmap, which readers apply instead of merging files",
        page="update.md#what-to-use-in-a-model",
    )
    iceberg: bool | str | None = _key(
        "Whether Iceberg's readers can read the table, too; from Paimon 1.4 on",
        BOOLEAN,
        default="`false`",
        option="metadata.iceberg.storage",
        page="iceberg.md",
    )
    snapshot_retention: dict[str, Any] | None = _key(
        "How many table snapshots are kept, and for how long", MAPPING, page="maintenance.md#table-snapshots"
    )
    # Any: a name, or {name, time_retained, if_exists}
    table_tag: Any = _key(
        "Tags the table snapshot that a run writes",
        "a name, or a mapping",
        page="time-travel.md#tags",
    )
    auto_tags: dict[str, Any] | None = _key(
        "Paimon tags one table snapshot per period", MAPPING, page="time-travel.md#tags"
    )
    wap: bool | str | None = _key(
        "Whether new rows are published only after the model's data tests have passed on them",
        BOOLEAN,
        default="`false`",
        page="time-travel.md#write-audit-publish-wap-true",
    )
    refresh_mode: str | None = _key(
        "How a materialized view is refreshed: `incremental` computes only changes, `full` everything, `auto` what is "
        "cheaper",
        values=("auto", "incremental", "full"),
        default="`auto`",
        page="materialized-views.md",
    )
    compact_after_build: bool | str | None = _key(
        "Whether a large first load of an incremental model is also compacted",
        BOOLEAN,
        default="`true`",
        page="maintenance.md#a-first-load",
    )
    on_rebuild: str | None = _key(
        "Whether any run may replace the table by a new one, which loses its table snapshots and tags "
        f"(`{safeguards.DROP_HISTORY}`), or only one with `--full-refresh` (`{safeguards.ASK}`)",
        values=(safeguards.ASK, safeguards.DROP_HISTORY),
        default=f"`{safeguards.ASK}`",
        page="results.md#limits",
    )
    max_bytes_read: int | str | None = _key(
        "A query that would read more data files than this is refused before it runs",
        "a size, as in `'10 gb'`",
        default="no limit",
        page="results.md#limits",
    )
    skip_unchanged: bool | str | None = _key(
        "Whether a run leaves the table alone when query, config and inputs are those of its last commit, and does "
        "not repeat a data test that has passed",
        BOOLEAN,
        default="`false`",
        page="skip-unchanged.md",
    )
    tblproperties: dict[str, Any] | None = _key(
        "Any other option of Paimon, under its own name",
        "a mapping of options to values",
        page="reference/paimon-options.md",
    )

    # See `maintenance_policy`.
    maintenance: dict[str, Any] = _merged_key(
        "When the table is compacted and cleaned up: after runs, and by `dbt run-operation maintain`",
        MAPPING,
        page="maintenance.md",
    )

    # See `spark_settings`.
    spark_config: dict[str, Any] = _merged_key(
        "Spark's settings for the statements of this node only",
        "a mapping of settings to values",
        page="results.md#spark-settings-of-one-model",
    )

    # Incremental models, in addition to dbt's own incremental_strategy and unique_key.
    merge_update_columns: _Columns = _key(
        "For `merge`: the columns to update if the key exists",
        COLUMNS,
        default="all",
        page="strategies.md#columns",
    )
    merge_exclude_columns: _Columns = _key(
        "For `merge`: the columns not to update", COLUMNS, page="strategies.md#columns"
    )
    matched_condition: str | None = _key(
        "For `merge`: only existing rows that meet it are updated", CONDITION, page="strategies.md"
    )
    not_matched_condition: str | None = _key(
        "For `merge`: only new rows that meet it are inserted", CONDITION, page="strategies.md"
    )
    merge_delete_condition: str | None = _key(
        "For `merge`: existing rows that meet it are deleted", CONDITION, page="strategies.md"
    )
    incremental_predicates: _Columns = _key(
        "For `merge`, `delete+insert` and `microbatch`: further conditions that limit the rows to compare",
        "an SQL condition, or a list of them",
        page="strategies.md",
    )

    # Streaming models: STREAM_KEYS (see `streaming.settings`).
    processing_time: str | None = _key(
        "How often `dbt-paimon stream` looks for rows; `dbt run` ignores it",
        "an interval, as in `'5 minutes'`",
        default=f"`{DEFAULT_PROCESSING_TIME}`",
        page="streaming.md#continuous-streams",
    )
    checkpoint_location: str | None = _key(
        "The folder of the stream's checkpoint, on any file system that Hadoop can reach",
        "a path",
        default="the table's folder",
        page="streaming.md#exactly-once",
    )
    on_bad_message: str | None = _key(
        f"What becomes of a message that cannot be parsed: `{DEAD_LETTER}` sets it aside, `{FAIL}` stops the run",
        values=(DEAD_LETTER, FAIL),
        default=f"`{DEAD_LETTER}`",
        page="streaming.md#dead-letters",
    )


# Keys of a column in `fields`; `capabilities.FIELD_ATTRIBUTES` has the first Paimon of each.
FIELD_KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "aggregate_function": Key("The function that merges the column's values", page="merge-engines.md"),
        "ignore_retract": Key("Whether the function ignores `-U` and `-D` rows", page="merge-engines.md"),
        "default_value": Key(
            "The value of the column where a row gives NULL; until Paimon 1.1", page="merge-engines.md"
        ),
        "sequence_group": Key(
            "The columns that are updated together, in the order of this one",
            COLUMNS,
            page="merge-engines.md",
        ),
        "distinct": Key("Whether `collect` and `listagg` keep each value once", page="merge-engines.md"),
        "list_agg_delimiter": Key("The separator of `listagg`", default="a comma", page="merge-engines.md"),
        "stats_mode": Key(
            "The statistics of the column in data files: `none`, `counts`, `full`, `truncate(16)`"
        ),
        "nested_key": Key("The key of the nested rows of `nested_update`", COLUMNS, page="merge-engines.md"),
        "count_limit": Key(
            "The most nested rows that `nested_update` keeps", NUMBER, page="merge-engines.md"
        ),
        "ts_field": Key("The field of `merge_map_with_keytime` that has the time of a value", "a field"),
        "nested_sequence_field": Key("The field that orders nested rows with one key", "a field"),
        "nested_key_null_strategy": Key("How nested rows with a NULL key are handled"),
        "map.storage_layout": Key("How a map is laid out in files"),
        "map.shared_shredding.max_columns": Key("The most columns that a shredded map is stored in", NUMBER),
        "map.shared_shredding.column_placement_policy": Key("Which keys of a shredded map get which column"),
        "pk_vector.index.type": Key("The type of a vector index of the column"),
        "pk_vector.index.options": Key("Options of that index"),
        "pk_vector.distance.metric": Key("The metric of that index"),
        "pk_full_text.index.options": Key("Options of a full-text index of the column"),
        "pk_btree.index.options": Key("Options of a B-tree index of the column"),
        "pk_bitmap.index.options": Key("Options of a bitmap index of the column"),
    }
)
