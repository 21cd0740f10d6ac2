"""The config of a streaming model that concerns neither its table nor its strategy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.spec.config import DEAD_LETTER, DEFAULT_PROCESSING_TIME, FAIL
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import IncrementalSpec, collect_incremental_spec
from dbt.adapters.paimon.spec.table import TableSpec, lower_names

_ON_BAD_MESSAGE: Final = (DEAD_LETTER, FAIL)
# The intervals of Spark's Trigger.ProcessingTime (CalendarInterval) that are useful for a stream.
_INTERVAL: Final = re.compile(r"(?:\d+(?:\.\d+)? +seconds?|\d+ +(?:milliseconds?|minutes?|hours?))", re.IGNORECASE)
# Strategies that replace rows with the result of the whole query; a batch has only a part of that result.
_REPLACING: Final = (strategies.INSERT_OVERWRITE, strategies.DELETE_INSERT, strategies.MICROBATCH)
_SUITABLE: Final = "Use 'append', 'upsert', 'partial_update', 'merge' or 'apply_changes'"


@dataclass(frozen=True)
class StreamSettings:
    """The stream-specific settings of a model.

    Attributes:
        processing_time: how often a long-running stream checks for new rows, as in Spark's Trigger.ProcessingTime.
        checkpoint_location: folder of the checkpoint; if empty, a folder inside the table's.
        on_bad_message: 'dead_letter' writes messages that cannot be parsed to `<model>__dead_letters`; 'fail' stops the
            stream.
    """

    processing_time: str = DEFAULT_PROCESSING_TIME
    checkpoint_location: str = ""
    on_bad_message: str = DEAD_LETTER


@dataclass(frozen=True)
class StreamSpec(IncrementalSpec):
    """The table, strategy and settings of a streaming model."""

    settings: StreamSettings


def collect_stream_spec(declared: Declared, versions: Versions, problems: Problems) -> StreamSpec:
    """The table, strategy and settings of a streaming model. They are only valid if `problems` stays empty."""
    spec = collect_incremental_spec(declared, versions, problems)
    settings = collect_settings(declared.config, spec.table, spec.strategy, problems)
    return StreamSpec(replace(spec.table, is_streamed=True), spec.strategy, settings)


def collect_settings(config: Mapping[str, Any], spec: TableSpec, strategy: str, problems: Problems) -> StreamSettings:
    """Read the settings from a model's config; adds invalid ones to `problems`."""
    processing_time = str(config.get("processing_time") or DEFAULT_PROCESSING_TIME)
    if not _INTERVAL.fullmatch(processing_time.strip()):
        problems.add(
            "processing_time",
            processing_time,
            "is not a supported interval. Use a number of milliseconds, seconds, minutes or hours, for example "
            "'10 seconds'",
        )
    on_bad_message = str(config.get("on_bad_message") or DEAD_LETTER)
    if on_bad_message not in _ON_BAD_MESSAGE:
        problems.add("on_bad_message", on_bad_message, f"is unknown. Use {' or '.join(map(repr, _ON_BAD_MESSAGE))}")
    if strategy in _REPLACING:
        problems.add(
            "incremental_strategy",
            strategy,
            "replaces existing rows with the result of the whole query, but a stream delivers that result one batch at "
            f"a time. {_SUITABLE}",
        )
    elif strategy not in strategies.STRATEGIES:
        problems.add("incremental_strategy", strategy, f"a stream cannot use a custom strategy. {_SUITABLE}")
    matched = lower_names(column_list(config.get("unique_key")))
    # A primary key within the unique_key merges such rows.
    is_merged = spec.primary_key and lower_names(spec.primary_key) <= matched
    inserts = str(config.get("not_matched_condition")).strip().lower() != "false"
    if strategy == strategies.MERGE and inserts and matched and not is_merged:
        problems.add(
            "unique_key",
            config["unique_key"],
            "a batch may have several rows of one key, and MERGE inserts each of them. Set primary_key to the same "
            "columns",
        )
    if spec.wap:
        problems.add("wap", config.get("wap"), "a stream's batches are not audited. Remove it")
    location = str(config.get("checkpoint_location") or "")
    return StreamSettings(processing_time.strip(), location, on_bad_message)
