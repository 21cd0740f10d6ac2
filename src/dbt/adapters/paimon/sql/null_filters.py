"""Finds conditions that are true for NULL, but for which Paimon 0.9 skips files with NULLs.

Spark rewrites these conditions to `NOT (column <=> 'a')`. Paimon treats that as `column <> 'a'` (SparkFilterConverter),
and skips files whose values are all NULL or 'a' [ran, 0.9.0].
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

# A cheap test before the import of sqlglot, which takes a second.
_MAY_BE: Final = re.compile(r"<=>|\bdistinct\s+from\b|\bis\s+(?:not\s+)?(?:true|false)\b", re.IGNORECASE)


@dataclass(frozen=True)
class LostNulls:
    """A condition that may lose rows with NULL, and a safe replacement."""

    condition: str
    instead: str


def may_lose_nulls(sql: str) -> bool:
    """Whether a statement may have a condition that loses rows with NULL; a cheap test."""
    return _MAY_BE.search(sql) is not None


def lost_nulls(sql: str) -> list[LostNulls]:
    """The conditions of a Spark statement that may lose rows with NULL; empty if it cannot be parsed."""
    if not may_lose_nulls(sql):
        return []
    import sqlglot
    from sqlglot import expressions

    try:
        tree = sqlglot.parse_one(sql, dialect="spark")
    except sqlglot.errors.SqlglotError:
        return []
    compared = tree.find_all(expressions.NullSafeEQ, expressions.NullSafeNEQ, expressions.Is)
    return [found for node in compared if _filters_out(node) and (found := _of_value(node))]


def _filters_out(node: Any) -> bool:
    """Whether a filter keeps the rows where a comparison is false, because an odd number of NOTs applies to it."""
    from sqlglot import expressions

    negative = isinstance(node, expressions.NullSafeNEQ)
    above = node.parent
    while isinstance(above, (expressions.Paren, expressions.Not, expressions.And, expressions.Or)):
        negative ^= isinstance(above, expressions.Not)
        above = above.parent
    filters = (expressions.Where, expressions.Having, expressions.Join, expressions.Merge)
    return negative and isinstance(above, filters)


def _of_value(node: Any) -> LostNulls | None:
    """A comparison of a column with a constant; None for others, because Spark does not push them down to Paimon."""
    from sqlglot import expressions

    column, value = node.this, node.expression
    if isinstance(value, expressions.Column):
        column, value = value, column
    is_value = not isinstance(value, expressions.Null) and value.find(expressions.Column) is None
    if not isinstance(column, expressions.Column) or not is_value:
        return None
    name, text = column.sql("spark"), value.sql("spark")
    return LostNulls(f"{name} is distinct from {text}", f"({name} <> {text} or {name} is null)")
