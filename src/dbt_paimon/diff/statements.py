"""The SQL that compares two sides of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.metadata.partitions import partition_values
from dbt.adapters.paimon.sql.text import quoted, string_literal

# Types whose values in the column `partition` of `$files` can be converted to literals.
_PLAIN_TYPES: Final = re.compile(r"(string|varchar\(\d+\)|char\(\d+\)|int|bigint|smallint|tinyint|date|boolean)")
# The type, not a field of this name.
_VARIANT: Final = re.compile(r"(?:^|[<,:])variant(?=[,>]|$)")
_EXISTS: Final = "__dbt_there"


@dataclass(frozen=True)
class Compared:
    """A column of both sides: its names, which differ at most in case, and its Spark types."""

    before: str
    after: str
    type_before: str
    type_after: str

    @property
    def is_comparable(self) -> bool:
        """Whether Spark can compare its values: no variants, and no maps inside other types."""
        return not any(_is_incomparable(kind) for kind in (self.type_before, self.type_after))

    def values(self, side: str) -> str:
        """The SQL expression to compare, for the side 'before' or 'after'."""
        name = f"{side}.{quoted(self.before if side == 'before' else self.after)}"
        if self.type_before != self.type_after:
            return f"cast({name} as string)"
        if self.type_before.startswith("map<"):
            return f"array_sort(map_entries({name}))"
        return name

    @property
    def differs(self) -> str:
        return f"not ({self.values('before')} <=> {self.values('after')})"


def _is_incomparable(kind: str) -> bool:
    kind = kind.lower()
    return bool(_VARIANT.search(kind)) or "map<" in kind.removeprefix("map<")


@dataclass(frozen=True)
class Statements:
    """The SQL that compares two sides.

    Attributes:
        before, after: relations to select from.
        where: the condition on partitions, or `true`.
        key: columns by which rows are matched; if empty, whole rows are compared.
    """

    before: str
    after: str
    key: tuple[Compared, ...]
    columns: tuple[Compared, ...]
    where: str = "true"

    @property
    def rest(self) -> tuple[Compared, ...]:
        """The compared columns outside the key."""
        return tuple(column for column in self.columns if column not in self.key)

    def summary(self) -> str:
        """SQL for a row of counts: rows before, after, added, gone, changed, and changed per column of `rest`.

        Without a key: only added and gone.
        """
        if not self.key:
            return (
                "select coalesce(sum(if(n > 0, n, 0)), 0), coalesce(sum(if(n < 0, -n, 0)), 0)\n"
                f"from ({self._whole_rows()})"
            )
        both = f"before.{_EXISTS} and after.{_EXISTS}"
        changed = " or ".join(column.differs for column in self.rest) or "false"
        counts = [
            f"count(before.{_EXISTS})",
            f"count(after.{_EXISTS})",
            f"count_if(before.{_EXISTS} is null)",
            f"count_if(after.{_EXISTS} is null)",
            f"count_if({both} and ({changed}))",
            *(f"count_if({both} and {column.differs})" for column in self.rest),
        ]
        return f"select {', '.join(counts)}\n{self._joined()}"

    def samples(self, most: int) -> str:
        """SQL for at most `most` rows per kind: the kind, and JSON arrays with the key and, for each column of `rest`,
        whether it differs, its old value and its new value.

        Without a key: the kind, and the whole row.
        """
        if not self.key:
            values = _json((f"cast({_name(index)} as string)" for index in range(len(self.columns))), "string")
            return (
                f"select kind, {values} from (\n"
                "  select *, if(n > 0, 'added', 'gone') as kind, row_number() over (partition by n > 0 order by "
                f"{_name(0)}) as number\n  from ({self._whole_rows()})\n) where number <= {most} order by kind, number"
            )
        changed = " or ".join(column.differs for column in self.rest) or "false"
        keys = [
            f"coalesce(cast({c.values('after')} as string), cast({c.values('before')} as string))" for c in self.key
        ]
        order = ", ".join(f"coalesce({c.values('after')}, {c.values('before')})" for c in self.key)

        def texts(side: str) -> str:
            return _json((f"cast({column.values(side)} as string)" for column in self.rest), "string")

        return (
            "select kind, key, flags, old, new from (\n"
            "  select *, row_number() over (partition by kind order by __dbt_order) as number from (\n"
            f"    select case when before.{_EXISTS} is null then 'added' when after.{_EXISTS} is null then 'gone' "
            f"else 'changed' end as kind,\n    {_json(keys, 'string')} as key,\n"
            f"    {_json((column.differs for column in self.rest), 'boolean')} as flags,\n"
            f"    {texts('before')} as old,\n    {texts('after')} as new,\n    struct({order}) as __dbt_order\n"
            f"    {self._joined()}\n"
            f"    where before.{_EXISTS} is null or after.{_EXISTS} is null or {changed}\n  )\n"
            f") where number <= {most} order by kind, number"
        )

    def repeated_key(self) -> str:
        """SQL for whether a key occurs more than once on one side."""

        def side(table: str, key: Iterable[str]) -> str:
            names = ", ".join(map(quoted, key))
            return f"select 1 from {table} where {self.where} group by {names} having count(*) > 1"

        before, after = side(self.before, (c.before for c in self.key)), side(self.after, (c.after for c in self.key))
        return f"select exists ({before}) or exists ({after})"

    def _joined(self) -> str:
        on = " and ".join(f"{c.values('before')} <=> {c.values('after')}" for c in self.key)
        return (
            f"from (select *, true as {_EXISTS} from {self.before} where {self.where}) as before\n"
            f"full outer join (select *, true as {_EXISTS} from {self.after} where {self.where}) as after\n"
            f"on {on}"
        )

    def _whole_rows(self) -> str:
        """SQL for rows whose counts differ: their values, and `n`, the count after minus the count before."""

        def side(name: str, table: str, sign: int) -> str:
            values = ", ".join(f"{c.values(name)} as {_name(i)}" for i, c in enumerate(self.columns))
            return f"select {values}, {sign} as sign from {table} as {name} where {self.where}"

        names = ", ".join(_name(index) for index in range(len(self.columns)))
        return (
            f"select {names}, sum(sign) as n from (\n"
            f"    {side('before', self.before, -1)}\n    union all\n"
            f"    {side('after', self.after, 1)}\n"
            f"  ) group by {names} having sum(sign) <> 0"
        )


def _json(values: Iterable[str], kind: str) -> str:
    """A JSON array, because a Thrift server returns arrays as strings that cannot be parsed."""
    return f"to_json(cast(array({', '.join(values)}) as array<{kind}>))"


def _name(index: int) -> str:
    return f"__dbt_{index}"


def of_partitions(texts: Sequence[str], columns: Mapping[str, str]) -> str | None:
    """A condition on rows of some partitions; None if the partitions cannot be converted to literals.

    Args:
        texts: partitions as in `$files` (see `partition_values`).
        columns: the partition columns and their types, in order.
    """
    if not all(_PLAIN_TYPES.fullmatch(kind.lower()) for kind in columns.values()):
        return None
    conditions = []
    for text in texts:
        values = partition_values(text, list(columns), {name: kind.lower() for name, kind in columns.items()})
        if values is None or "null" in values.values():
            return None
        parts = [f"{quoted(name)} = {_literal(values[name], kind.lower())}" for name, kind in columns.items()]
        conditions.append("(" + " and ".join(parts) + ")")
    return "(" + " or ".join(conditions) + ")" if conditions else "false"


def _literal(value: str, kind: str) -> str:
    if kind == "date":
        return f"date {string_literal(value)}"
    if kind in ("int", "bigint", "smallint", "tinyint"):
        return str(int(value))
    return value.lower() if kind == "boolean" else string_literal(value)
