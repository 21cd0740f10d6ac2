"""Sequences with deletes between runs: which rows a condition deletes, and which changes a consumer reads."""

from __future__ import annotations

from typing import Any, Final

from differential import conditions
from differential.chooser import Chooser
from differential.plan import Batch, Condition, Operation, Plan, Step

_PARTS: Final = ("", " ", "a")
# Values that conditions compare columns with. In tables without a key, ids differ from batch to batch.
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
    """Deletes from a table without a key, by conditions that are NULL for some rows."""
    return _deletes(c, "deletes", zone, _APPEND | c.pick(_LAYOUTS), _COLUMNS, _NUMBERS)


def of_partitions(c: Chooser, zone: str) -> Plan:
    """Deletes from a table with partitions of blank text and of NULL."""
    config = _APPEND | c.pick(_LAYOUTS[:2]) | {"partition_by": ["part"]}
    return _deletes(
        c, "partition_deletes", zone, config, (*_COLUMNS, ("part", "string")),
        {"part": _PARTS} | (_NUMBERS if c.chance(40) else {}),
    )  # fmt: skip


def of_change_rows(c: Chooser, zone: str) -> Plan:
    """Deletes from a table with a rowkind_field."""
    config = c.pick((_ROW_KIND, _CHANGES))
    columns = (*_COLUMNS, ("op", "string"), *([("seq", "int")] if config is _CHANGES else []))
    return _deletes(c, "row_kind_deletes", zone, _KEY | config, columns, _KEYED)


def of_keys(c: Chooser, zone: str) -> Plan:
    """Deletes from a table with a key and a merge engine other than deduplicate."""
    config = _KEY | c.pick((_FIRST, _PARTIAL, _FIRST, _SUMS, _FIRST))
    return _deletes(c, "key_deletes", zone, config, _COLUMNS, _KEYED)


def _deletes(
    c: Chooser, family: str, zone: str, config: dict[str, Any], columns: tuple[tuple[str, str], ...],
    compared: dict[str, tuple[Any, ...]],
) -> Plan:  # fmt: skip
    steps = []
    for number in range(c.number(2, 3)):
        operations = [Operation("compact")] if config.get("primary_key") and c.chance(60) else []
        # The hook comes first: if it is refused, it leaves the rows for delete_rows.
        operations += [
            Operation("delete", {"by": by, "where": _where(c, compared)})
            for by in ("hook", *c.some(("delete_rows",), 60))
        ]
        steps.append(Step(_batch(c, config, columns, number), operations=tuple(operations)))
    # The last step shows what a run does to the rows that the last deletes left.
    return Plan(0, family, zone, config, (*steps, Step(_batch(c, config, columns, len(steps)))))


def _where(c: Chooser, compared: dict[str, tuple[Any, ...]]) -> Condition:
    """A condition. Half of all conditions compare only the first column, which is NULL for some rows."""
    if c.chance(50):
        name = next(iter(compared))
        return [name, c.pick(("<", ">", "=", "<>", "<=", ">=")), c.pick(compared[name])]
    return conditions.drawn(c, compared, depth=1)


def removals(c: Chooser, zone: str) -> Plan:
    """Deletes by all kinds of programs from a source of any merge engine, whose changes a model reads."""
    # Mostly engines for which Spark's deletes rewrite files.
    engine = c.pick((_PARTIAL, _SUMS, _PARTIAL, _SUMS, _FIRST, _PARTIAL, _SUMS, {}, _ROW_KIND, None))
    config = _APPEND if engine is None else _KEY | engine
    columns = _COLUMNS
    programs: tuple[str, ...] = ("delete", "hook", "delete", "merge", "hook", "overwrite")
    if engine is _FIRST:
        # Another program's DELETE hides the remaining rows until a compaction.
        programs = ("hook", "merge", "overwrite")
    if engine is _ROW_KIND:
        columns, programs = (*_COLUMNS, ("op", "string")), ("row kind",)
    if engine == {} and c.chance(50):
        config = config | {"changelog_producer": c.pick(("lookup", "full-compaction", "input"))}
    steps = []
    for number in range(c.number(2, 3)):
        # From most of these tables, Spark can delete only compacted rows.
        operations = [Operation("compact")] if c.chance(75) else []
        # One program per step: an overwrite makes the consumer compare whole tables instead of reading commits.
        by = c.pick(programs)
        operations += [Operation("delete", {"by": by, "where": _of_keys(c)}) for _ in range(c.number(1, 2))]
        consumers = (1,) if number == 0 or c.chance(85) else ()
        batch = _batch(c, config, columns, number)
        steps.append(Step(batch, operations=tuple(operations), consumers=consumers))
    # The consumer's last run sees the last deletes.
    return Plan(0, "removals", zone, config, (*steps, Step(Batch(columns, ()), consumers=(1,))))


def _of_keys(c: Chooser) -> Condition:
    """A condition on one or several keys; simple, because only the deleting program matters here."""
    return c.pick((["id", "=", 2], ["id", "<=", 2], ["id", "in", [1, 3]], ["id", ">", 3]))


def _batch(c: Chooser, config: dict[str, Any], columns: tuple[tuple[str, str], ...], number: int) -> Batch:
    # Most deleted keys are not in the next batch.
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
