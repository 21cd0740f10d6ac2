"""The checks of a node's Spark settings that need no Spark."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.spark_settings import misspelt, settings_of


def test_values_become_text() -> None:
    given = {
        "spark.sql.ansi.enabled": True,
        "spark.sql.shuffle.partitions": 8,
        "spark.paimon.write-buffer-size": "64mb",
    }
    assert settings_of("orders", given, "0.9.0") == {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.shuffle.partitions": "8",
        "spark.paimon.write-buffer-size": "64mb",
    }


@pytest.mark.parametrize("given", [None, {}])
def test_no_settings(given) -> None:
    assert settings_of("orders", given, "0.9.0") == {}


@pytest.mark.parametrize("given", ["spark.sql.ansi.enabled", ["spark.sql.ansi.enabled"]])
def test_no_mapping(given) -> None:
    with pytest.raises(ConfigErrors, match="must be a mapping"):
        settings_of("orders", given, "0.9.0")


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("sql.ansi.enabled", True, "begin with `spark.`"),
        ("spark.sql.ansi.enabled", None, "must be text, a number or a boolean"),
        ("spark.sql.ansi.enabled", [True], "must be text, a number or a boolean"),
        ("spark.executor.memory", "4g", "under spark_config in the profile"),
        ("spark.driver.memory", "4g", "under spark_config in the profile"),
        ("spark.default.parallelism", 4, "under spark_config in the profile"),
        ("spark.hadoop.fs.s3a.path.style.access", True, "under spark_config in the profile"),
        ("spark.sql.warehouse.dir", "/tmp", "under spark_config in the profile"),
        ("spark.sql.codegen.cache.maxEntries", 1, "under spark_config in the profile"),
        ("spark.sql.catalog.paimon.warehouse", "/tmp", "catalog_options in the profile"),
        ("spark.sql.defaultCatalog", "spark_catalog", "catalog_name"),
        ("spark.sql.caseSensitive", True, "in the profile"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic", "incremental_strategy='insert_overwrite'"),
        ("spark.paimon.commit.user-prefix", "me", "Remove it"),
        ("spark.paimon.branch", "b", "wap=true"),
        ("spark.paimon.write.use-v2-write", True, "after they have committed"),
        ("spark.paimon.merge-engine", "aggregation", "config of the model"),
        ("spark.sql.parser.escapedStringLiterals", True, "Remove it"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ", "write `timestamp_ntz`"),
    ],
)
def test_refused(key, value, remedy) -> None:
    with pytest.raises(ConfigErrors) as caught:
        settings_of("orders", {key: value}, "0.9.0")
    (message,) = caught.value.problems
    assert message.startswith(f"model 'orders': spark_config: {key}")
    assert remedy in message


def test_all_at_once() -> None:
    with pytest.raises(ConfigErrors) as caught:
        settings_of("orders", {"spark.executor.memory": "4g", "spark.sql.ansi.enabled": None}, "0.9.0")
    assert len(caught.value.problems) == 2


def test_misspelt() -> None:
    known = ["spark.sql.shuffle.partitions", "spark.sql.ansi.enabled"]
    # A setting of an extension, which Spark does not list.
    misspelt("orders", ["spark.sql.iceberg.handle-timestamp-without-timezone"], known)
    # A known setting without a value, which a Thrift server reports like an unknown one.
    misspelt("orders", ["spark.sql.ansi.enabled"], known)
    with pytest.raises(ConfigErrors, match=r"Did you mean spark\.sql\.shuffle\.partitions"):
        misspelt("orders", ["spark.sql.shufflePartitions"], known)
