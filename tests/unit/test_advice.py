"""Warnings for valid tables."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.spec.build import build_table_spec


def told(config, version="1.4.2") -> str:
    versions = Versions.of(version)
    spec = build_table_spec(config, model="orders", versions=versions)
    return "\n".join(advice(spec, config, "orders", versions))


@pytest.mark.parametrize("bucket", [2, -2])
def test_a_key_may_be_in_several_partitions(bucket):
    said = told({"primary_key": "pk", "partition_by": "pt", "bucket": bucket})
    assert said.startswith(
        "model 'orders': primary_key=['pk']: leaves out the partition column pt, and with "
    )
    assert f"bucket={bucket} Paimon does not look for a key in other partitions" in said
    assert "use bucket=-1" in said and "add pt to primary_key" in said


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"primary_key": "pk", "bucket": 2, "dynamic_bucket": {"target_row_num": 3}},
            "dynamic_bucket.target_row_num=3: only a primary-key table with bucket=-1 reads it",
        ),
        (
            {"bucket": -1, "tblproperties": {"dynamic-bucket.initial-buckets": 4}},
            "tblproperties['dynamic-bucket.initial-buckets']=4: only a primary-key table has dynamic buckets",
        ),
        (
            {"primary_key": "pk", "postpone_bucket": {"default_bucket_num": 2}},
            "postpone_bucket.default_bucket_num=2: only bucket=-2 (postpone) reads it",
        ),
    ],
)
def test_options_that_do_nothing(config, said):
    assert said in told(config)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"primary_key": "pk", "partition_by": "pt"},
        {"primary_key": ["pk", "pt"], "partition_by": "pt", "bucket": 2},
        {"primary_key": "pk", "dynamic_bucket": {"target_row_num": 3}},
        {"primary_key": "pk", "bucket": -2, "postpone_bucket": {"default_bucket_num": 2}},
    ],
)
def test_nothing_to_tell(config):
    assert told(config) == ""


@pytest.mark.parametrize(
    ("config", "version", "said"),
    [
        ({"tblproperties": {"full-compaction.delta-commits": 2}}, "0.9.0", "does nothing here: "),
        ({"tblproperties": {"full-compaction.delta-commits": 2}}, "1.4.2", ""),
        ({"tblproperties": {"file.compression.zstd-level": 9}}, "0.9.0", "this process writes first: "),
        ({"tblproperties": {"file.compression.zstd-level": 9}}, "1.4.2", ""),
        ({"tblproperties": {"file.compression.zstd-level": 9}, "file_format": "orc"}, "0.9.0", ""),
        ({"auto_tags": {"creation": "batch"}}, "0.9.0", "auto_tags.creation='batch': makes no tag here: "),
        ({"auto_tags": {"creation": "batch"}}, "1.1.1", ""),
        ({"auto_tags": {"creation": "watermark", "period": "daily"}}, "2.0.0", "have no watermark"),
        ({"auto_tags": {"creation": "process-time", "period": "daily"}}, "0.9.0", ""),
    ],
)
def test_options_that_a_version_does_not_act_on(config, version, said):
    found = told({"primary_key": "pk", "bucket": 1} | config, version)
    assert said in found if said else found == ""


def test_deletes_that_a_compaction_drops():
    waits = {"primary_key": "pk", "bucket": -2, "postpone_bucket": {"batch_write_fixed_bucket": False}}
    assert told(waits) == ""
    assert "incremental_strategy='delete+insert': writes deletes" in told(
        waits | {"incremental_strategy": "delete+insert"}
    )


SUM = {"primary_key": "pk", "merge_engine": "aggregation", "fields": {"n": {"aggregate_function": "sum"}}}


@pytest.mark.parametrize(
    ("config", "data_type", "said"),
    [
        (SUM, "int", "fields.n.aggregate_function='sum': 'n' is int, and a sum that exceeds it"),
        (
            SUM,
            "tinyint",
            "wraps around in Paimon, without an error. Give bigint in the model: cast(n as bigint)",
        ),
        (SUM, "decimal(3,1)", "becomes NULL in Paimon, without an error. Give decimal(38,1) in the model"),
        (
            SUM | {"fields": {"n": {"aggregate_function": "product"}}},
            "smallint",
            "a product that exceeds it",
        ),
        (
            SUM | {"tblproperties": {"fields.default-aggregate-function": "sum"}, "fields": {}},
            "int",
            "'n' is int",
        ),
        (
            {
                "primary_key": "pk",
                "merge_engine": "partial-update",
                "fields": {"at": {"sequence_group": "n"}, "n": {"aggregate_function": "sum"}},
            },
            "int",
            "'n' is int",
        ),
        (SUM, "bigint", ""),
        (SUM, "decimal(20,2)", ""),
        (SUM, "float", ""),
        (SUM | {"fields": {"n": {"aggregate_function": "max"}}}, "int", ""),
    ],
)
def test_sums_that_wrap_around(config, data_type, said):
    versions = Versions.of("0.9.0")
    spec = build_table_spec(config, model="orders", versions=versions)
    told = "\n".join(advice(spec, config, "orders", versions, {"pk": "int", "n": data_type}))
    assert said in told if said else told == ""
    assert "'pk'" not in told
