"""What models that were written for another adapter have in their config, so that packages run as they are.

A key that changes no row is left out with a warning. What would change rows, or cannot be done, is refused.
Sources: the configs pages of dbt-spark, dbt-databricks, dbt-bigquery, dbt-snowflake, dbt-redshift, dbt-postgres and
dbt-clickhouse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from dbt.adapters.paimon.option_values import FILE_FORMATS

_BUCKETS: Final = "Use `bucket` (a number) with `bucket_key`"
_LAYOUT: Final = "Use `bucket_key`, or `compact` with order_strategy"
_META: Final = "Use `tags` or `meta`"
_EXPIRY: Final = (
    "No row expires. Set partition.expiration-time in tblproperties, or `expire_partitions` of maintenance"
)

# Key -> (whose it is, what to use instead).
_KEYS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "buckets": ("dbt-spark", _BUCKETS),
        "clustered_by": ("dbt-spark", _BUCKETS),
        "location_root": (
            "dbt-spark",
            "The catalog decides where a table lives. Set `warehouse` in the profile",
        ),
        "options": ("dbt-spark", "Use `tblproperties` with Paimon's option names"),
        "liquid_clustered_by": ("dbt-databricks", _LAYOUT),
        "auto_liquid_cluster": ("dbt-databricks", _LAYOUT),
        "zorder": ("dbt-databricks", "Use the compact macro with order_strategy='zorder' as a post_hook"),
        "databricks_tags": ("dbt-databricks", _META),
        "databricks_compute": ("dbt-databricks", "Use a target of the profile for each engine"),
        "cluster_by": ("dbt-bigquery and dbt-snowflake", _LAYOUT),
        "labels": ("dbt-bigquery", _META),
        "require_partition_filter": ("dbt-bigquery", "Remove it: Paimon has no such rule"),
        "partition_expiration_days": ("dbt-bigquery", _EXPIRY),
        "hours_to_expiration": ("dbt-bigquery", _EXPIRY),
        "partitions": (
            "dbt-bigquery",
            "insert_overwrite replaces the partitions that the query has rows for. Remove it",
        ),
        "kms_key_name": ("dbt-bigquery", "Encrypt the store of the warehouse"),
        "transient": ("dbt-snowflake", "Use `snapshot_retention` for how long old states are kept"),
        "copy_grants": ("dbt-snowflake", "Give rights where the warehouse and its catalog are kept"),
        "secure": ("dbt-snowflake", "Give rights where the warehouse and its catalog are kept"),
        "automatic_clustering": ("dbt-snowflake", _LAYOUT),
        "snowflake_warehouse": ("dbt-snowflake", "Use a target of the profile for each engine"),
        "query_tag": ("dbt-snowflake", "dbt's query-comment is in each statement"),
        "dist": ("dbt-redshift", _BUCKETS),
        "sort": ("dbt-redshift", _LAYOUT),
        "sort_type": ("dbt-redshift", _LAYOUT),
        "bind": ("dbt-redshift", "Remove it: views read their tables by name"),
        "backup": ("dbt-redshift", "Use `table_tag` for states that are kept"),
        "indexes": ("dbt-postgres", "Use `primary_key`, or file-index options in `tblproperties`"),
        "order_by": ("dbt-clickhouse", _LAYOUT),
        "engine": ("dbt-clickhouse", "Use `merge_engine`"),
        "ttl": ("dbt-clickhouse", _EXPIRY),
    }
)
# Table formats that `file_format` names in dbt-spark; here it names the format of the data files.
_TABLE_FORMATS: Final = frozenset(
    {"paimon", "delta", "iceberg", "hudi", "hive", "text", "csv", "json", "jdbc"}
)


def is_foreign(key: str) -> bool:
    """Whether a config key is another adapter's, and changes no row."""
    return key in _KEYS


def is_table_format(file_format: Any) -> bool:
    """Whether a `file_format` means the table and not its files, as in dbt-spark."""
    text = str(file_format).lower()
    return text in _TABLE_FORMATS and text not in FILE_FORMATS


def partition_column(value: Mapping[str, Any]) -> str:
    """The column of a `partition_by` that is written as in dbt-bigquery: {field: …, data_type: …, granularity: …}.

    Raises:
        ValueError: it is no such mapping, or its partitions are no values of a column: the reason, with the remedy.
    """
    column = value.get("field")
    if not isinstance(column, str):
        # As `table_spec` says it of any other value.
        raise ValueError("a column name or a list of them is needed. Write it as in ['id', 'dt']")  # noqa: TRY004
    data_type = str(value.get("data_type") or "date").lower()
    # dbt-bigquery's default; a date has no other.
    whole = data_type not in ("timestamp", "datetime")
    granularity = str(value.get("granularity") or "day").lower()
    if value.get("range"):
        raise ValueError(_no_column("a range", column, f"floor({column} / 100) as {column}_range"))
    if value.get("time_ingestion_partitioning") or granularity != "day" or not whole:
        day = f"cast({column} as date) as {column}_day"
        other = f"date_trunc('{granularity}', {column}) as {column}_{granularity}"
        kind = f"the {granularity} of a {data_type}"
        raise ValueError(_no_column(kind, column, day if granularity == "day" else other))
    return column


def _no_column(kind: str, column: str, instead: str) -> str:
    return (
        f"{kind} is no value of the column '{column}', by whose values Paimon partitions. Give the query a column for "
        f"it ({instead}), and name that"
    )


def warnings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason with remedy) of what is left out or read in its own way."""
    for key, (owner, instead) in _KEYS.items():
        # dbt-spark's own config class may have put an empty default there.
        if config.get(key):
            yield key, f"a key of {owner} that is not read here. {instead}"
    if is_table_format(config.get("file_format")):
        yield (
            "file_format",
            "this is a Paimon table; file_format names the format of its data files. Remove it, or use one of "
            "parquet (the default), orc, avro",
        )
    if isinstance(config.get("partition_by"), Mapping):
        yield "partition_by", f"read as partition_by='{config['partition_by'].get('field')}'"
