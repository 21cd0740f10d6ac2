"""Handles config keys of other adapters, so that packages written for them run unchanged.

A key that decides which rows exist or who sees them is refused. Any other key is ignored with a warning.
Sources: the config classes and macros of dbt-spark 1.11, dbt-databricks 1.12, dbt-bigquery 1.12, dbt-snowflake
1.12, dbt-redshift 1.11, dbt-postgres 1.11, dbt-athena 1.11, dbt-trino 1.11, dbt-duckdb 1.11, dbt-clickhouse 1.10,
dbt-fabric 1.12 and dbt-sqlserver 1.12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from dbt.adapters.paimon.capabilities.names import FILE_FORMATS

# What to use instead -> keys of other adapters that change no rows.
INSTEAD: Final[Mapping[str, str]] = {
    "Use `bucket` (a number) with `bucket_key`": "buckets clustered_by dist bucketed_by bucket_count",
    "The catalog decides where a table lives. Set `warehouse` in the profile": (
        "location_root include_full_name_in_path storage_uri external_volume base_location_root "
        "base_location_subpath external_location s3_data_dir s3_data_naming s3_tmp_table_dir"
    ),
    "Use `tblproperties` with Paimon's option names": "options properties",
    "Use `bucket_key`, or `order_by` in `compact` of the maintenance policy": (
        "liquid_clustered_by auto_liquid_cluster cluster_by automatic_clustering sort sort_type order_by "
        "sharding_key projections sort_by sorted_by"
    ),
    "Use the compact macro with order_strategy='zorder' as a post_hook": "zorder skip_optimize",
    "Use `tags` or `meta`": "databricks_tags query_tags labels labels_from_meta resource_tags copy_tags",
    "Use a target of the profile for each engine": (
        "databricks_compute snowflake_warehouse snowflake_initialization_warehouse refresh_warehouse work_group "
        "skip_workgroup_check"
    ),
    "Conditions name DBT_INTERNAL_SOURCE and DBT_INTERNAL_DEST": "source_alias target_alias",
    "Remove it: Paimon has no equivalent": (
        "use_safer_relation_operations view_update_via_alter incremental_apply_config_changes "
        "unique_tmp_table_suffix enable_refresh refresh_interval_minutes max_staleness copy_materialization "
        "intermediate_format enable_list_inference reservation tmp_relation_type target_lag scheduler "
        "iceberg_version auto_refresh unlogged ha native_drop seed_by_insert force_batch partitions_limit "
        "temp_schema field_delimiter view_security client_tags http_headers on_table_exists grace_period "
        "force_on_cluster disable_on_cluster statistics statistics_sample_percent as_columnstore "
        "prefer_single_alter_column column_type_expansion_max_rows drop_unmanaged_indexes query_options "
        "query_options_raw build_options full_refresh_build table_refresh_method require_partition_filter"
    ),
    "Python models run in dbt's own process": (
        "cluster_id job_cluster_config create_notebook user_folder_for_python python_job_config environment_key "
        "environment_dependencies additional_libs index_url http_path notebook_template_id dataproc_cluster_name "
        "enable_bigframes python_version imports use_anonymous_sproc external_access_integrations "
        "artifact_repository"
    ),
    "No row expires. Use `expire_partitions` of maintenance, or record_level.expire_time": (
        "partition_expiration_days hours_to_expiration ttl"
    ),
    "Encrypt the store of the warehouse": "kms_key_name",
    "Grant access in the warehouse and its catalog": (
        "grant_access_to copy_grants secure lf_tags_config lf_grants lf_inherited_tags "
        "auto_provision_aad_principals denies"
    ),
    "Use `stall_timeout` in the profile": "job_execution_timeout_seconds",
    "Use `changelog_producer`": "enable_change_history",
    "dbt's query-comment is in each statement": "query_tag query_group",
    "Remove it: views read their tables by name": "bind",
    "Use `table_tag` for states that are kept": "backup",
    "Use `primary_key`, or file-index options in `tblproperties`": "indexes",
    "This is a Paimon table": "table_type",
    "Use `file_format`": "format",
    "Use file.compression in `tblproperties`": "write_compression",
    "Use `snapshot_retention`": "transient versions_to_keep",
    "Use `spark_config`, for a node in its config, for all in the profile": (
        "spark_encryption spark_cross_account_catalog spark_requester_pays engine_config settings query_settings"
    ),
    "Use --full-refresh: `on_schema_change` does not add fields of structs": "sync_nested_columns",
    "Use `merge_engine`": "engine",
}
# The same for keys that decide which rows an incremental model writes.
INSTEAD_IN_INCREMENTAL: Final[Mapping[str, str]] = {
    "Use a strategy that replaces them (insert_overwrite, delete+insert), or delete them in a post_hook": (
        "not_matched_by_source_action not_matched_by_source_condition delete_not_matched_by_source"
    ),
    "Use matched_condition='false'": "skip_matched_step",
    "Use not_matched_condition='false'": "skip_not_matched_step",
    "Use on_schema_change='append_new_columns'": "merge_with_schema_evolution",
    "Use matched_condition": "update_condition merge_update_condition",
    "Use not_matched_condition": "insert_condition merge_insert_condition",
    "Use merge_delete_condition": "delete_condition",
    "Compute the values in the query, and list the columns to write in merge_update_columns": (
        "merge_update_columns_rules merge_update_columns_default_rule merge_update_set_expressions"
    ),
    "Use unique_key": "merge_on_using_columns",
    "Use matched_condition, not_matched_condition, merge_delete_condition": "merge_clauses",
    "Use incremental_strategy='append'": "inserts_only",
    "Give all columns in the query": "overwrite_columns",
}
# Keys that decide who sees which rows.
READERS: Final = ("row_filter", "row_access_policy", "masks")
LEAVE_OUT: Final = (
    "Make a table of its own without these rows: who can read files sees all rows, also those behind a view"
)


def _by_key(instead: Mapping[str, str]) -> dict[str, str]:
    return {key: remedy for remedy, keys in instead.items() for key in keys.split()}


_IGNORED: Final = _by_key(INSTEAD)
_IN_INCREMENTAL: Final = _by_key(INSTEAD_IN_INCREMENTAL)
# The key with the partitions to replace. dbt-bigquery also empties a listed partition if the query has no rows for it.
_PARTITIONS: Final = "partitions"
# Table formats that `file_format` may name in dbt-spark. In this adapter it names the format of data files.
_TABLE_FORMATS: Final = frozenset({"paimon", "delta", "iceberg", "hudi", "hive", "text", "csv", "json", "jdbc"})


class NoColumnError(ValueError):
    """A `partition_by` of dbt-bigquery that is not by column values. Ignoring it changes no rows."""


def is_foreign(key: str) -> bool:
    """Whether a config key belongs to another adapter."""
    return key in _IGNORED or key in _IN_INCREMENTAL or key in READERS or key == _PARTITIONS


def refusals(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason with remedy) for keys that decide which rows exist or who may see them."""
    for key in READERS:
        if config.get(key):
            yield key, f"a key of another adapter that decides who sees which rows, and is not read here. {LEAVE_OUT}"
    if config.get("materialized") != "incremental":
        return
    for key, instead in _IN_INCREMENTAL.items():
        if config.get(key):
            yield key, f"a key of another adapter that decides which rows there are, and is not read here. {instead}"
    if config.get(_PARTITIONS) and config.get("incremental_strategy") == "insert_overwrite":
        yield (
            _PARTITIONS,
            "dbt-bigquery empties those that the query has no rows for; here they keep their rows. Remove it if the "
            "query has rows for each, or delete the others in a pre_hook",
        )


def is_table_format(file_format: Any) -> bool:
    """Whether a `file_format` is a table format, as in dbt-spark, rather than a format of data files."""
    text = str(file_format).lower()
    return text in _TABLE_FORMATS and text not in FILE_FORMATS


def partition_column(value: Mapping[str, Any]) -> str:
    """The column of a `partition_by` as in dbt-bigquery: {field: …, data_type: …, granularity: …}.

    Raises:
        NoColumnError: the partitions are not the values of a column.
        ValueError: the mapping names no column.
    """
    column = value.get("field")
    if not isinstance(column, str):
        # `config_values.plain_columns` reports the same message for other invalid values.
        raise ValueError("must be a column name or a list of column names. Write it as in ['id', 'dt']")  # noqa: TRY004
    data_type = str(value.get("data_type") or "date").lower()
    # A day is one value of a date column, but many values of a timestamp column.
    whole = data_type not in ("timestamp", "datetime")
    granularity = str(value.get("granularity") or "day").lower()
    if value.get("range"):
        raise NoColumnError(_no_column("a range", column, f"floor({column} / 100) as {column}_range"))
    if value.get("time_ingestion_partitioning") or granularity != "day" or not whole:
        day = f"cast({column} as date) as {column}_day"
        other = f"date_trunc('{granularity}', {column}) as {column}_{granularity}"
        kind = f"the {granularity} of a {data_type}"
        raise NoColumnError(_no_column(kind, column, day if granularity == "day" else other))
    return column


def with_columns(partition_by: Any) -> Any:
    """A `partition_by` with column names instead of dbt-bigquery's mappings; raises like `partition_column`."""
    if isinstance(partition_by, Mapping):
        return partition_column(partition_by)
    if isinstance(partition_by, (list, tuple)) and any(isinstance(item, Mapping) for item in partition_by):
        return [partition_column(item) if isinstance(item, Mapping) else item for item in partition_by]
    return partition_by


def _no_column(kind: str, column: str, instead: str) -> str:
    return (
        f"{kind} is not a value of the column '{column}', and Paimon partitions by column values. Add a "
        f"column for it to the query ({instead}), and use that. Where a package sets it, the flag "
        "require_strict_config: false builds the table without partitions"
    )


def warnings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason with remedy) for keys that are ignored or read differently."""
    refused = {key for key, _ in refusals(config)}
    others = {**_IGNORED, **_IN_INCREMENTAL, _PARTITIONS: "Remove it: Paimon has no equivalent"}
    for key, instead in others.items():
        # An empty value gets no warning: it may be a default of dbt-spark's config class.
        if config.get(key) and key not in refused:
            yield key, f"a key of another adapter that is not read here. {instead}"
    if config.get("materialized") == "view":
        return
    if is_table_format(config.get("file_format")):
        yield (
            "file_format",
            "this is a Paimon table; file_format names the format of its data files. Remove it, or use one of "
            "parquet (the default), orc, avro",
        )
    if str(config.get("table_format") or "default").lower() not in ("default", "paimon"):
        yield "table_format", "this is a Paimon table. Remove it"
    given = config.get("partition_by")
    # `build` reports an invalid value.
    with suppress(ValueError):
        if (columns := with_columns(given)) != given:
            yield "partition_by", f"read as partition_by={columns!r}"
