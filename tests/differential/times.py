"""Operations with a time argument, and what they should leave according to the table's metadata files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any, Final
from zoneinfo import ZoneInfo

from tests.functional.conftest import CONNECTOR

from differential.dbt_runs import Project
from differential.plan import Operation, Plan
from differential.tables import Table

_HOUR: Final = 3600
# Seconds that may pass between a clock reading here and one by Spark or Paimon.
_MOMENT: Final = 0.5


@dataclass(frozen=True)
class _Snapshots:
    """The table snapshots in a folder: ID -> commit time in seconds."""

    times: Mapping[int, float]

    @classmethod
    def of(cls, folder: Path) -> _Snapshots:
        found = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / "snapshot").glob("snapshot-*")]
        return cls({data["id"]: data["timeMillis"] / 1000 for data in sorted(found, key=lambda data: data["id"])})

    def after_expiry(self, older_than: float, retain_min: int) -> list[int]:
        """The IDs that an expiry keeps: all that are not older, and at least the `retain_min` newest.

        From Paimon 2.0 on, also the newest of the older ones, which was current at that time.
        """
        numbers = list(self.times)
        kept = next((at for at, number in enumerate(numbers) if self.times[number] >= older_than), len(numbers))
        if CONNECTOR.release >= (2,):
            kept = max(kept - 1, 0)
        return numbers[min(kept, len(numbers) - retain_min) :]


class Clock:
    """The times at which the runs of a sequence ended, also as text in the session's time zone."""

    def __init__(self, project: Project, plan: Plan) -> None:
        self._project, self._plan = project, plan
        self._ends: list[float] = []
        # The table after each run, by the ID of its newest table snapshot.
        self._tables: dict[int, Table] = {}

    @property
    def folder(self) -> Path:
        return self._project.folder(self._plan.name)

    def run_ended(self, table: Table) -> None:
        """Note the first whole second after the run's commit, because times in text have no fractions."""
        times = _Snapshots.of(self.folder).times
        self._tables[max(times)] = table
        self._ends.append(float(int(max(times.values())) + 1))

    def after(self, step: int) -> float:
        return self._ends[step]

    def text(self, instant: float) -> str:
        return f"{datetime.fromtimestamp(instant, ZoneInfo(self._plan.zone)):%Y-%m-%d %H:%M:%S}"

    def table_at(self, instant: float) -> Table | None:
        """The table as of a time; None if its table snapshot is gone."""
        numbers = [number for number, at in _Snapshots.of(self.folder).times.items() if at <= instant]
        return self._tables.get(max(numbers)) if numbers else None

    def too_close(self, instant: float) -> bool:
        """Whether a commit is so close to a time that it may or may not count as older."""
        return any(-_MOMENT < at - instant < _MOMENT for at in _Snapshots.of(self.folder).times.values())


def expire(clock: Clock, project: Project, plan: Plan, operation: Operation) -> str:
    """Expire the table snapshots from before the end of a run; returns what differs, or ''."""
    older_than, retain = clock.after(operation.arguments["after"]), operation.arguments["retain_min"]
    if clock.too_close(older_than):
        return ""
    wanted = _Snapshots.of(clock.folder).after_expiry(older_than, retain)
    given = {"older_than": clock.text(older_than), "retain_min": retain, "retain_max": 100}
    fault = project.operate(plan.name, "expire_snapshots", given)
    found = list(_Snapshots.of(clock.folder).times)
    if fault or found != wanted:
        return f"expire_snapshots: expected {wanted}, found {found} {fault[:1000]}"
    return ""


def remove_orphans(clock: Clock, project: Project, plan: Plan, operation: Operation) -> str:
    """Put files of several ages into the table's folder and remove the older ones; returns what differs, or ''."""
    now, hours = time(), operation.arguments["hours"]
    folder = clock.folder / "manifest"
    ages = {f"orphan-{age}-{number}": age for number, age in enumerate(operation.arguments["ages"])}
    for name, age in ages.items():
        (folder / name).write_text("", encoding="utf-8")
        os.utime(folder / name, (now - age * _HOUR, now - age * _HOUR))
    wanted = sorted(name for name, age in ages.items() if age < hours)
    given = {"older_than": clock.text(now - hours * _HOUR), "dry_run": False}
    fault = project.operate(plan.name, "remove_orphan_files", given)
    found = sorted(path.name for path in folder.glob("orphan-*"))
    for name in found:
        (folder / name).unlink()
    if fault or found != wanted:
        return f"remove_orphan_files: older than {hours} h: expected {wanted}, found {found} {fault[:1000]}"
    return ""


def expire_partitions(clock: Clock, project: Project, plan: Plan, operation: Operation) -> str:
    """Create a table with partitions of several ages and drop the older ones; returns what differs, or ''.

    If the operation is refused, it drops no partition (docs/maintenance.md).
    """
    now, hours, ages = time(), operation.arguments["hours"], sorted(set(operation.arguments["ages"]))
    name = f"{plan.name}_by_hour"
    table, session = project.table(name), project.fresh_session()
    session.sql(f"drop table if exists {table}")
    session.sql(f"create table {table} (age int, hour string) using paimon partitioned by (hour)")
    rows = ", ".join(f"({age}, '{clock.text(now - age * _HOUR)}')" for age in ages)
    if rows:
        session.sql(f"insert into {table} values {rows}")
    given = {"expiration_time": f"{hours} h", "timestamp_formatter": "yyyy-MM-dd HH:mm:ss"}
    fault = project.operate(name, "expire_partitions", given)
    wanted = [age for age in ages if fault or age < hours]
    found = sorted(row["age"] for row in project.fresh_session().table(table).collect())
    if found != wanted:
        return f"expire_partitions: older than {hours} h: expected {wanted}, found {found} {fault[:1000]}"
    return ""


ACTS: Final[Mapping[str, Any]] = {
    "expire_older": expire,
    "remove_orphans": remove_orphans,
    "expire_partitions": expire_partitions,
}
