"""Inserts and updates, counted from a changelog, and when they cannot be counted."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.metadata.row_kinds import UNKNOWN, RowKinds, counted, grows_by_inserts


@pytest.mark.parametrize(
    ("changes", "retracting", "rows", "may_be_less", "kinds"),
    [
        (50, 10, 40, False, RowKinds(30, 10)),
        (40, 0, 40, False, RowKinds(40, 0)),
        (80, 40, 40, False, RowKinds(0, 40)),
        (30, 0, 40, True, RowKinds(30, 0)),
        # Unknown: a key occurs twice, other commits have changes, or -U has no +U.
        (30, 0, 40, False, UNKNOWN),
        (60, 10, 40, False, UNKNOWN),
        (10, 8, 40, True, UNKNOWN),
    ],
)
def test_counted(changes, retracting, rows, may_be_less, kinds):
    assert counted(changes, retracting, rows, may_be_less=may_be_less) == kinds


@pytest.mark.parametrize(
    ("kind", "properties", "deletes", "grows"),
    [
        ("merge", {}, False, True),
        ("snapshot", {}, False, True),
        ("merge", {}, True, False),
        ("merge override", {}, False, False),
        ("merge", {"primary-key": "id"}, False, False),
        ("merge", {"deletion-vectors.enabled": "true"}, False, False),
        ("append", {}, False, False),
    ],
)
def test_grows_by_inserts(kind, properties, deletes, grows):
    assert grows_by_inserts(kind, properties, deletes=deletes) is grows
