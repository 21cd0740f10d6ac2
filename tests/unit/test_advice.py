"""Warnings for valid tables."""

from __future__ import annotations

import pytest
from tests.unit import corpus
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.advice import advice


def told(config, version="1.4.2") -> str:
    versions = Versions.of(version)
    spec = table_spec(config, model="orders", versions=versions)
    return "\n".join(advice(spec, config, "orders", versions))


@pytest.mark.parametrize("case", corpus.warned(), ids=lambda case: case.where)
def test_warnings(case: corpus.Warned):
    for version in case.versions:
        (said,) = case.told(version)
        assert said.startswith(f"model '{corpus.MODEL}': {case.where}: ")
        assert case.reason in said and case.remedy in said
    for version in case.silent:
        assert case.told(version) == ()


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
def test_no_warning(config):
    assert told(config) == ""


@pytest.mark.parametrize(
    ("config", "version"),
    [
        ({"tblproperties": {"file.compression.zstd-level": 9}, "file_format": "orc"}, "0.9.0"),
        ({"auto_tags": {"creation": "process-time", "period": "daily"}}, "0.9.0"),
    ],
)
def test_options_that_take_effect(config, version):
    assert told({"primary_key": "pk", "bucket": 1} | config, version) == ""


def test_postpone_buckets_cause_no_warning_without_deletes():
    waits = {"primary_key": "pk", "bucket": -2, "postpone_bucket": {"batch_write_fixed_bucket": False}}
    assert told(waits) == ""


SUM = {"primary_key": "pk", "merge_engine": "aggregation", "fields": {"n": {"aggregate_function": "sum"}}}


@pytest.mark.parametrize(
    ("config", "data_type", "said"),
    [
        (
            SUM,
            "tinyint",
            "wraps around in Paimon, without an error. Give bigint in the model: cast(n as bigint)",
        ),
        (
            SUM | {"fields": {"n": {"aggregate_function": "product"}}},
            "smallint",
            "a product that exceeds it",
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
    spec = table_spec(config, model="orders", versions=versions)
    told = "\n".join(advice(spec, config, "orders", versions, {"pk": "int", "n": data_type}))
    assert said in told if said else told == ""
    assert "'pk'" not in told
