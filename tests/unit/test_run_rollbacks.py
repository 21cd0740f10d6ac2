"""The table snapshot from before a run, by the times of dbt's results and the number that a node reported."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.time_travel.run_rollbacks import Ran, Snapshot, before

BEFORE, DURING, AFTER = (True, False), (False, False), (False, True)


def node(snapshot: int | None = None) -> Ran:
    return Ran("model.shop.orders", ("paimon", "shop", "orders"), "", "", snapshot)


def snapshots(*times: tuple[bool, bool], kind: str = "APPEND") -> list[Snapshot]:
    return [Snapshot(number, kind, *when) for number, when in enumerate(times, 1)]


def test_the_newest_from_before():
    assert before(node(3), snapshots(BEFORE, BEFORE, DURING)) == 2
    assert before(node(4), snapshots(BEFORE, BEFORE, DURING, DURING)) == 2
    assert before(node(), snapshots(BEFORE, BEFORE, DURING)) == 2


def test_a_run_that_wrote_nothing():
    assert before(node(), snapshots(BEFORE, BEFORE)) is None
    assert before(node(), [*snapshots(BEFORE), Snapshot(2, "COMPACT", False, True)]) is None


def test_the_clock_of_a_server_is_behind():
    assert before(node(3), snapshots(BEFORE, BEFORE, BEFORE)) == 2


@pytest.mark.parametrize("times", [(DURING,), (BEFORE, DURING, AFTER)])
def test_what_cannot_be_taken_back(times):
    with pytest.raises(DbtRuntimeError, match=r"Nothing was done.*exclude: \[orders\]"):
        before(node(), snapshots(*times))
