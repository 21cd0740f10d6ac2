"""Sequences with deletes between the runs: what a condition deletes, and what a model sees that reads the changes."""

from __future__ import annotations

from typing import Any, Final

from differential import conditions
from differential.chooser import Chooser
from differential.plan import Batch, Condition, Operation, Plan, Step

_PARTS: Final = ("", " ", "a")
# What conditions compare with; without a key each batch has ids of its own.
_NUMBERS: Final[dict[str, tuple[Any, ...]]] = {"n": (15, 10, 20), "id": (1, 3, 12, 14, 22)}
_KEYED: Final = {"n": (15, 10, 20), "id": (1, 2, 3, 4)}
_FIRST: Final = {"merge_engine": "first-row"}
_PARTIAL: Final = {"merge_engine": "partial-update", "fields": {}}
_SUMS: Final = {
    "merge_engine": "aggregation",
    "fields": {"n": {"aggregate_function": "sum"}, "v": {"aggregate_function": "last_non_null_value"}},
}
_ROW_KIND: Final = {"rowkind_field": "op"}
_CHANGES: Final = {"incremental_strategy": "apply_changes", "rowkind_field": "op", "sequence_field": "seq"}
_LAYOUTS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"tblproperties": {"file.format": "orc"}},
    {"bucket": 2, "bucket_key": "id"},
    {"tblproperties": {"deletion-vectors.enabled": True}},
)
_COLUMNS: Final = (("id", "int"), ("n", "int"), ("v", "string"))
_KEY: Final = {"materialized": "incremental", "primary_key": ["id"], "bucket": 1}
_APPEND: Final = {"materialized": "incremental", "incremental_strategy": "append"}


def of_rows(c: Chooser, zone: str) -> Plan:
    """Conditions that are NULL for some rows of a table without a key."""
    return _deletes(c, "deletes", zone, _APPEND | c.pick(_LAYOUTS), _COLUMNS, _NUMBERS)


def of_partitions(c: Chooser, zone: str) -> Plan:
    """Partitions of blank text and of NULL."""
    config = _APPEND | c.pick(_LAYOUTS[:2]) | {"partition_by": ["part"]}
    return _deletes(
        c, "partition_deletes", zone, config, (*_COLUMNS, ("part", "string")),
        {"part": _PARTS} | (_NUMBERS if c.chance(40) else {}),
    )  # fmt: skip


def of_change_rows(c: Chooser, zone: str) -> Plan:
    """Tables in which a column says what a row does."""
    config = c.pick((_ROW_KIND, _CHANGES))
    columns = (*_COLUMNS, ("op", "string"), *([("seq", "int")] if config is _CHANGES else []))
    return _deletes(c, "row_kind_deletes", zone, _KEY | config, columns, _KEYED)


def of_keys(c: Chooser, zone: str) -> Plan:
    """Tables with a key, of each merge engine."""
    config = _KEY | c.pick((_FIRST, _PARTIAL, _FIRST, _SUMS, _FIRST))
    return _deletes(c, "key_deletes", zone, config, _COLUMNS, _KEYED)


def _deletes(
    c: Chooser, family: str, zone: str, config: dict[str, Any], columns: tuple[tuple[str, str], ...],
    compared: dict[str, tuple[Any, ...]],
) -> Plan:  # fmt: skip
    steps = []
    for number in range(c.number(2, 3)):
        operations = [Operation("compact")] if config.get("primary_key") and c.chance(60) else []
        # In this order, as one that is refused leaves the rows for the next.
        operations += [
            Operation("delete", {"by": by, "where": _where(c, compared)})
            for by in ("hook", *c.some(("delete_rows",), 60))
        ]
        steps.append(Step(_batch(c, config, columns, number), operations=tuple(operations)))
    # What a run does to the rows that are left after the last deletes.
    return Plan(0, family, zone, config, (*steps, Step(_batch(c, config, columns, len(steps)))))


def _where(c: Chooser, compared: dict[str, tuple[Any, ...]]) -> Condition:
    """Half of them are one comparison of the first column, which is NULL for some rows."""
    if c.chance(50):
        name = next(iter(compared))
        return [name, c.pick(("<", ">", "=", "<>", "<=", ">=")), c.pick(compared[name])]
    return conditions.drawn(c, compared, depth=1)


def removals(c: Chooser, zone: str) -> Plan:
    """Deletes by every program from a source of every merge engine, whose changes a model reads."""
    # More of those whose deletes Spark writes by rewriting files.
    engine = c.pick((_PARTIAL, _SUMS, _PARTIAL, _SUMS, _FIRST, _PARTIAL, _SUMS, {}, _ROW_KIND, None))
    config = _APPEND if engine is None else _KEY | engine
    columns = _COLUMNS
    programs: tuple[str, ...] = ("delete", "hook", "delete", "merge", "hook", "overwrite")
    if engine is _FIRST:
        # The DELETE of another program hides the other rows until a compaction.
        programs = ("hook", "merge", "overwrite")
    if engine is _ROW_KIND:
        columns, programs = (*_COLUMNS, ("op", "string")), ("row kind",)
    if engine == {} and c.chance(50):
        config = config | {"changelog_producer": c.pick(("lookup", "full-compaction", "input"))}
    steps = []
    for number in range(c.number(2, 3)):
        # Spark deletes from most tables only what is compacted.
        operations = [Operation("compact")] if c.chance(75) else []
        # Of one program: with an overwrite among the commits the tables are compared.
        by = c.pick(programs)
        operations += [Operation("delete", {"by": by, "where": _of_keys(c)}) for _ in range(c.number(1, 2))]
        consumers = (1,) if number == 0 or c.chance(85) else ()
        batch = _batch(c, config, columns, number)
        steps.append(Step(batch, operations=tuple(operations), consumers=consumers))
    # The consumer's last run sees the last deletes.
    return Plan(0, "removals", zone, config, (*steps, Step(Batch(columns, ()), consumers=(1,))))


def _of_keys(c: Chooser) -> Condition:
    """One key or some: what matters is who deletes them."""
    return c.pick((["id", "=", 2], ["id", "<=", 2], ["id", "in", [1, 3]], ["id", ">", 3]))


def _batch(c: Chooser, config: dict[str, Any], columns: tuple[tuple[str, str], ...], number: int) -> Batch:
    # Most deleted keys do not come again at once.
    keys = c.some((1, 2, 3, 4, 5), 25 if number and config.get("primary_key") else 75)
    if not config.get("primary_key"):
        keys = [10 * number + key for key in keys]
    return Batch(columns, tuple(tuple(_value(c, name, key, number) for name, _ in columns) for key in keys))


def _value(c: Chooser, name: str, key: int, number: int) -> Any:
    if name == "n":
        return c.pick((10, 20, None))
    if name == "v":
        return c.pick(("a", "b"))
    return c.pick((*_PARTS, None)) if name == "part" else {"id": key, "op": "+I", "seq": number}[name]
