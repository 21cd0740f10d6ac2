"""Which tables are compacted by their first load."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.maintenance.first_load import may_settle
from dbt.adapters.paimon.spec.table import TableSpec


@pytest.mark.parametrize(
    ("options", "settles"),
    [
        ({}, True),
        ({"bucket": "4"}, True),
        ({"bucket": "-1"}, True),
        ({"merge-engine": "partial-update"}, True),
        ({"merge-engine": "aggregation"}, True),
        ({"merge-engine": "first-row"}, False),
        ({"changelog-producer": "none"}, True),
        ({"changelog-producer": "input"}, True),
        ({"changelog-producer": "lookup"}, False),
        ({"changelog-producer": "full-compaction"}, False),
        ({"write-only": "true"}, False),
        ({"write-only": "false"}, True),
        ({"deletion-vectors.enabled": "true"}, False),
        ({"force-lookup": "true"}, False),
        ({"bucket": "-2"}, False),
    ],
)
def test_by_options(options: dict[str, str], settles: bool) -> None:
    assert may_settle(TableSpec(primary_key=("id",), options=options)) is settles


@pytest.mark.parametrize(
    "spec",
    [
        TableSpec(),
        TableSpec(primary_key=("id",), compact_after_build=False),
        # Its keys may move between partitions; Paimon compacts such a table only while writing to it.
        TableSpec(("id",), ("day",), {"bucket": "-1"}),
    ],
)
def test_tables_that_are_not_compacted(spec: TableSpec) -> None:
    assert not may_settle(spec)
