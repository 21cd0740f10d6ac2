"""Finds the place in a statement that a Spark error is about, by line and position or by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# ParseException and AnalysisException of Spark 3.5 count positions from 0, SQLQueryContext.summary from 1.
_POSITION: Final = re.compile(r"\(line (?P<a>\d+), pos (?P<b>\d+)\)|; line (?P<c>\d+) pos (?P<d>\d+)")
# SQLQueryContext.summary: the line, cut to 32 characters around the expression, and carets below the expression.
_CONTEXT: Final = re.compile(
    r"^== SQL ?\(line (?P<line>\d+), position (?P<position>\d+)\) ==\r?\n(?P<text>.*)\r?\n(?P<carets> *\^+)",
    re.MULTILINE,
)
_PART: Final = r"(?:`(?:[^`]|``)+`|\w+)"
_CHAIN: Final = re.compile(rf"{_PART}(?:\s*\.\s*{_PART})*")
_NEAR: Final = re.compile(r"at or near (?:'(?P<token>.+?)'(?=[.:;\s(]|$)|end of input)")
# Errors whose position is that of the name that they quote.
_NAMED: Final = re.compile(
    r"\[(?:UNRESOLVED_(?:COLUMN|ROUTINE|FIELD)|TABLE_OR_VIEW_NOT_FOUND|AMBIGUOUS_REFERENCE)\b[^`]*?"
    r"(?P<name>`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*)"
)
# Errors about an expression, but without a position, such as [MISSING_AGGREGATION].
_EXPRESSION: Final = re.compile(r'^(?:.*\n)??.*?\[[A-Z_.]+\][^"\n]*"(?P<name>\w+)"')


@dataclass(frozen=True)
class Place:
    """`length` characters of a statement, starting at `offset`."""

    offset: int
    length: int


def line_column(text: str, offset: int) -> tuple[int, int]:
    """The line (from 1) and the column (from 0) of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)


def offset_of(text: str, line: int, column: int) -> int | None:
    """The offset of a line (from 1; ended by line feeds only, as in ANTLR) and column (from 0), or None."""
    lines = text.split("\n")
    if not 0 < line <= len(lines) or column > len(lines[line - 1]):
        return None
    return sum(len(before) + 1 for before in lines[: line - 1]) + column


def fragments(error: str) -> list[str]:
    """The first line of each expression that an error quotes from its statement."""
    return [found["text"][found["carets"].count(" ") : len(found["carets"])] for found in _CONTEXT.finditer(error)]


def position_in(error: str, statement: str) -> int | None:
    """The offset of the line and position in an error, or None."""
    found = _POSITION.search(error)
    return found and offset_of(statement, int(found["a"] or found["c"]), int(found["b"] or found["d"]))


def found(error: str, statement: str) -> Place | None:
    """The place in the statement that an error is about.

    None if the error has no place, or if the statement has different text there: then the place is in different SQL,
    such as the definition of a view.
    """
    if place := _in_context(error, statement):
        return place
    if "== SQL of " in error or _CONTEXT.search(error):
        # The place is in the SQL of a view, or of the statement that made a data frame.
        return None
    offset = position_in(error, statement)
    if near := _NEAR.search(error):
        return _near(near["token"], offset, statement)
    if named := _NAMED.search(error):
        return _name(re.findall(r"`((?:[^`]|``)+)`", named["name"])[-1].replace("``", "`"), offset, statement)
    if offset is not None:
        return _chain(statement, offset) or Place(offset, 1)
    if expression := _EXPRESSION.match(error):
        return _only(expression["name"], statement)
    return None


def _in_context(error: str, statement: str) -> Place | None:
    for context in _CONTEXT.finditer(error):
        offset = offset_of(statement, int(context["line"]), int(context["position"]) - 1)
        length = context["carets"].count("^")
        if offset is not None and statement[offset : offset + length] in context["text"]:
            return Place(offset, length)
    return None


def _chain(statement: str, offset: int) -> Place | None:
    """The first line of the qualified name at an offset."""
    chain = _CHAIN.match(statement, offset)
    return Place(offset, len(chain[0].split("\n")[0])) if chain else None


def _near(token: str | None, offset: int | None, statement: str) -> Place | None:
    if offset is None:
        return None
    if token is None:
        return Place(len(statement.rstrip()), 1)
    return Place(offset, len(token)) if statement.startswith(token, offset) else None


def _name(name: str, offset: int | None, statement: str) -> Place | None:
    if offset is not None and (chain := _CHAIN.match(statement, offset)):
        parts = re.findall(_PART, chain[0])
        if name.lower() in (part.strip("`").replace("``", "`").lower() for part in parts):
            return _chain(statement, offset)
    return _only(name, statement)


def _only(name: str, statement: str) -> Place | None:
    """The place of a name that occurs only once."""
    places = [
        Place(match.start(), len(name))
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", statement, re.IGNORECASE)
    ]
    return places[0] if len(places) == 1 else None
