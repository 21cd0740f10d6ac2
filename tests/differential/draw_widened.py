"""Sequences in which a column is widened, with filters on it after each run."""

from __future__ import annotations

from typing import Any, Final

from differential import conditions
from differential.chooser import Chooser
from differential.plan import Batch, Condition, Operation, Plan, Step

_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "tinyint": (5, -7, 127),
    "smallint": (5, 300, -7),
    "int": (5, -7, 2**31 - 1),
    "bigint": (5, 3000000000, -3000000000),
    "float": ("1.5", "-2.25"),
    "double": ("5.0", "3000000000.5", "-1.0E300"),
    "decimal(10,2)": ("1.50", "-99999999.99"),
    "decimal(12,2)": ("5.00", "9999999999.99"),
    "string": ("5", "9a", "x", ""),
}
# Values that a filter compares a widened column with. They do not fit the column's earlier type.
_LIMITS: Final[dict[str, tuple[Any, ...]]] = {
    "smallint": (300, -300),
    "int": (70000, -70000),
    "bigint": (3000000000, -3000000000),
    "double": ("5.5", "-7.5", "1.50000001", "-2.25000001"),
    "decimal(12,2)": ("5.50", "-7.50", "9999999999.99"),
    "string": ("9a", "50"),
}
# The types of a column, from run to run.
_WAYS: Final = (
    ("int", "bigint"),
    ("int", "double"),
    ("int", "bigint"),
    ("tinyint", "smallint", "int", "bigint"),
    ("float", "double"),
    ("int", "decimal(12,2)"),
    ("decimal(10,2)", "decimal(12,2)"),
    ("int", "string"),
    ("bigint", "string"),
)


def widened(c: Chooser, zone: str) -> Plan:
    config: dict[str, Any] = {
        "materialized": "incremental",
        "on_schema_change": "sync_all_columns",
        "tblproperties": {"file.format": c.pick(("parquet", "orc"))},
    }
    keyed = c.chance(20)
    if keyed:
        config |= {"primary_key": ["id"], "bucket": 1}
    else:
        config["incremental_strategy"] = "append"
    way = c.pick(_WAYS)
    steps, stage = [], 0
    for number in range(c.number(2, 4)):
        stage = min(len(way) - 1, stage + (number > 0 and (number == 1 or c.chance(60))))
        kind = way[stage]
        keys = c.some((1, 2, 3, 4), 60) or [1]
        rows = tuple(
            (key if keyed else 10 * number + key, None if c.chance(20) else c.pick(_VALUES[kind])) for key in keys
        )
        filters = tuple(_filter(c, way[: stage + 1]) for _ in range(7))
        operations = (Operation("compact"),) if c.chance(10) else ()
        steps.append(Step(Batch((("id", "int"), ("v", kind)), rows), operations=operations, filters=filters))
    return Plan(0, "widened", zone, config, tuple(steps))


def _filter(c: Chooser, way: tuple[str, ...]) -> Condition:
    """A comparison: mostly with a value that does not fit the column's earlier type, sometimes with any value."""
    limits = _LIMITS.get(way[-1], ())
    if limits and c.chance(70):
        return ["v", c.pick(("<", ">", "<=", ">=", "=", "<>")), c.pick(limits)]
    # Not <=> and other filters that are never NULL: with them, Paimon 0.9 wrongly skips files of NULLs in any table.
    return conditions.drawn(c, {"v": (*_VALUES[way[-1]], *limits)}, depth=1, sure=False)
