"""The table snapshot before a run, found by the times in dbt's results and the snapshot that a node reported."""

from __future__ import annotations

import json

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.time_travel.run_rollbacks import Ran, before, ran, without

# The run begins at 10 and ends at 20.
BEFORE, DURING, AFTER = 5.0, 15.0, 25.0


def node(snapshot: int | None = None) -> Ran:
    return Ran("model.shop.orders", ("paimon", "shop", "orders"), 10, 20, snapshot)


def snapshots(*times: float) -> list[Commit]:
    return [Commit(number, "APPEND", at=when) for number, when in enumerate(times, 1)]


def test_the_newest_snapshot_before_the_run():
    assert before(node(3), snapshots(BEFORE, BEFORE, DURING)) == 2
    assert before(node(4), snapshots(BEFORE, BEFORE, DURING, DURING)) == 2
    assert before(node(), snapshots(BEFORE, BEFORE, DURING)) == 2


def test_a_run_that_wrote_nothing():
    assert before(node(), snapshots(BEFORE, BEFORE)) is None
    assert before(node(), [*snapshots(BEFORE), Commit(2, "COMPACT", at=AFTER)]) is None


def test_the_clock_of_a_server_is_behind():
    assert before(node(3), snapshots(BEFORE, BEFORE, BEFORE)) == 2


@pytest.mark.parametrize("times", [(DURING,), (BEFORE, DURING, AFTER)])
def test_runs_that_cannot_be_rolled_back(times):
    with pytest.raises(DbtRuntimeError, match=r"Nothing was done.*exclude: \[orders\]"):
        before(node(), snapshots(*times))


def test_one_excluded_name_needs_no_list():
    assert without([node()], "orders") == without([node()], ["orders"]) == []
    with pytest.raises(DbtRuntimeError, match="no node named customers"):
        without([node()], "customers")


def test_the_name_of_a_table(tmp_path):
    timing = {"started_at": "2026-11-30T10:00:00Z", "completed_at": "2026-11-30T10:00:05Z"}
    result = {"unique_id": "model.shop.odd", "relation_name": "`paimon`.`shop`.`a``b`", "timing": [timing]}
    results = tmp_path / "run_results.json"
    results.write_text(json.dumps({"metadata": {"invocation_id": "1"}, "results": [result]}))
    assert [node.relation for node in ran(results, None, [])] == [("paimon", "shop", "a`b")]
