"""Sequences of a table whose old snapshots and orphan files are removed by a time in the session's time zone."""

from __future__ import annotations

from typing import Any

from differential.chooser import Chooser
from differential.plan import Batch, Operation, Plan, Step

_HOURS = (3, 8, 15, 26, 40)


def times(c: Chooser, zone: str) -> Plan:
    config: dict[str, Any] = {"materialized": c.pick(("table", "incremental"))}
    if c.chance(50):
        config |= {"primary_key": ["id"], "bucket": 1}
    elif config["materialized"] == "incremental":
        config["incremental_strategy"] = "append"
    steps = []
    for number in range(c.number(3, 4)):
        rows = tuple((10 * number + key, c.number(0, 9)) for key in (c.some((1, 2, 3), 60) or [1]))
        operations = []
        for name in c.some(("remove_orphans", "expire_partitions"), 40):
            hours = c.pick(_HOURS)
            # Ages below and above the limit, by less and by more than a time zone's offset from UTC.
            ages = [age for age in (hours + c.pick((-10, -6, -2, 2, 6, 10)) for _ in range(4)) if age > 0]
            operations.append(Operation(name, {"hours": hours, "ages": ages}))
        if number and c.chance(20):
            operations.append(Operation("rollback_to", {"after": c.number(0, number - 1)}))
        elif number and c.chance(70):
            after = c.number(0, number)
            operations.append(Operation("expire_older", {"after": after, "retain_min": c.pick((1, 1, 2))}))
        steps.append(Step(Batch((("id", "int"), ("n", "int")), rows), operations=tuple(operations)))
    return Plan(0, "times", zone, config, tuple(steps))
