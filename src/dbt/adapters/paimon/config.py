"""The keys of a model's config that this adapter reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

from dbt.adapters.base.impl import AdapterConfig

# dbt validates these types with jsonschema, whose message names neither the remedy nor the other mistakes.
# So the types are wide, and `table_spec` and `strategies` check the values. Optional and Union because
# dbt's schema reads the annotations at run time.
_Columns = Union[str, list[str], None]


@dataclass
class PaimonConfig(AdapterConfig):
    """Config of models, seeds and snapshots. None is "not set"; see docs of `table_spec` for what is valid."""

    # The table.
    primary_key: _Columns = None
    partition_by: _Columns = None
    bucket: Union[int, str, None] = None
    bucket_key: _Columns = None
    merge_engine: Optional[str] = None
    # Any: column -> {aggregate_function, ignore_retract, default_value, sequence_group, …}
    fields: Optional[dict[str, Any]] = None
    sequence_field: _Columns = None
    changelog_producer: Optional[str] = None
    rowkind_field: Optional[str] = None
    file_format: Optional[str] = None
    deletion_vectors: Union[bool, str, None] = None
    snapshot_retention: Optional[dict[str, Any]] = None
    tblproperties: Optional[dict[str, Any]] = None

    # Incremental models, beside dbt's own incremental_strategy and unique_key.
    merge_update_columns: _Columns = None
    merge_exclude_columns: _Columns = None
    matched_condition: Optional[str] = None
    not_matched_condition: Optional[str] = None
    merge_delete_condition: Optional[str] = None
    incremental_predicates: _Columns = None
