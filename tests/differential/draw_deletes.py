"""Sequences with deletes between the runs: what a condition deletes, and what a model sees that reads the changes."""

from __future__ import annotations

from typing import Any, Final

from differential import conditions
from differential.chooser import Chooser
from differential.plan import Batch, Operation, Plan, Step

_PARTS: Final = ("a", "", " ", "b")
_COMPARED: Final[dict[str, tuple[Any, ...]]] = {"id": (1, 2, 3), "n": (15, 10, 20)}
_FIRST: Final = {"merge_engine": "first-row"}
_PARTIAL: Final = {"merge_engine": "partial-update", "fields": {}}
_SUMS: Final = {
    "merge_engine": "aggregation",
    "fields": {"n": {"aggregate_function": "sum"}, "v": {"aggregate_function": "last_non_null_value"}},
}
_ROW_KIND: Final = {"rowkind_field": "op"}
_CHANGES: Final = {"incremental_strategy": "apply_changes", "rowkind_field": "op", "sequence_field": "seq"}
_VECTORS: Final = {"tblproperties": {"deletion-vectors.enabled": True}}
_FORMATS: Final = ({}, {"tblproperties": {"file.format": "orc"}})


def deletes(c: Chooser, zone: str) -> Plan:
    """A DELETE of dbt's with conditions that are NULL for some rows."""
    keyed = c.pick((None, None, {}, _ROW_KIND, _FIRST, _CHANGES))
    config: dict[str, Any] = {"materialized": "incremental"}
    compared = dict(_COMPARED)
    columns = [("id", "int"), ("n", "int"), ("v", "string")]
    if keyed is None:
        config |= {"incremental_strategy": "append", **c.pick((*_FORMATS, _VECTORS))}
        if c.chance(60):
            config["partition_by"] = ["part"]
            columns.append(("part", "string"))
            compared |= {"part": _PARTS}
    else:
        config |= {"primary_key": ["id"], "bucket": 1, **keyed}
        columns += [
            (name, "string" if name == "op" else "int") for name in ("op", "seq") if name in keyed.values()
        ]
    return _plan(c, "deletes", zone, config, columns, compared, ("hook", "hook", "delete_rows"))


def removals(c: Chooser, zone: str) -> Plan:
    """Deletes by every program from a source of every merge engine, whose changes a model reads."""
    # Twice those whose deletes Spark writes by rewriting files.
    engine = c.pick((_PARTIAL, _SUMS, {}, _ROW_KIND, _PARTIAL, _SUMS, _FIRST, None))
    config: dict[str, Any] = {"materialized": "incremental"}
    columns = [("id", "int"), ("n", "int"), ("v", "string")]
    programs = ["delete", "hook", "merge", "overwrite"]
    if engine is None:
        config["incremental_strategy"] = "append"
    else:
        config |= {"primary_key": ["id"], "bucket": 1, **engine}
    if engine is _ROW_KIND:
        columns.append(("op", "string"))
        programs = ["row kind"]
    if engine == {} and c.chance(50):
        config["changelog_producer"] = c.pick(("lookup", "full-compaction", "input"))
    return _plan(c, "removals", zone, config, columns, {}, tuple(programs))


def _plan(
    c: Chooser, family: str, zone: str, config: dict[str, Any], columns: list[tuple[str, str]],
    compared: dict[str, tuple[Any, ...]], programs: tuple[str, ...],
) -> Plan:  # fmt: skip
    steps = []
    for number in range(c.number(2, 3)):
        keys = c.some((1, 2, 3, 4), 70)
        if not config.get("primary_key"):
            keys = [10 * number + key if number else key for key in keys]
        rows = tuple(tuple(_value(c, name, key, number) for name, _ in columns) for key in keys)
        # Spark deletes from most tables only what is compacted.
        operations = [Operation("compact")] if c.chance(75) else []
        for _ in range(c.number(1, 2)):
            where = conditions.drawn(c, compared, depth=1) if compared else _keys(c)
            operations.append(Operation("delete", {"by": c.pick(programs), "where": where}))
        consumers = (1,) if family == "removals" and (number == 0 or c.chance(75)) else ()
        steps.append(Step(Batch(tuple(columns), rows), operations=tuple(operations), consumers=consumers))
    # The consumer's last run sees the last deletes.
    last = Step(Batch(tuple(columns), ()), consumers=(1,) if family == "removals" else ())
    return Plan(0, family, zone, config, (*steps, last))


def _keys(c: Chooser) -> list[Any]:
    """One key or some: what matters is who deletes them."""
    return [["id", "=", c.number(1, 4)], ["id", "in", [1, 3]], ["id", ">", 2]][c.pick((0, 0, 1, 2))]


def _value(c: Chooser, name: str, key: int, number: int) -> Any:
    if name == "id":
        return key
    if name == "n":
        return c.pick((10, 20, None))
    if name == "part":
        return c.pick((*_PARTS, None))
    return {"op": "+I", "seq": number}.get(name) if name in ("op", "seq") else c.pick(("a", "b"))
