"""Maps a place in a statement to the line of the project file that it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from jinja2 import TemplateError

from dbt.adapters.paimon.errors import jinja_source_map
from dbt.adapters.paimon.errors.excerpts import SourceLocation
from dbt.adapters.paimon.errors.places import Place, line_column

# A shorter line, such as `from`, may occur in a file by chance.
_LEAST_LINE: Final = 6
_MOST_OUTPUT: Final = 80
_COMMENT: Final = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)


def normalized(text: str) -> str:
    """The text with every line break as a line feed, as Jinja renders it."""
    return re.sub(r"\r\n|\r", "\n", text)


@dataclass(frozen=True)
class Source:
    """The source code of a node or a hook, and its compiled form.

    Attributes:
        raw: the code with Jinja; '' for a node without code of its own, such as a generic test.
        sent: the compiled text with the CTEs of its ephemeral models, or ''.
        first_line, indent: the line and column in the file where `raw` begins.
        compiled_path: the path of the compiled file, or ''.
        note: the part of the node, such as a hook; '' for its query.
    """

    path: str
    raw: str
    compiled: str = ""
    sent: str = ""
    first_line: int = 1
    indent: int = 0
    file: str = ""
    compiled_path: str = ""
    note: str = ""


def source_in(path: str, file: str, raw: str, **other: Any) -> Source:
    """Locate `raw` in its file, which may contain more: dbt strips files, and a snapshot may be only one block."""
    file, raw = normalized(file), normalized(raw)
    if not file:
        return Source(path, raw, **other)
    # If `raw` is not found, or is found twice, its first line would be a guess.
    if not raw or file.count(raw) != 1:
        return Source(path, "", **other)
    start = file.index(raw)
    line, column = line_column(file, start)
    return Source(path, raw, first_line=line, indent=column, file=file, **other)


def spot(place: Place, statement: str, sources: Sequence[Source]) -> SourceLocation | None:
    """The line of a place in a statement: in the project's file, or else in the compiled file; None if uncertain.

    `sources` must begin with the ephemeral models, because the compiled SQL of the other sources contains theirs.
    """
    is_compiled_sent = False
    for source in sources:
        if source.compiled:
            inside, is_there = _inside(place.offset, statement, source.sent or source.compiled)
            is_compiled_sent |= is_there
            if inside is not None:
                return _spot_inside(source, inside, place.length)
        elif source.raw and (found := _hook_spot(source, statement, place)):
            return found
    if is_compiled_sent:
        return None
    found_within = (
        _raw_spot(source, statement, place.offset, place.length, within=True) for source in sources if source.raw
    )
    return next(filter(None, found_within), None)


def _spot_inside(source: Source, offset: int, length: int) -> SourceLocation | None:
    at = _before_injection(source, offset)
    found = None if at is None else _raw_spot(source, source.compiled, at, length)
    return found or _compiled_spot(source, offset, length)


def _inside(offset: int, statement: str, compiled: str) -> tuple[int | None, bool]:
    """The offset in a compiled text, or None; and whether the statement contains that text at all."""
    # Macros trim the text, and a final semicolon is not sent.
    core = compiled.strip().rstrip("; \n\t")
    start = statement.find(core) if core else -1
    is_there = start >= 0
    while start >= 0:
        if start <= offset <= start + len(core):
            return offset - start + len(compiled) - len(compiled.lstrip()), is_there
        start = statement.find(core, start + 1)
    return None, is_there


def _before_injection(source: Source, offset: int) -> int | None:
    """The offset in the compiled text without the CTEs of ephemeral models; None for an offset inside these CTEs."""
    sent, compiled = source.sent, source.compiled
    more = len(sent) - len(compiled)
    if not sent or more <= 0:
        return offset
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(sent, compiled, strict=False)))
    if offset < same:
        return offset
    return offset - more if offset >= same + more and sent.endswith(compiled[same:]) else None


def _hook_spot(source: Source, statement: str, place: Place) -> SourceLocation | None:
    """The place in a hook, which is sent on its own after dbt's query comment."""
    begin = _COMMENT.match(statement)
    start = begin.end() if begin else 0
    if place.offset < start:
        return None
    return _raw_spot(source, statement[start:].rstrip(), place.offset - start, place.length)


def _raw_spot(source: Source, rendered: str, offset: int, length: int, within: bool = False) -> SourceLocation | None:
    """The place in the file of the source; None if its line is not certain."""
    raw = source.raw
    text = normalized(rendered)
    at = len(normalized(rendered[:offset]))
    if not within:
        # dbt and its macros add and remove white space at the ends.
        at -= len(text) - len(text.lstrip())
        text = text.strip()
    try:
        found = jinja_source_map.origins(raw, text, at, within)
        ends = jinja_source_map.origins(raw, text, at + max(1, length) - 1, within)
    except TemplateError:
        found = ends = []
    number, column = line_column(text, at)
    line = text.split("\n")[number - 1]
    if len({line_column(raw, origin.start)[0] for origin in found}) != 1:
        return _same_line(source, line, column, length)
    # An expression's output may come from a `{% set %}` block of the file.
    if not found[0].literal and (written := _same_line(source, line, column, length)):
        return written
    start = found[0].start
    # With several origins only the line is certain.
    is_exact = len(found) == 1
    end = ends[0].end if len(ends) == 1 else start + length
    marked = len(raw[start : max(start + 1, found[0].end, end)].split("\n")[0])
    note = "" if found[0].literal else f"compiled: {_around(line, column)}"
    return _spot(source, start, marked if is_exact else None, note)


def _around(line: str, column: int) -> str:
    """The part of a line around a column, shortened to fit the width."""
    if len(line.strip()) <= _MOST_OUTPUT:
        return line.strip()
    start = max(0, column - _MOST_OUTPUT // 2)
    cut = line[start : start + _MOST_OUTPUT].strip()
    return f"{'… ' if start else ''}{cut}{' …' if start + _MOST_OUTPUT < len(line) else ''}"


def _same_line(source: Source, line: str, column: int, length: int) -> SourceLocation | None:
    """The only line of the raw text with the same content, as in a `{% set %}` block or an SQL header."""
    wanted = line.strip()
    if len(wanted) < _LEAST_LINE:
        return None
    lines = source.raw.split("\n")
    same = [number for number, text in enumerate(lines) if text.strip() == wanted]
    if len(same) != 1:
        return None
    indent = len(lines[same[0]]) - len(lines[same[0]].lstrip())
    before = sum(len(text) + 1 for text in lines[: same[0]])
    return _spot(source, before + indent + column - (len(line) - len(line.lstrip())), length)


def _spot(source: Source, offset: int, length: int | None, note: str = "") -> SourceLocation:
    line, column = line_column(source.raw, offset)
    shown = source.raw.split("\n")[line - 1]
    if source.file:
        column += source.indent if line == 1 else 0
        line += source.first_line - 1
        shown = source.file.split("\n")[line - 1]
    notes = ", ".join(filter(None, [source.note, note]))
    if length is None:
        return SourceLocation(source.path, line, shown, note=notes)
    return SourceLocation(source.path, line, shown, column, length, notes)


def _compiled_spot(source: Source, offset: int, length: int) -> SourceLocation | None:
    if not source.compiled_path:
        return None
    line, column = line_column(source.sent or source.compiled, offset)
    shown = (source.sent or source.compiled).split("\n")[line - 1]
    return SourceLocation(source.compiled_path, line, shown, column, length, source.note)
