"""The table snapshots that a procedure has removed."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.metadata.procedures import ProcedureResult
from dbt.adapters.paimon.metadata.snapshots import SnapshotRange


@pytest.mark.parametrize(
    ("before", "after", "expired"),
    [
        (SnapshotRange(1, 5), SnapshotRange(3, 6), 2),
        (SnapshotRange(1, 5), SnapshotRange(1, 6), 0),
        # The procedure made the table's first commit.
        (SnapshotRange(), SnapshotRange(1, 1), 0),
    ],
)
def test_expired(before: SnapshotRange, after: SnapshotRange, expired: int) -> None:
    assert ProcedureResult(before, after).expired == expired
