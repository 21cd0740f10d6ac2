"""`iceberg: true`: the options that it sets, by version, and the config that it cannot be combined with."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.table import TableSpec

STORAGE = "metadata.iceberg.storage"
COMPACTS = "full-compaction.delta-commits"


def spec_of(config: dict[str, Any], paimon: str = "1.4.2") -> TableSpec:
    given = {"materialized": "table", "primary_key": "id", "bucket": 1, **config}
    return table_spec(given, model="m", versions=Versions.of(paimon))


def test_a_table_with_a_key_is_compacted_by_each_write():
    spec = spec_of({"iceberg": True})
    assert (spec.options[STORAGE], spec.options[COMPACTS]) == ("table-location", "1")
    # Iceberg's metadata contains file paths, so it is written only once the table has its final name.
    assert spec.late_options == {STORAGE: "table-location"}
    assert STORAGE not in spec.properties
    assert spec.properties[COMPACTS] == "1"


@pytest.mark.parametrize(
    "config",
    [
        {"primary_key": None, "bucket": -1},
        {"maintenance": {"compact": {"every_commits": 24}}},
        {"tblproperties": {"write-only": True}},
        {"changelog_producer": "lookup"},
    ],
)
def test_tables_that_are_not_compacted_by_each_write(config):
    assert COMPACTS not in spec_of({"iceberg": True, **config}).options


def test_a_configured_number_stays():
    assert spec_of({"iceberg": True, "tblproperties": {COMPACTS: 5}}).options[COMPACTS] == "5"


def test_off():
    for off in ({}, {"iceberg": False}, {"tblproperties": {STORAGE: "disabled"}}):
        spec = spec_of(off)
        assert COMPACTS not in spec.options
        assert spec.options.get(STORAGE, "disabled") == "disabled"


@pytest.mark.parametrize(
    ("config", "paimon", "reason"),
    [
        ({"iceberg": True}, "0.9.0", "iceberg=True: "),
        ({"iceberg": True}, "1.3.1", "needs Paimon >= 1.4"),
        ({"tblproperties": {STORAGE: "hive-catalog"}}, "0.9.0", "needs Paimon >= 1.4"),
        ({"tblproperties": {"metadata.iceberg-compatible": True}}, "0.9.0", "no field ids"),
        ({"iceberg": "yes"}, "1.4.2", "true or false"),
        ({"iceberg": True, "file_format": "avro"}, "1.4.2", "not avro"),
        ({"iceberg": True, "wap": True}, "1.4.2", "wap"),
        ({"iceberg": True, "bucket": -2}, "1.4.2", "postpone"),
        ({"iceberg": True, "tblproperties": {STORAGE: "disabled"}}, "1.4.2", "contradicts"),
    ],
)
def test_refused(config, paimon, reason):
    with pytest.raises(ConfigErrors, match=reason):
        spec_of(config, paimon)
