"""Draws the config and the steps of each kind of sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from differential import (
    draw_changes,
    draw_columns,
    draw_dates,
    draw_deletes,
    draw_microbatch,
    draw_snapshots,
    draw_times,
    draw_widened,
)
from differential.chooser import Chooser
from differential.draw_columns import Columns, Spoil
from differential.plan import Batch, Operation, Plan, Step

_MODES: Final = ("ignore", "append_new_columns", "sync_all_columns", "fail")
_SUMS: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("sum", "max", "min", "last_value", "last_non_null_value", "first_value", "first_non_null_value"),
    "string": ("listagg", "max", "last_value", "first_value"),
    "boolean": ("bool_or", "bool_and"),
    "date": ("min", "max", "last_non_null_value"),
}


def _table(c: Chooser, *, keyed: bool, parts: int = 40, sequence: int = 0) -> tuple[dict[str, Any], Columns]:
    """The config and the columns that most kinds of sequences have in common.

    Args:
        c: makes the choices.
        keyed: whether there is a primary key.
        parts: the chance of partitions, in percent.
        sequence: the chance of a sequence field, in percent.
    """
    config: dict[str, Any] = {"materialized": "incremental", "on_schema_change": c.pick(_MODES)}
    key = ("id", c.pick(("int", "string", "bigint", "date")))
    columns = Columns(key=key, values=draw_columns.value_columns(c))
    if c.chance(parts):
        columns.part = ("part", c.pick(("string", "int", "date", "boolean")))
        config["partition_by"] = ["part"]
    if keyed:
        crosses = columns.part is not None and c.chance(40)
        config["primary_key"] = ["id"] if columns.part is None or crosses else ["id", "part"]
        if sequence and not crosses and c.chance(sequence):
            columns.sequence = ("seq", c.pick(("int", "timestamp", "string")))
            config["sequence_field"] = "seq"
        # The key's type decides on auto or dynamic buckets: one more random choice would change all later sequences.
        if not crosses and c.chance(50):
            config["bucket"] = c.pick((1, 2))
            if config["bucket"] == 2 and key[1] in ("string", "date"):
                config["bucket"] = "auto"
        elif not crosses and key[1] in ("int", "string"):
            config["bucket"] = -1
    elif c.chance(30):
        config |= {"bucket": 2, "bucket_key": "id"}
    return config, columns


def _plan(c: Chooser, zone: str, family: str, config: dict[str, Any], columns: Columns, **how: Any) -> Plan:
    spoil = Spoil(plain=how.pop("plain", False), keyed=bool(config.get("primary_key")))
    # Draw more NULL keys where Paimon does not refuse them: in MERGE, and if keys move between partitions.
    unseen = family == "merge" or set(config.get("partition_by", ())) - set(config.get("primary_key", ()))
    spoil.nulls = 35 if unseen else 6
    steps, tags = [], []
    for number in range(c.number(2, 4)):
        batch, traits = columns.step(c, number, config, spoil)
        refresh = number > 0 and c.chance(how.get("refresh", 12))
        if refresh:
            tags.clear()
        operations = draw_columns.operations(c, number, tags) if how.get("operations", True) else ()
        steps.append(Step(batch, full_refresh=refresh, operations=operations, traits=traits))
    if columns.plain_case(c, config):
        steps = [Step(s.batch, s.full_refresh, s.window, s.operations, s.consumers, s.traits + "e") for s in steps]
    return Plan(0, family, zone, config, tuple(steps))


def append(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=False)
    columns.repeat = True
    return _plan(c, zone, "append", config | {"incremental_strategy": "append"}, columns)


def upsert(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=True, sequence=50)
    if c.chance(40):
        config["changelog_producer"] = c.pick(("lookup", "full-compaction", "input"))
    return _plan(c, zone, "upsert", config, columns)


def first_row(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=True, parts=0)
    return _plan(c, zone, "upsert", config | {"merge_engine": "first-row"}, columns, operations=False)


def partial_update(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=True, parts=20)
    config = {
        **config,
        "primary_key": ["id", "part"] if columns.part else ["id"],
        "merge_engine": "partial-update",
    }
    config["incremental_strategy"] = c.pick(("upsert", "partial_update"))
    if c.chance(50):
        columns.values += [("g_no", "int"), ("g_v", "string"), ("g_sum", "int")]
        columns.never_null.add("g_no")
        columns.small.add("g_sum")
        columns.fixed |= {"g_no", "g_v", "g_sum"}
        config["fields"] = {
            "g_no": {"sequence_group": ["g_v", "g_sum"]},
            "g_sum": {"aggregate_function": "sum"},
        }
    return _plan(c, zone, "partial_update", config, columns)


def aggregation(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=True, parts=20)
    columns.values = []
    config["primary_key"] = ["id", "part"] if columns.part else ["id"]
    fields: dict[str, Any] = {}
    for number in range(c.number(1, 4)):
        kind = c.pick(tuple(_SUMS))
        function = c.pick(_SUMS[kind])
        name = f"a{number}"
        columns.values.append((name, kind))
        columns.small.add(name)
        columns.fixed.add(name)
        fields[name] = {"aggregate_function": function}
    config |= {"merge_engine": "aggregation", "fields": fields}
    return _plan(c, zone, "upsert", config, columns)


def merge(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=c.chance(50))
    if config.get("primary_key") == ["id"] and columns.part:
        config["primary_key"] = ["id", "part"]
    if "primary_key" not in config:
        config["unique_key"] = "id"
    names = [name for name, _ in columns.values]
    pick = c.number(0, 3)
    if pick == 1:
        config["merge_update_columns"] = names[:1]
    elif pick == 2:
        config["merge_exclude_columns"] = names[:1]
    elif pick == 3:
        columns.values.append(("gone", "boolean"))
        config["merge_delete_condition"] = "DBT_INTERNAL_SOURCE.gone"
    columns.fixed |= {*names[:1], "gone"}
    return _plan(c, zone, "merge", config | {"incremental_strategy": "merge"}, columns)


def delete_insert(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=c.chance(50), parts=30)
    if config.get("primary_key") == ["id"] and columns.part:
        config["primary_key"] = ["id", "part"]
    columns.values.append(("grp", "int"))
    columns.fixed.add("grp")
    columns.never_null.add("grp")
    columns.small.add("grp")
    config |= {"incremental_strategy": "delete+insert", "unique_key": "grp"}
    return _plan(c, zone, "delete_insert", config, columns)


def insert_overwrite(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=c.chance(50), parts=100)
    if "primary_key" in config:
        config["primary_key"] = ["id", "part"]
    return _plan(c, zone, "insert_overwrite", config | {"incremental_strategy": "insert_overwrite"}, columns)


def table(c: Chooser, zone: str) -> Plan:
    config, columns = _table(c, keyed=c.chance(50))
    del config["on_schema_change"]
    return _plan(c, zone, "table", config | {"materialized": "table"}, columns)


def apply_changes(c: Chooser, zone: str) -> Plan:
    config: dict[str, Any] = {
        "materialized": "incremental",
        "incremental_strategy": "apply_changes",
        "primary_key": ["id"],
        "rowkind_field": "op",
        "sequence_field": "seq",
    }
    kind = c.pick(("int", "string"))
    columns = (("id", kind), ("op", "string"), ("seq", "int"), ("v", c.pick(("string", "int", "double"))))
    steps = []
    for number in range(c.number(2, 5)):
        rows, used = [], set()
        for _ in range(c.number(0, 6)):
            key, order = c.pick(draw_columns.pool(kind)[:3]), c.number(0, 8)
            words = ("+I", "+U", "-D", "insert", "UPDATE", "delete", "c", "r", "u", "d", "-U")
            if (key, order) not in used:
                used.add((key, order))
                # A change that a later step repeats, with the same `order`, has the same value.
                rows.append((key, c.pick(words), order, draw_columns.pool(columns[3][1])[order % 3]))
        operations = (Operation("compact"),) if c.chance(25) else ()
        steps.append(Step(Batch(columns, tuple(rows)), number > 0 and c.chance(12), operations=operations))
    return Plan(0, "apply_changes", zone, config, tuple(steps))


FAMILIES: Final[Mapping[str, Callable[[Chooser, str], Plan]]] = {
    "append": append,
    "upsert": upsert,
    "microbatch": draw_microbatch.microbatch,
    "merge": merge,
    "partial_update": partial_update,
    "changes": draw_changes.changes,
    "insert_overwrite": insert_overwrite,
    "aggregation": aggregation,
    "delete_insert": delete_insert,
    "table": table,
    "apply_changes": apply_changes,
    "snapshot": draw_snapshots.of_one_column,
    "first_row": first_row,
    "removals": draw_deletes.removals,
    "times": draw_times.times,
    "deletes": draw_deletes.of_rows,
    "partition_deletes": draw_deletes.of_partitions,
    "row_kind_deletes": draw_deletes.of_change_rows,
    "key_deletes": draw_deletes.of_keys,
    "snapshot_of_pairs": draw_snapshots.of_pairs,
    "dates": draw_dates.calls,
    "widened": draw_widened.widened,
}
