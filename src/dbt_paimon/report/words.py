"""Formatting of figures."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

from dbt.adapters.paimon.formatting import age

# An en dash.
UNKNOWN: Final = "\N{EN DASH}"


def number(value: float | None) -> str:
    """`12,408`; a dash for None."""
    return UNKNOWN if value is None else f"{round(value):,}"


def seconds(value: float | None) -> str:
    """`0.42 s`, `12.3 s`, `4 min 10 s`."""
    if value is None:
        return UNKNOWN
    if value >= 60:
        return f"{int(value) // 60} min {int(value) % 60} s"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def ago(value: float | None) -> str:
    """An age: `3 d`, `12 h`, `40 s`."""
    return UNKNOWN if value is None else age(value)


def moment(at: float | None) -> str:
    """`2026-01-31 12:00:00`, in UTC."""
    return UNKNOWN if at is None else datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def anchor(name: str) -> str:
    """The HTML id of a node, from its unique id."""
    return "t-" + "".join(letter if letter.isalnum() else "-" for letter in name)
