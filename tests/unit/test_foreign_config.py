"""Configs of models that were written for other adapters."""

from dataclasses import fields, replace

import pytest
from dbt.artifacts.resources import NodeConfig, SeedConfig, SnapshotConfig, SourceConfig, TestConfig, UnitTestConfig
from tests.unit.specs import incremental_spec, table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.plan import foreign_tables
from dbt.adapters.paimon.spec.components import OPTION_KEYS, TABLE_KEYS
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS
from dbt.adapters.paimon.spec.foreign_config import is_foreign, partition_column, refusals, warnings
from dbt.adapters.paimon.spec.key_names import check_key_names
from dbt.adapters.paimon.spec.problems import ConfigErrors, Problems
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import ExistingColumn


@pytest.mark.parametrize("config", [NodeConfig, SeedConfig, SnapshotConfig, SourceConfig, TestConfig, UnitTestConfig])
def test_no_key_of_dbt_looks_misspelt(config):
    problems = Problems("m")
    check_key_names({field.name: "x" for field in fields(config)}, problems, Versions.of("2.0.0"))
    assert not problems.messages


def test_no_key_of_ours_is_foreign():
    assert not [key for key in (*TABLE_KEYS, *STRATEGY_KEYS, *OPTION_KEYS) if is_foreign(key)]


# Config that users of each adapter write.
OTHERS = {
    "dbt-spark": {"file_format": "delta", "location_root": "/x", "clustered_by": "id", "buckets": 4},
    "dbt-databricks": {"liquid_clustered_by": "id", "zorder": "id", "databricks_tags": {"a": "b"}},
    "dbt-bigquery": {"cluster_by": ["id"], "labels": {"a": "b"}, "enable_change_history": True},
    "dbt-snowflake": {"transient": True, "query_tag": "x", "copy_tags": True, "table_format": "iceberg"},
    "dbt-redshift": {"dist": "id", "sort": ["id"], "query_group": "x", "auto_refresh": True},
    "dbt-postgres": {"indexes": [{"columns": ["id"]}], "unlogged": True},
    "dbt-athena": {"table_type": "iceberg", "format": "parquet", "s3_data_naming": "unique", "ha": True},
    "dbt-trino": {"properties": {"format": "'PARQUET'"}, "on_table_exists": "drop"},
    "dbt-duckdb": {"indexes": [{"columns": ["id"]}], "sorted_by": ["id"]},
    "dbt-clickhouse": {"engine": "MergeTree()", "order_by": "id", "settings": {"a": 1}, "ttl": "x"},
    "dbt-fabric": {"cluster_by": ["id"], "statistics": True, "auto_provision_aad_principals": True},
    "dbt-sqlserver": {"as_columnstore": True, "query_options": {"a": 1}},
}


@pytest.mark.parametrize("materialized", ["table", "incremental", "seed", "snapshot"])
@pytest.mark.parametrize("owner", OTHERS)
def test_config_that_changes_no_row_is_warned_about(owner, materialized):
    config = {"materialized": materialized, **OTHERS[owner]}
    assert table_spec(config, model="m", versions=Versions.of("0.9.0")).options == {}
    assert sorted(key for key, _ in warnings(config)) == sorted(OTHERS[owner])


@pytest.mark.parametrize(
    ("config", "remedy"),
    [
        ({"not_matched_by_source_action": "delete"}, "insert_overwrite"),
        ({"skip_matched_step": True}, "matched_condition='false'"),
        ({"merge_with_schema_evolution": True}, "on_schema_change='append_new_columns'"),
        ({"delete_condition": "s.gone"}, "merge_delete_condition"),
        ({"inserts_only": True}, "incremental_strategy='append'"),
        ({"incremental_strategy": "insert_overwrite", "partitions": ["current_date"]}, "pre_hook"),
        ({"row_access_policy": "p on (id)"}, "Make a table of its own"),
    ],
)
def test_config_that_decides_which_rows_exist_is_refused(config, remedy):
    config = {"materialized": "incremental", **config}
    with pytest.raises(ConfigErrors, match=r"model 'm': ") as raised:
        table_spec(config, model="m", versions=Versions.of("0.9.0"))
    assert remedy in str(raised.value)
    assert not list(warnings(config))
    told: list[str] = []
    table_spec(config, model="m", versions=Versions.of("0.9.0"), warn=told.append)
    assert [remedy in text for text in told] == [True]


def test_config_without_effect_on_rows_is_warned_about():
    config = {"materialized": "table", "skip_matched_step": True, "partitions": ["current_date"]}
    assert not list(refusals(config))
    assert {key for key, _ in warnings(config)} == {"skip_matched_step", "partitions"}


def test_a_view_is_warned_only_about_keys_of_views():
    config = {"materialized": "view", "file_format": "delta", "secure": True}
    assert [key for key, _ in warnings(config)] == ["secure"]


def test_partitions_by_a_list_of_mappings():
    value = [{"field": "day", "data_type": "date"}, "carrier"]
    spec = table_spec({"partition_by": value}, model="m", versions=Versions.of("0.9.0"))
    assert spec.partition_by == ("day", "carrier")
    assert dict(warnings({"partition_by": value})) == {"partition_by": "read as partition_by=['day', 'carrier']"}
    with pytest.raises(ConfigErrors, match=r"date_trunc\('month', day\)"):
        table_spec(
            {"partition_by": [{"field": "day", "granularity": "month"}]},
            model="m",
            versions=Versions.of("0.9.0"),
        )


@pytest.mark.parametrize(
    "value",
    [
        {"field": "day"},
        {"field": "day", "data_type": "date"},
        {"field": "day", "data_type": "DATE", "granularity": "DAY", "copy_partitions": True},
        {"field": "day", "data_type": "string"},
    ],
)
def test_a_column_as_its_own_partition(value):
    assert partition_column(value) == "day"
    spec = table_spec({"partition_by": value}, model="m", versions=Versions.of("0.9.0"))
    assert spec.partition_by == ("day",)
    assert [key for key, _ in warnings({"partition_by": value})] == ["partition_by"]


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ({"field": "day", "granularity": "month"}, "date_trunc('month', day) as day_month"),
        ({"field": "at", "data_type": "timestamp"}, "cast(at as date)"),
        ({"field": "at", "data_type": "datetime", "granularity": "hour"}, "date_trunc('hour', at)"),
        ({"field": "id", "data_type": "int64", "range": {"start": 0}}, "floor(id / 100)"),
        ({"field": "day", "time_ingestion_partitioning": True}, "Add a column"),
        ({"data_type": "date"}, "Write it as in"),
    ],
)
def test_partitions_that_are_no_column(value, remedy):
    with pytest.raises(ValueError, match=r".") as raised:
        partition_column(value)
    assert remedy in str(raised.value)
    assert not list(warnings({"partition_by": value}))


def test_a_flag_ignores_partitions_that_are_no_column():
    """Needed for models of packages, whose config a project cannot override."""
    config = {"partition_by": {"field": "at", "data_type": "timestamp"}, "unique_key": "id"}
    told: list[str] = []
    spec = incremental_spec(config, model="m", versions=Versions.of("0.9.0"), warn=told.append)
    assert (spec.table.partition_by, spec.strategy) == ((), "merge")
    assert len(told) == 1
    with pytest.raises(ConfigErrors, match="require_strict_config: false"):
        incremental_spec(config, model="m", versions=Versions.of("0.9.0"))
    overwrites = {**config, "incremental_strategy": "insert_overwrite"}
    with pytest.raises(ConfigErrors, match="replace the whole table"):
        incremental_spec(overwrites, model="m", versions=Versions.of("0.9.0"), warn=told.append)


def test_ignored_config_is_warned_about():
    config = {"file_format": "delta", "clustered_by": "id", "buckets": 4, "location_root": None, "labels": {}}
    assert {key for key, _ in warnings(config)} == {"file_format", "clustered_by", "buckets"}
    assert not list(warnings({"file_format": "orc", "partition_by": "day", "bucket": 4}))


def test_what_other_materializations_ignore():
    """A materialization of a package creates the table by `create_table_as`, which cannot do everything."""
    config = {"materialized": "insert_by_period", "wap": True, "table_tag": "done"}
    of_config = table_spec(config, model="m", versions=Versions.of("1.4.2"))
    spec = replace(of_config, options={"metadata.iceberg.storage": "hadoop-catalog"})
    columns = [
        ExistingColumn("id", "int", nullable=False),
        ExistingColumn("at", "timestamp"),
        ExistingColumn("code", "varchar(3)"),
    ]
    with pytest.raises(ConfigErrors) as raised:
        foreign_tables.refuse_unread({"name": "m", "config": config}, spec, columns)
    assert [problem.split(":")[1].partition("=")[0].strip() for problem in raised.value.problems] == [
        "wap",
        "table_tag",
        "iceberg",
        "columns.id",
        "columns.code",
    ]
    day = ExistingColumn("day", "date", nullable=False)
    spec = TableSpec(("ID",), partition_by=("DAY",))
    foreign_tables.refuse_unread({"name": "m", "config": config}, spec, [*columns[:2], day])
