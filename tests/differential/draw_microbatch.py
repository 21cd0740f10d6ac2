"""Microbatch sequences: batches by event_time, rerun over the whole range or a part of it."""

from __future__ import annotations

from typing import Any

from differential.chooser import Chooser
from differential.plan import Batch, Plan, Step

# The time of the row with each id. New York's clocks change on 2024-03-10.
_DAYS = (
    "2024-03-09 23:59:59.999999",
    "2024-03-10 00:00:00.000000",
    "2024-03-10 02:30:00.000000",
    "2024-03-10 05:00:00.000000",
    "2024-03-10 07:30:00.000000",
    "2024-03-10 18:30:00.000000",
    "2024-03-11 00:00:00.000000",
    "2024-03-11 04:00:00.000000",
)
_HOURS = ("2024-03-10 05:30:00.000000", "2024-03-10 06:00:00.000000", "2024-03-10 07:59:59.999999")
# Contains these times in every time zone.
WHOLE = ("2024-03-09", "2024-03-13")


def microbatch(c: Chooser, zone: str) -> Plan:
    kind = c.pick(("timestamp", "timestamp_ntz", "date"))
    zoned = zone != "UTC" and kind != "timestamp"
    hourly = kind != "date" and c.chance(20)
    times = _HOURS if hourly else tuple(at[:10] for at in _DAYS) if kind == "date" else _DAYS
    whole = ("2024-03-10 05:00:00", "2024-03-10 08:00:00") if hourly else WHOLE
    config: dict[str, Any] = {
        "materialized": "incremental",
        "incremental_strategy": "microbatch",
        "event_time": "at",
        "batch_size": "hour" if hourly else "day",
        "begin": "2024-03-09",
        "on_schema_change": c.pick(("append_new_columns", "sync_all_columns")),
    }
    partitioned = c.chance(60)
    if partitioned:
        config["partition_by"] = ["part"]
    nulls = partitioned and c.chance(50)
    if c.chance(40) and not nulls:
        config["primary_key"] = ["id", "part"] if partitioned else ["id"]
    parts = [c.pick(("x", "y", None) if nulls else ("x", "y")) for _ in times]
    columns = [("id", "int"), ("at", kind), ("part", "string"), ("v0", "int"), ("v1", "string")]
    there: set[int] = set()
    steps = []
    for number in range(c.number(2, 3)):
        dropped = number > 0 and config["on_schema_change"] == "append_new_columns" and c.chance(30)
        given = [column for column in columns if not (dropped and column[0] == "v1")]
        # No row disappears, so a batch has rows in every partition of the rows that it replaces.
        there |= set(c.some(range(len(times)), 70))
        rows = [
            tuple(
                {
                    "id": key,
                    "at": times[key],
                    "part": parts[key],
                    "v0": number,
                    "v1": c.pick(("a", "", None)),
                }[name]
                for name, _ in given
            )
            for key in sorted(there)
        ]
        window = whole if number == 0 or hourly or not c.chance(80 if dropped else 40) else ("2024-03-10", "2024-03-11")
        traits = ("a" if nulls or dropped else "") + ("d" if zoned else "")
        steps.append(Step(Batch(tuple(given), tuple(rows)), window=window, traits=traits))
    return Plan(0, "microbatch", zone, config, tuple(steps))
