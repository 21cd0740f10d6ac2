"""Finds the line of a Python model that an exception or a Spark error comes from."""

from __future__ import annotations

import re
import traceback
from typing import Any, Final

from dbt.adapters.paimon.errors import places
from dbt.adapters.paimon.errors.excerpts import SourceLocation

# Spark 4's DataFrameQueryContext.
_CALLED_FROM: Final = r"was called from\s+{path}:(\d+)"
# A Python worker's traceback in a PythonException.
_WORKER: Final = r'File "{path}", line (\d+)'


def raised_at(exc: BaseException, path: str, file: str) -> SourceLocation | None:
    """The last place in an exception's traceback that is in the model compiled to `path`, or None."""
    lines = file.split("\n")
    if isinstance(exc, SyntaxError) and exc.filename == path and exc.lineno:
        column = exc.offset - 1 if exc.offset else None
        end = (exc.end_offset or 1) - 1 if exc.end_lineno == exc.lineno else 0
        return _at(path, exc.lineno, lines, column, end)
    return _in_traceback(exc, path, lines)


def _in_traceback(exc: BaseException, path: str, lines: list[str]) -> SourceLocation | None:
    # Skip the lines that dbt appends to the model's own, such as the code of dbt.ref.
    frames: list[Any] = [
        frame
        for frame in traceback.extract_tb(exc.__traceback__)
        if frame.filename == path and 0 < (frame.lineno or 0) <= len(lines)
    ]
    if not frames:
        return None
    frame = frames[-1]
    # In Python 3.10, tracebacks have no columns.
    start, end = getattr(frame, "colno", None), getattr(frame, "end_colno", None)
    if start is None or end is None or frame.end_lineno != frame.lineno:
        end = len(lines[frame.lineno - 1])
    return _at(path, frame.lineno, lines, start, end)


def named_in(error: str, path: str, file: str) -> SourceLocation | None:
    """The line of a model that a Spark error names; the error may come from a later action on its data frame."""
    lines = file.split("\n")
    for pattern in (_WORKER, _CALLED_FROM):
        if found := re.findall(pattern.format(path=re.escape(path)), error):
            return _at(path, int(found[-1]), lines, None, 0)
    for fragment in places.fragments(error):
        if fragment and "\n" not in fragment and file.count(fragment) == 1:
            line, column = places.line_column(file, file.index(fragment))
            return _at(path, line, lines, column, column + len(fragment))
    return None


def _at(path: str, line: int, lines: list[str], start: int | None, end: int) -> SourceLocation | None:
    if not 0 < line <= len(lines):
        return None
    return SourceLocation(path, line, lines[line - 1], start, max(1, end - (start or 0)))
