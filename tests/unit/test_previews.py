"""What a run would read and lose: Spark's EXPLAIN, read limits, and which rebuilds need permission."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.spark.scans import Scan, by_explain
from dbt.adapters.paimon.spec.component import PropertyChange
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset
from dbt.adapters.paimon.tables.rebuilds import TO_VIEW, LosableHistory, Rebuild, rebuild_of, refusal
from dbt.adapters.paimon.writing import read_limits
from dbt_paimon.plan.previews import Preview

# Printed by Spark 3.5.7; the scan of `k` occurs twice because of dynamic partition pruning.
EXPLAINED = """\
== Optimized Logical Plan ==
Project [a#87, b#91], Statistics(sizeInBytes=17.0 MiB)
+- Join Inner, ((a#87 = a#90) AND (dt#89 = dt#92)), Statistics(sizeInBytes=40.3 MiB)
   :- Filter (((a#87 > 10) AND isnotnull(a#87)) AND dynamicpruning#103 [dt#89]), Statistics(sizeInBytes=4.7 KiB)
   :  :  +- Filter (a#90 > 10), Statistics(sizeInBytes=8.6 KiB)
   :  :     +- RelationV2[a#90, b#91, dt#92] d.k, Statistics(sizeInBytes=8.6 KiB, rowCount=200)
   :  +- RelationV2[a#87, dt#89] d.t, Statistics(sizeInBytes=4.7 GiB, rowCount=1.23E+7)
   +- Filter (a#90 > 10), Statistics(sizeInBytes=8.6 KiB)
      +- RelationV2[a#90, b#91, dt#92] d.k, Statistics(sizeInBytes=8.6 KiB, rowCount=200)
"""


def node(**config: Any) -> dict[str, Any]:
    return {"name": "m", "resource_type": "model", "config": config}


def test_scans_that_explain_shows():
    assert by_explain([EXPLAINED]) == (Scan("d.k", 200), Scan("d.t", 12_300_000))
    # Spark 4.1 also prints the catalog. A table's name may contain blanks, and a column's name brackets.
    printed = EXPLAINED.replace(" d.t", " lake.d.`a b`").replace("b#91", "a] b#91")
    assert by_explain([printed]) == (Scan("d.k", 200), Scan("lake.d.`a b`", 12_300_000))


@pytest.mark.parametrize(
    ("printed", "estimate"),
    [
        # The catalogs `lake` and `other` have a table d.t of 100 rows; it has 1,000 bytes in `lake`, 5,000 in `other`.
        ("lake.d.t", 500),
        ("other.d.t", 2500),
        ("lake.d.`a b`", 50),
        # Spark 3.5 prints no catalog and no backticks.
        ("d.t", 2500),
        ("d.a b", 50),
        ("elsewhere.d.t", None),
    ],
)
def test_bytes_estimated_from_rows(printed, estimate):
    sizes = {("lake", "d", "t"): 1000, ("other", "d", "t"): 5000, ("lake", "d", "a b"): 100}

    def query(sql):
        held = next((each for name, each in sizes.items() if TableName(*name).system_table("files") in sql), None)
        if held is None:
            raise DbtRuntimeError("[TABLE_OR_VIEW_NOT_FOUND]")
        return [(100, held, 0, None)]

    adapter = Mock(query=query)
    adapter.credentials.paimon_catalogs = frozenset({"lake", "other"})
    adapter.handle.scanned_tables.return_value = (Scan(printed, 50), Scan("d.t$files"))
    found, system_table = read_limits.scans(adapter, "select 1")
    assert (found.bytes, system_table.bytes) == (estimate, None)


@pytest.mark.parametrize(
    ("scan", "text"),
    [
        (Scan("d.t", 12_408, 3, 12, 40 << 20), "d.t: 3 partitions, 12 files, 40.0 MiB, 12,408 rows"),
        (Scan("d.t", 1, 1, 1, 100), "d.t: 1 file, 100 bytes, 1 row"),
        (Scan("d.t", 0, 0, 0, 0), "d.t: nothing"),
        (Scan("d.t"), "d.t: size unknown"),
        (Scan("d.t", 5), "d.t: 5 rows"),
    ],
)
def test_a_scan_in_words(scan, text):
    assert str(scan) == text


@pytest.mark.parametrize(
    ("limit", "refused"), [(None, False), (300, False), ("300", False), (299, True), ("1 kb", False)]
)
def test_a_limit_counts_all_scans(limit, refused):
    found = read_limits.problem(node(max_bytes_read=limit), [Scan("a", bytes=100), Scan("b", bytes=200), Scan("c")])
    assert bool(found) is refused
    if refused:
        assert "would read 300 bytes (b: " in found


@pytest.mark.parametrize(
    "config",
    [{"max_bytes_read": value} for value in ("ten", 0, -1, True, "10 apples", "")]
    + [{"on_rebuild": value} for value in ("drop", True, "DROP_HISTORY")],
)
def test_values_that_are_refused(config):
    with pytest.raises(ConfigErrors, match=next(iter(config))):
        table_spec(config, model="m", versions=Versions.of("0.9.0"))


@pytest.mark.parametrize("config", [{"max_bytes_read": "10 gb"}, {"max_bytes_read": 5}, {"on_rebuild": "ask"}])
def test_values_that_are_allowed(config):
    table_spec(config, model="m", versions=Versions.of("0.9.0"))


KEY = Changeset(immutable=(PropertyChange("primary-key", "id", "id,day"),))


def test_how_a_table_is_rebuilt():
    assert not rebuild_of(TableSpec(("id",)), Changeset(), None).swaps
    assert str(rebuild_of(TableSpec(("id",)), KEY, None)) == "primary-key: id -> id,day"
    moved = TableSpec(("id",), ("day",), {"merge-engine": "first-row"})
    assert rebuild_of(moved, Changeset(), None).always


@pytest.mark.parametrize(
    ("rebuild", "config", "asks"),
    [
        (Rebuild(("key",)), {}, True),
        (Rebuild(("key",)), {"on_rebuild": "ask"}, True),
        (Rebuild(("key",)), {"on_rebuild": "drop_history"}, False),
        (Rebuild(("key",), always=True), {}, False),
        (Rebuild(), {}, False),
    ],
)
def test_rebuilds_that_may_need_consent(rebuild, config, asks):
    histories = iter([LosableHistory(3, 2)])
    assert bool(refusal(node(**config), rebuild, False, lambda: next(histories))) is asks
    # The history costs a query, so it is only read if it matters.
    assert bool(list(histories)) is not asks
    assert not refusal(node(**config), rebuild, True, lambda: LosableHistory(3, 2))


@pytest.mark.parametrize(
    ("history", "refused"),
    [
        (LosableHistory(1, 1), False),
        (LosableHistory(2, 1), False),
        (LosableHistory(2, 2), True),
        (LosableHistory(1, 1, ("v1",)), True),
        (LosableHistory(1, 1, (), ("work",)), True),
    ],
)
def test_which_history_needs_permission(history, refused):
    found = refusal(node(), Rebuild(("key",)), False, lambda: history)
    assert bool(found) is refused
    assert found in ("", f"model 'm': a new table has to replace the existing table (key), which loses its {history}.")


def test_a_view_that_replaces_a_table_needs_permission():
    found = refusal(node(), TO_VIEW, False, lambda: LosableHistory(3, 2))
    assert "a view has to replace the existing table (it becomes a view)" in found


def test_a_preview_as_text_and_as_json():
    lost = LosableHistory(14, 13, ("audited",))
    found = Preview("model.p.m", "s.m", "table", Action.SWAP, steps=("audits",), reasons=("key",), lost=lost, asks=True)
    assert list(found.lines()) == [
        "s.m (table): rebuild as a new table",
        "  audits",
        "  because key",
        "  LOSES 14 table snapshots and 1 tag (audited)",
        "  but fails first, unless run with --full-refresh or configured with on_rebuild: drop_history",
    ]
    assert found.as_dict() == {
        "unique_id": "model.p.m",
        "name": "s.m",
        "kind": "table",
        "does": "rebuild as a new table",
        "steps": ("audits",),
        "reasons": ("key",),
        "lost": {"snapshots": 14, "writes": 13, "tags": ("audited",), "branches": ()},
        "asks": True,
    }


@pytest.mark.parametrize("materialized", ["seed", "streaming"])
def test_a_read_limit_is_refused_where_nothing_is_read(materialized):
    config = {"max_bytes_read": "10 gb", "materialized": materialized}
    with pytest.raises(ConfigErrors, match="max_bytes_read"):
        table_spec(config, model="m", versions=Versions.of("0.9.0"))
