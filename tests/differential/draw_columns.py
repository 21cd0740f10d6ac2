"""Draws the columns, rows, schema changes and maintenance of most kinds of sequences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from differential import values
from differential.chooser import Chooser
from differential.plan import Batch, Operation

# Types with struct fields are drawn more often.
_KINDS: Final = (*values.POOLS, *values.REORDERED, *values.REORDERED)
PLAIN: Final = tuple(kind for kind in _KINDS if "<" not in kind)


def pool(kind: str) -> tuple[Any, ...]:
    return values.POOLS[kind]


def value_columns(c: Chooser, nested: bool = True) -> list[tuple[str, str]]:
    return [(f"v{number}", c.pick(_KINDS if nested else PLAIN)) for number in range(c.number(1, 4))]


@dataclass
class Spoil:
    """How often a sequence tries steps that must be refused, or that once met a defect."""

    plain: bool
    keyed: bool
    # The chance of a NULL in a key, in percent.
    nulls: int = 6


@dataclass
class Columns:
    """The current columns of a model's query; `fixed` ones are not dropped, because the config names them."""

    key: tuple[str, str]
    values: list[tuple[str, str]]
    part: tuple[str, str] | None = None
    sequence: tuple[str, str] | None = None
    repeat: bool = False
    fixed: set[str] = field(default_factory=set)
    never_null: set[str] = field(default_factory=set)
    small: set[str] = field(default_factory=set)

    def all(self) -> list[tuple[str, str]]:
        return [column for column in (self.key, self.part, self.sequence, *self.values) if column]

    def step(self, c: Chooser, number: int, config: dict[str, Any], spoil: Spoil) -> tuple[Batch, str]:
        """The batch of a step, and the letters of the known defects that it may meet."""
        traits = ""
        if number and not spoil.plain:
            self._change(c, number, config)
        columns, lossy = self.all(), None
        if number and not spoil.plain:
            columns, lossy, traits = self._once(c, columns, config.get("on_schema_change", ""))
        rows = self._rows(c, columns, lossy, number)
        if not spoil.plain and spoil.keyed and rows and c.chance(spoil.nulls):
            # NULL in a key
            names = list(config["primary_key"] + config.get("partition_by", []))
            at = [name for name, _ in columns].index(c.pick(names))
            rows[0] = tuple(None if place == at else value for place, value in enumerate(rows[0]))
            traits += "b"
        if c.chance(25):
            columns, rows = _turned(columns, rows)
        return Batch(tuple(columns), tuple(rows)), traits

    def plain_case(self, c: Chooser, config: dict[str, Any]) -> bool:
        """Sometimes write a name in the config in another case than the column's; returns whether it did."""
        if not c.chance(20):
            return False
        keys = [key for key in ("primary_key", "partition_by", "sequence_field", "bucket_key") if key in config]
        if not keys:
            return False
        # Without a primary key, the first run accepts partition_by in another case.
        key = "partition_by" if "partition_by" in keys and "primary_key" not in keys else c.pick(keys)
        value = config[key]
        config[key] = value.upper() if isinstance(value, str) else [name.upper() for name in value]
        return True

    def _change(self, c: Chooser, number: int, config: dict[str, Any]) -> None:
        """Sometimes add, drop or widen a column, for the rest of the sequence."""
        mode = config.get("on_schema_change")
        if not c.chance(25):
            return
        if c.chance(50) or not self.values:
            self.values.insert(c.number(0, len(self.values)), (f"v{10 + number}", c.pick(_KINDS)))
            return
        at = c.number(0, len(self.values) - 1)
        name, kind = self.values[at]
        if name in self.fixed:
            return
        if kind in values.WIDER and mode in ("sync_all_columns", None) and c.chance(50):
            self.values[at] = (name, values.WIDER[kind])
        elif len(self.values) > 1:
            del self.values[at]

    def _once(
        self, c: Chooser, columns: list[tuple[str, str]], mode: str
    ) -> tuple[list[tuple[str, str]], str | None, str]:
        """Sometimes change a column's type in one batch: reordered struct fields, or values that do not fit."""
        free = [(name, kind) for name, kind in self.values if name not in self.fixed]
        structs = [column for column in free if column[1] in values.REORDERED]
        if structs and c.chance(40):
            name, kind = c.pick(structs)
            return _retyped(columns, name, values.REORDERED[kind]), None, "c"
        narrow = [column for column in free if column[1] in values.LOSSY]
        # sync_all_columns and a rebuild change the type of the table; `fail` refuses any other type.
        if narrow and mode in ("ignore", "append_new_columns") and c.chance(60):
            name, kind = c.pick(narrow)
            return _retyped(columns, name, c.pick(values.LOSSY[kind])), name, "h"
        return columns, None, ""

    def _rows(
        self, c: Chooser, columns: list[tuple[str, str]], lossy: str | None, number: int
    ) -> list[tuple[Any, ...]]:
        keys = c.some(pool(self.key[1])[:4], 60)
        if self.repeat and keys and c.chance(50):
            keys += [keys[0]]
        return [tuple(self._value(c, name, kind, key, lossy, number) for name, kind in columns) for key in keys]

    def _value(self, c: Chooser, name: str, kind: str, key: Any, lossy: str | None, number: int) -> Any:
        if name == self.key[0]:
            return key
        if self.sequence and name == self.sequence[0]:
            return sequence_value(kind, max(0, number + c.pick((0, 0, 1, -1, -2))))
        if name == lossy:
            return c.pick(values.LOSSY_VALUES[kind])
        if kind not in values.POOLS:
            return _reordered(c, kind)
        if self.part and name == self.part[0]:
            # Paimon stores a partition of empty or blank text in the same folder as NULL.
            choices = [value for value in pool(kind) if value not in ("", " ")][:3]
            return c.pick(choices)
        if name not in self.never_null and c.chance(20):
            return None
        choices = [value for value in pool(kind) if value != ""] if name in self.small else pool(kind)
        return c.pick(choices[:3] if name in self.small else choices)


def sequence_value(kind: str, number: int) -> Any:
    if kind == "timestamp":
        return f"2024-03-{10 + number:02} 00:00:00.00000{number}"
    return f"s{number:02}" if kind == "string" else number


def operations(c: Chooser, number: int, tags: list[str]) -> tuple[Operation, ...]:
    """Maintenance after a run; `tags` are the existing tags, and are updated."""
    found = []
    if c.chance(12):
        found.append(Operation("compact"))
    if c.chance(12):
        found.append(Operation("create_tag", {"tag": f"t{number}"}))
        tags.append(f"t{number}")
    if c.chance(8):
        found.append(Operation("expire_snapshots", {"retain_max": 1, "retain_min": 1}))
    if tags and c.chance(15):
        tag = c.pick(tags)
        found.append(Operation("rollback_to", {"version": tag}))
        del tags[tags.index(tag) + 1 :]
    return tuple(found)


def _retyped(columns: list[tuple[str, str]], changed: str, kind: str) -> list[tuple[str, str]]:
    return [(name, kind if name == changed else old) for name, old in columns]


def _reordered(c: Chooser, kind: str) -> Any:
    """A value of a type with reordered fields, or of a widened type."""
    for old, new in (*values.REORDERED.items(), *values.WIDER.items()):
        if new == kind and old in values.POOLS:
            return c.pick(values.POOLS[old])
    raise KeyError(kind)


def _turned(
    columns: list[tuple[str, str]], rows: list[tuple[Any, ...]]
) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    """The columns and the rows' values in reverse order, because columns are matched by name."""
    return columns[::-1], [row[::-1] for row in rows]
