"""Excerpts of source files in error messages, with carets under the faulty part."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

# The maximum width of a line, in terminal columns.
_WIDEST: Final = 110
_TAB: Final = "    "


@dataclass(frozen=True)
class SourceLocation:
    """A place in a file: a 1-based line, a 0-based column or None, `length` marked characters, and an optional note."""

    path: str
    line: int
    text: str
    column: int | None = None
    length: int = 1
    note: str = ""


def shown(spot: SourceLocation) -> str:
    """The location (`path:line:column`), the line, and carets below it."""
    column = "" if spot.column is None else f":{spot.column + 1}"
    head = f"  {spot.path}:{spot.line}{column}{f', {spot.note}' if spot.note else ''}"
    number = f"{spot.line:>6}"
    before, marked, after = _parts(spot)
    body = f"{number} | {before}{marked}{after}".rstrip()
    if spot.column is None:
        return f"{head}\n{body}"
    return f"{head}\n{body}\n{' ' * len(number)} | {' ' * _width(before)}{'^' * max(1, _width(marked))}"


def _parts(spot: SourceLocation) -> tuple[str, str, str]:
    """The parts of the line before, at and after the location, shortened to fit the width."""
    text, start = spot.text.rstrip("\r\n"), spot.column or 0
    end = start + (spot.length if spot.column is not None else 0)
    before, marked, after = map(_printable, (text[:start], text[start:end].rstrip(), text[end:]))
    if not text[start:end].rstrip():
        marked, after = "", text[start:end] + after
    if len(marked) > _WIDEST // 2:
        marked = f"{marked[: _WIDEST // 2 - 2]} …"
    if _width(before + marked + after) > _WIDEST:
        keep = max(20, _WIDEST // 2 - _width(marked))
        before = before if len(before) <= keep else f"… {before[-keep:]}"
        rest = max(0, _WIDEST - _width(before + marked))
        after = after if len(after) <= rest else f"{after[:rest]} …"
    return before, marked, after


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter == "\t" or letter.isprintable()).replace("\t", _TAB)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text
    )
