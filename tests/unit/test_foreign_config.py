"""Configs of models that were written for other adapters."""

import pytest

from dbt.adapters.paimon.capabilities import Environment
from dbt.adapters.paimon.foreign_config import is_foreign, partition_column, warnings
from dbt.adapters.paimon.table_spec import OPTION_KEYS, STRATEGY_KEYS, TABLE_KEYS, build_table_spec


def test_no_key_of_ours_is_foreign():
    assert not [key for key in (*TABLE_KEYS, *STRATEGY_KEYS, *OPTION_KEYS) if is_foreign(key)]


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
    spec = build_table_spec({"partition_by": value}, model="m", environment=Environment.of("0.9.0"))
    assert spec.partition_by == ("day",)
    assert [key for key, _ in warnings({"partition_by": value})] == ["partition_by"]


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ({"field": "day", "granularity": "month"}, "date_trunc('month', day) as day_month"),
        ({"field": "at", "data_type": "timestamp"}, "cast(at as date)"),
        ({"field": "at", "data_type": "datetime", "granularity": "hour"}, "date_trunc('hour', at)"),
        ({"field": "id", "data_type": "int64", "range": {"start": 0}}, "floor(id / 100)"),
        ({"field": "day", "time_ingestion_partitioning": True}, "Give the query a column"),
        ({"data_type": "date"}, "Write it as in"),
    ],
)
def test_partitions_that_no_column_has(value, remedy):
    with pytest.raises(ValueError, match=r".") as raised:
        partition_column(value)
    assert remedy in str(raised.value)


def test_what_is_left_out_is_said():
    config = {"file_format": "delta", "clustered_by": "id", "buckets": 4, "location_root": None, "labels": {}}
    assert {key for key, _ in warnings(config)} == {"file_format", "clustered_by", "buckets"}
    assert not list(warnings({"file_format": "orc", "partition_by": "day", "bucket": 4}))
