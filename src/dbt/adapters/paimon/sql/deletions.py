"""Finds the statements of a script that delete rows: DELETE with a condition, and MERGE with a delete clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from dbt.adapters.paimon.sql import null_filters
from dbt.adapters.paimon.sql.text import edited, unquoted
from dbt.adapters.paimon.sql.tokens import Token, tokens

_GAP: Final = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
# A cheap test before the import of sqlglot, which takes a second.
_MAY_DELETE: Final = re.compile(rf"\bdelete\b{_GAP}\bfrom\b|\bthen\b{_GAP}\bdelete\b", re.IGNORECASE | re.DOTALL)
_PART: Final = r"(?:`(?:[^`]|``)*`|[^\s`.;()]+)"
_NAME: Final = re.compile(rf"{_GAP}(?P<name>{_PART}(?:\s*\.\s*{_PART})*)(?![^\s`.;()])(?!\s*\()", re.DOTALL)


@dataclass(frozen=True)
class Deletion:
    """A statement that deletes rows.

    Attributes:
        table: the parts of the table's name; empty if it is not a plain name.
        condition: start and end of a DELETE's condition in the script; None for a MERGE.
    """

    table: tuple[str, ...]
    condition: tuple[int, int] | None = None


def may_delete(script: str) -> bool:
    """Whether a script may contain a statement that deletes rows."""
    return _MAY_DELETE.search(script) is not None


def deletions(script: str) -> list[Deletion]:
    """The statements of a script that delete rows by a condition; empty if the script is not valid SQL."""
    found = (_deletion(script, statement, end) for statement, end in _statements(tokens(script), len(script)))
    return [deletion for deletion in found if deletion is not None]


def strict(condition: str) -> str:
    """Rewrite a condition so that it is never NULL: `c and (c) is true`. Paimon skips files by the first part.

    A condition that begins with a blank keeps its position, so that Spark's errors still point to it. If Paimon would
    wrongly skip files with NULLs, the condition becomes `opaque`.
    """
    if null_filters.may_lose_nulls(condition):
        return opaque(condition)
    return f"({condition.removeprefix(' ')}\n) and ({condition}\n) is true"


def opaque(condition: str) -> str:
    """A condition that is never NULL, and with which Paimon cannot skip files or partitions."""
    return f" cast(({condition}\n) as string) <=> 'true'"


def with_condition(script: str, deletion: Deletion, change: Callable[[str], str]) -> str:
    """A script in which `change` is applied to the condition of a DELETE."""
    if deletion.condition is None:
        return script
    start, end = deletion.condition
    return edited(script, [(start, end, change(script[start:end].rstrip()))])


def _statements(script: Iterable[Token], length: int) -> Iterator[tuple[list[Token], int]]:
    """The tokens of each statement, and its end."""
    statement: list[Token] = []
    for token in script:
        if token.kind == "SEMICOLON":
            yield statement, token.start
            statement = []
        else:
            statement.append(token)
    yield statement, length


def _deletion(script: str, statement: Iterable[Token], end: int) -> Deletion | None:
    outer = list(_outside_of_parentheses(statement))
    pairs = [(first.kind, second.kind) for first, second in pairwise(outer)]
    for (first, second), token in zip(pairs, outer[1:], strict=True):
        if (first, second) == ("DELETE", "FROM"):
            where = next((each for each in outer if each.kind == "WHERE"), None)
            return Deletion(_table(script, token.end + 1), (where.end + 1, end)) if where else None
        if (first, second) == ("MERGE", "INTO"):
            return Deletion(_table(script, token.end + 1)) if ("THEN", "DELETE") in pairs else None
    return None


def _outside_of_parentheses(statement: Iterable[Token]) -> Iterator[Token]:
    depth = 0
    for token in statement:
        depth -= token.kind == "R_PAREN"
        if not depth:
            yield token
        depth += token.kind == "L_PAREN"


def _table(script: str, start: int) -> tuple[str, ...]:
    found = _NAME.match(script, start)
    return tuple(map(unquoted, re.findall(_PART, found["name"]))) if found else ()
