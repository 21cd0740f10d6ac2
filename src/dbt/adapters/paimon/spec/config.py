"""`PaimonConfig`: the config keys of models, seeds and snapshots that this adapter reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dbt.adapters.base import AdapterConfig
from dbt_common.contracts.config.base import MergeBehavior

# dbt validates these types with jsonschema, whose message has no remedy and stops at the first mistake. So the types
# are wide, and `build` and `strategies` check the values.
_Columns: TypeAlias = str | list[str] | None


@dataclass
class PaimonConfig(AdapterConfig):
    """Config of models, seeds and snapshots; None means "not set". `build` and `strategies` check the values."""

    # The table.
    primary_key: _Columns = None
    # Any: columns, or a mapping or mappings as in dbt-bigquery (see `foreign_config`).
    partition_by: Any = None
    bucket: int | str | None = None
    bucket_key: _Columns = None
    # Any: target_row_num, initial_buckets, …; batch_write_fixed_bucket, default_bucket_num, …
    dynamic_bucket: dict[str, Any] | None = None
    postpone_bucket: dict[str, Any] | None = None
    merge_engine: str | None = None
    # Any: column -> {aggregate_function, ignore_retract, default_value, sequence_group, …}
    fields: dict[str, Any] | None = None
    sequence_field: _Columns = None
    changelog_producer: str | None = None
    rowkind_field: str | None = None
    file_format: str | None = None
    deletion_vectors: bool | str | None = None
    iceberg: bool | str | None = None
    snapshot_retention: dict[str, Any] | None = None
    # Any: a name, or {name, time_retained, if_exists}
    table_tag: Any = None
    auto_tags: dict[str, Any] | None = None
    wap: bool | str | None = None
    compact_after_build: bool | str | None = None
    on_rebuild: str | None = None
    max_bytes_read: int | str | None = None
    skip_unchanged: bool | str | None = None
    tblproperties: dict[str, Any] | None = None

    # Keeps the table small and fast; actions of a folder and of a model are combined (see `maintenance_policy`).
    maintenance: dict[str, Any] = field(default_factory=dict, metadata=MergeBehavior.Update.meta())

    # Spark settings while the node runs (see `spark_settings`); those of a folder and of a model are combined.
    spark_config: dict[str, Any] = field(default_factory=dict, metadata=MergeBehavior.Update.meta())

    # Incremental models, in addition to dbt's own incremental_strategy and unique_key.
    merge_update_columns: _Columns = None
    merge_exclude_columns: _Columns = None
    matched_condition: str | None = None
    not_matched_condition: str | None = None
    merge_delete_condition: str | None = None
    incremental_predicates: _Columns = None

    # Streaming models (see `streaming.settings`).
    processing_time: str | None = None
    checkpoint_location: str | None = None
    on_bad_message: str | None = None
