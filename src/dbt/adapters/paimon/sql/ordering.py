"""Splits an ORDER BY clause into sort keys, for places where Spark does not accept ORDER BY."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_START: Final = re.compile(r"\s*order\s+by\b", re.IGNORECASE)
# Literals and quoted names (whose commas and brackets do not count), brackets, and commas.
_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*` | (?P<open>[(\[]) | (?P<close>[)\]]) | (?P<comma>,)""",
    re.VERBOSE | re.DOTALL,
)
_END: Final = re.compile(r"(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class SortKey:
    """One key of an ORDER BY: its expression as written, its direction, and the position of NULLs."""

    expression: str
    descending: bool
    nulls_first: bool


def sort_keys(clause: str) -> tuple[SortKey, ...]:
    """The keys of `order by a, f(b, c) desc nulls last`, with or without the words ORDER BY.

    By default, NULLs come first in ascending order and last in descending order, as in Spark.
    """
    start = _START.match(clause)
    return tuple(_sort_key(item) for item in _items(clause[start.end() :] if start else clause))


def _items(text: str) -> list[str]:
    """Split a list at its top-level commas."""
    items, begin, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif token["comma"] and not depth:
            items.append(text[begin : token.start()])
            begin = token.end()
    items.append(text[begin:])
    return items


def _sort_key(item: str) -> SortKey:
    end = _END.search(item)
    assert end is not None  # the pattern matches the empty text at the end
    descending = (end["direction"] or "").lower() == "desc"
    nulls_first = end["nulls"].lower() == "first" if end["nulls"] else not descending
    return SortKey(item[: end.start()].strip(), descending, nulls_first)
