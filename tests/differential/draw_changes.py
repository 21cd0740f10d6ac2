"""Sequences of a source and two models that read its changes, with maintenance of the source in between."""

from __future__ import annotations

from typing import Any

from differential.chooser import Chooser
from differential.plan import Batch, Operation, Plan, Step

_KEYS = (1, 2, 3, 4)


def changes(c: Chooser, zone: str) -> Plan:
    config: dict[str, Any] = {"materialized": "incremental", "primary_key": ["id"]}
    if c.chance(60):
        config["changelog_producer"] = c.pick(("lookup", "full-compaction", "input"))
    if c.chance(60):
        config["bucket"] = c.pick((1, 2))
    way = c.pick(("upsert", "merge", "table"))
    if way == "merge":
        config |= {"incremental_strategy": "merge", "merge_delete_condition": "DBT_INTERNAL_SOURCE.gone"}
    elif way == "table":
        config["materialized"] = "table"
    columns = (("id", "int"), ("n", "int"), ("v", "string"), ("gone", "boolean"))
    steps, tags = [], []
    for number in range(c.number(3, 6)):
        rows = tuple(
            (key, c.number(0, 9), c.pick(("a", "b", None)), way == "merge" and c.chance(30))
            for key in c.some(_KEYS, 60)
        )
        refresh = number > 0 and way != "table" and c.chance(8)
        if refresh:
            tags.clear()
        operations = _operations(c, number, tags)
        consumers = tuple(range(1, 3)) if number == 0 else tuple(c.some((1, 2), 65))
        steps.append(Step(Batch(columns, rows), full_refresh=refresh, operations=operations, consumers=consumers))
    return Plan(0, "changes", zone, config, tuple(steps))


def _operations(c: Chooser, number: int, tags: list[str]) -> tuple[Operation, ...]:
    """More maintenance than elsewhere; it may remove table snapshots that a consumer has read."""
    found = []
    for name in c.some(("create_tag", "compact", "expire_snapshots", "rollback_to", "compact"), 25):
        if name == "create_tag":
            found.append(Operation(name, {"tag": f"t{number}"}))
            tags.append(f"t{number}")
        elif name == "expire_snapshots":
            found.append(Operation(name, {"retain_max": c.number(1, 3), "retain_min": 1}))
        elif name == "rollback_to" and tags:
            tag = c.pick(tags)
            found.append(Operation(name, {"version": tag}))
            del tags[tags.index(tag) + 1 :]
        elif name == "compact":
            found.append(Operation(name))
    return tuple(found)
