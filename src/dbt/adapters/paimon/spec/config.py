"""`PaimonConfig`: this adapter's config keys for models, seeds and snapshots, with their documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.base import AdapterConfig

from dbt.adapters.paimon.config_keys import COLUMNS, CONDITION, key_field
from dbt.adapters.paimon.spec.component import Columns, config_key
from dbt.adapters.paimon.spec.components import TableKeys

DEAD_LETTER: Final = "dead_letter"
FAIL: Final = "fail"
DEFAULT_PROCESSING_TIME: Final = "10 seconds"
VIEW_KEYS: Final = ("refresh_mode",)
STREAM_KEYS: Final = ("processing_time", "checkpoint_location", "on_bad_message")
STRATEGY_KEYS: Final = tuple(
    "merge_update_columns merge_exclude_columns matched_condition not_matched_condition merge_delete_condition "
    "incremental_predicates".split()
)


@dataclass
class PaimonConfig(TableKeys, AdapterConfig):
    """Config of models, seeds and snapshots; None means "not set". `components` and `strategies` check it.

    A key that sets a Paimon option takes the option's values and has its default.
    """

    # Materialized views: VIEW_KEYS.
    refresh_mode: str | None = config_key(
        "How a materialized view is refreshed: `incremental` computes only changes, `full` everything, `auto` "
        "whatever is cheaper",
        values=("auto", "incremental", "full"),
        default="`auto`",
        page="materialized-views.md",
    )

    # See `spark_settings`.
    spark_config: dict[str, Any] = key_field(
        dict,
        "Spark's settings for the statements of this node only",
        "a mapping of settings to values",
        is_merged=True,
        page="results.md#spark-settings-of-one-model",
    )

    # Incremental models: STRATEGY_KEYS, in addition to dbt's own incremental_strategy and unique_key.
    merge_update_columns: Columns = config_key(
        "For `merge`: the columns to update if the key exists", COLUMNS, default="all", page="strategies.md#columns"
    )
    merge_exclude_columns: Columns = config_key(
        "For `merge`: the columns not to update", COLUMNS, page="strategies.md#columns"
    )
    matched_condition: str | None = config_key(
        "For `merge`: only existing rows that meet it are updated, as in `DBT_INTERNAL_SOURCE.v > DBT_INTERNAL_DEST.v`",
        CONDITION,
        page="strategies.md",
    )
    not_matched_condition: str | None = config_key(
        "For `merge`: only new rows that meet it are inserted", CONDITION, page="strategies.md"
    )
    merge_delete_condition: str | None = config_key(
        "For `merge`: existing rows that meet it are deleted, as in `DBT_INTERNAL_SOURCE.op = 'd'`",
        CONDITION,
        page="strategies.md",
    )
    incremental_predicates: Columns = config_key(
        "For `merge`, `delete+insert` and `microbatch`: further conditions that limit the rows to compare",
        "an SQL condition, or a list of them",
        page="strategies.md",
    )

    # Streaming models: STREAM_KEYS (see `streaming.settings`).
    processing_time: str | None = config_key(
        "How often `dbt-paimon stream` looks for rows; `dbt run` ignores it",
        "an interval, as in `'5 minutes'`",
        default=f"`{DEFAULT_PROCESSING_TIME}`",
        page="streaming.md#continuous-streams",
    )
    checkpoint_location: str | None = config_key(
        "The folder of the stream's checkpoint, on any file system that Hadoop can reach",
        "a path",
        default="the table's folder",
        page="streaming.md#exactly-once",
    )
    on_bad_message: str | None = config_key(
        f"What happens to a message that cannot be parsed: `{DEAD_LETTER}` sets it aside, `{FAIL}` stops the run",
        values=(DEAD_LETTER, FAIL),
        default=f"`{DEAD_LETTER}`",
        page="streaming.md#dead-letters",
    )
