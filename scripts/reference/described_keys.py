"""Descriptions of keys that no dataclass of the adapter declares: settings of columns, and dbt's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dbt.adapters.paimon.config_keys import COLUMNS, NUMBER, Key
from dbt.adapters.paimon.spec.strategies import APPEND, DELETE_INSERT, MERGE, ON_SCHEMA_CHANGE, STRATEGIES, UPSERT

# Keys of a column in `fields`; `FIELD_ATTRIBUTES` has the first Paimon version of each.
FIELD_KEYS: Final[Mapping[str, Key]] = {
    "aggregate_function": Key("The function that merges the column's values", page="merge-engines.md"),
    "ignore_retract": Key("Whether the function ignores `-U` and `-D` rows", page="merge-engines.md"),
    "default_value": Key("The value of the column for rows that have NULL; until Paimon 1.1", page="merge-engines.md"),
    "sequence_group": Key(
        "The columns that are updated together, ordered by the values of this one", COLUMNS, page="merge-engines.md"
    ),
    "distinct": Key("Whether `collect` and `listagg` keep each value once", page="merge-engines.md"),
    "list_agg_delimiter": Key("The separator of `listagg`", default="a comma", page="merge-engines.md"),
    "stats_mode": Key("The statistics of the column in data files: `none`, `counts`, `full`, `truncate(16)`"),
    "nested_key": Key("The key of the nested rows of `nested_update`", COLUMNS, page="merge-engines.md"),
    "count_limit": Key("The most nested rows that `nested_update` keeps", NUMBER, page="merge-engines.md"),
    "ts_field": Key("For `merge_map_with_keytime`: the field with the time of a value", "a field"),
    "nested_sequence_field": Key("The field that orders nested rows with the same key", "a field"),
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

# dbt's own keys of incremental models whose values are the adapter's.
DBT_KEYS: Final[Mapping[str, Key]] = {
    "incremental_strategy": Key(
        "How the rows of an increment are written",
        values=tuple(STRATEGIES),
        default=f"`{UPSERT}` with a primary key, `{MERGE}` with a `unique_key` alone, else `{APPEND}`",
        page="strategies.md",
    ),
    "unique_key": Key(
        f"The columns by which `{MERGE}` and `{DELETE_INSERT}` match rows",
        COLUMNS,
        default="the primary key",
        page="strategies.md#columns",
    ),
    "on_schema_change": Key(
        "What happens if the columns of the query differ from those of the table",
        values=ON_SCHEMA_CHANGE,
        default="`ignore`",
        page="strategies.md#columns",
    ),
}
