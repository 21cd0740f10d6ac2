"""Timestamps that came to Python on the machine's clock, shown on the session's."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from dbt.adapters.paimon.timestamps import on_session_clock


@pytest.fixture
def new_york(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NOON = datetime(2026, 7, 1, 12)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", datetime(2026, 7, 1, 16)),
        ("Z", datetime(2026, 7, 1, 16)),
        ("America/New_York", NOON),
        ("Asia/Kathmandu", datetime(2026, 7, 1, 21, 45)),
        ("+02:00", datetime(2026, 7, 1, 18)),
        ("no such zone", NOON),
    ],
)
@pytest.mark.usefixtures("new_york")
def test_zones(zone, expected):
    assert on_session_clock([(1, NOON)], ["int", "timestamp"], zone) == [(1, expected)]


@pytest.mark.usefixtures("new_york")
def test_left_alone():
    rows = [(NOON, None, [NOON], "x")]
    types = ["timestamp_ntz", "timestamp", "array<timestamp>", "string"]
    assert on_session_clock(rows, types, "UTC") == rows


@pytest.mark.usefixtures("new_york")
def test_the_hour_that_comes_twice():
    first, second = datetime(2026, 11, 1, 1, 30), datetime(2026, 11, 1, 1, 30, fold=1)
    assert on_session_clock([(first,), (second,)], ["timestamp"], "UTC") == [
        (datetime(2026, 11, 1, 5, 30),),
        (datetime(2026, 11, 1, 6, 30),),
    ]


@pytest.mark.usefixtures("new_york")
def test_the_ends_of_time():
    rows = [(datetime(1, 1, 1),), (datetime(9999, 12, 31, 23, 59),)]
    assert len(on_session_clock(rows, ["timestamp"], "Asia/Tokyo")) == 2
