"""Conditions on a row: as Spark SQL, and evaluated in Python by SQL's three-valued logic.

A condition is a list, as plans store it: [column, operator, value], or 'not', 'and', 'or' and their conditions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from differential import values
from differential.chooser import Chooser
from differential.plan import Condition

_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Operators that are never NULL.
_SURE: Final = ("is", "is not", "<=>", "is distinct from")


def drawn(c: Chooser, columns: Mapping[str, tuple[Any, ...]], depth: int, sure: bool = True) -> Condition:
    """A random condition on columns.

    Args:
        c: makes the choices.
        columns: column -> values to compare it with.
        depth: how deep `and`, `or` and `not` may be nested.
        sure: whether to draw `<=>` and `is distinct from`, which are never NULL.
    """
    joined = c.pick(("", "", "", "not", "and", "or")) if depth else ""
    if joined == "not":
        return [joined, drawn(c, columns, depth - 1, sure)]
    if joined:
        return [joined, drawn(c, columns, depth - 1, sure), drawn(c, columns, depth - 1, sure)]
    name = c.pick(tuple(columns))
    how = c.pick((*_COMPARED, "is", "is not", "in", *(_SURE[2:] if sure else ())))
    if how in ("is", "is not"):
        return [name, how, None]
    if how == "in":
        return [name, how, list(dict.fromkeys(c.pick(columns[name]) for _ in range(2)))]
    return [name, how, c.pick(columns[name])]


def sql(condition: Condition, kinds: Mapping[str, str]) -> str:
    """The condition as SQL; `kinds` are the columns' types."""
    if condition[0] == "not":
        return f"not ({sql(condition[1], kinds)})"
    if condition[0] in ("and", "or"):
        return f"({sql(condition[1], kinds)}) {condition[0]} ({sql(condition[2], kinds)})"
    name, how, value = condition
    if how == "in":
        return f"{name} in ({', '.join(_literal(kinds[name], item) for item in value)})"
    return f"{name} {how} {'null' if value is None else _literal(kinds[name], value)}"


def _literal(kind: str, value: Any) -> str:
    """A literal as people write it: integers without a cast to the column's type."""
    return str(value) if kind in ("tinyint", "smallint", "int", "bigint") else values.literal(kind, value)


def truth(condition: Condition, row: Mapping[str, Any], kinds: Mapping[str, str]) -> bool | None:
    """The condition's value for a row; None is SQL's NULL."""
    if condition[0] in ("not", "and", "or"):
        return _joined(condition[0], [truth(part, row, kinds) for part in condition[1:]])
    name, how, value = condition
    have = row[name]
    if how in ("is", "is not"):
        return (have is None) == (how == "is")
    if how in _SURE and have is None:
        return how == "is distinct from"
    if have is None:
        return None
    if how == "in":
        return any(_compared("=", have, item, kinds[name]) for item in value)
    return _compared({"<=>": "=", "is distinct from": "<>"}.get(how, how), have, value, kinds[name])


def _compared(how: str, have: Any, value: Any, kind: str) -> bool:
    return _COMPARED[how](values.order(kind, have), values.order(kind, value))


def _joined(how: str, parts: list[bool | None]) -> bool | None:
    if how == "not":
        return None if parts[0] is None else not parts[0]
    decides = how == "or"
    if decides in parts:
        return decides
    return None if None in parts else not decides
