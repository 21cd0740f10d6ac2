"""Sequences in which a column becomes wider, with filters over it after each run."""

from __future__ import annotations

from typing import Any, Final

from differential import conditions
from differential.chooser import Chooser
from differential.plan import Batch, Operation, Plan, Step

_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "tinyint": (5, -7, 127),
    "smallint": (300, -7, 32767),
    "int": (5, -7, 0, 2**31 - 1),
    "bigint": (3000000000, -3000000000, 5),
    "float": ("1.5", "-2.25", "0.5"),
    "double": ("3000000000.5", "-1.0E300", "5.0"),
    "decimal(10,2)": ("1.50", "-99999999.99"),
    "decimal(12,2)": ("9999999999.99", "5.00"),
    "string": ("5", "9a", "x", ""),
}
# The types of a column, from run to run.
_WAYS: Final = (
    ("int", "bigint"),
    ("tinyint", "smallint", "int", "bigint"),
    ("float", "double"),
    ("int", "double"),
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
    keyed = c.chance(35)
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
            (key if keyed else 10 * number + key, None if c.chance(20) else c.pick(_VALUES[kind]))
            for key in keys
        )
        filters = tuple(_filter(c, way[: stage + 1]) for _ in range(6))
        operations = (Operation("compact"),) if c.chance(10) else ()
        steps.append(Step(Batch((("id", "int"), ("v", kind)), rows), operations=operations, filters=filters))
    return Plan(0, "widened", zone, config, tuple(steps))


def _filter(c: Chooser, way: tuple[str, ...]) -> list[Any]:
    """A comparison with values of the types that the column has had."""
    text = way[-1] == "string"
    kinds = way if c.chance(50) else way[-1:]
    compared = tuple(str(value) if text else value for kind in kinds for value in _VALUES[kind])
    # Paimon 0.9 leaves out files of NULLs where a filter is never NULL, also without a wider column.
    return conditions.drawn(c, {"v": compared}, depth=1, sure=False)
