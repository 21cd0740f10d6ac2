"""Formats numbers for messages."""

from __future__ import annotations

from typing import Final

_UNITS: Final = ("KiB", "MiB", "GiB", "TiB", "PiB")
_MANY: Final = 1_000_000
_AGES: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def counted(number: int, what: str) -> str:
    """A number with its noun: `1 row`, `12,408 rows`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def roughly_rows(number: int) -> str:
    """A rounded number of rows: `12,408 rows`, `12.4 M rows`."""
    return counted(number, "row") if number < _MANY else f"{number / _MANY:,.1f} M rows"


def age(seconds: float) -> str:
    """An age: `3 d`, `12 h`, `40 s`."""
    found = next((f"{int(seconds // unit)} {name}" for unit, name in _AGES if seconds >= unit), "")
    return found or f"{max(int(seconds), 0)} s"


def size(number: float) -> str:
    """A number of bytes: `812 bytes`, `1.3 MiB`."""
    if number < 1024:
        return counted(int(number), "byte")
    for unit in _UNITS:
        number /= 1024
        if number < 1024 or unit == _UNITS[-1]:
            break
    return f"{number:,.1f} {unit}"
