"""The health of tables as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from dbt.adapters.paimon.metadata.health import TableHealth
from dbt.adapters.paimon.spark.formatting import size

_AGES: Final = (("d", 86400), ("h", 3600), ("min", 60))
_HEADINGS: Final[Mapping[str, str]] = {"mean_file_bytes": "mean file", "bytes": "size", "levels": "files by level"}


def report(tables: Sequence[TableHealth]) -> str:
    """Format the tables as text, one line per table."""
    names = [field.name for field in fields(TableHealth)]
    rows = [[_HEADINGS.get(name, name.replace("_", " ")) for name in names]]
    rows += [[_shown(name, getattr(table, name)) for name in names] for table in tables]
    widths = [max(len(row[position]) for row in rows) for position in range(len(names))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if name in ("table", "levels") else text.rjust(width)
            for name, text, width in zip(names, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in ("bytes", "mean_file_bytes"):
        return size(value)
    if name in ("oldest_snapshot", "newest_snapshot"):
        return next((f"{value // unit} {name}" for name, unit in _AGES if value >= unit), f"{value} s")
    return f"{value:.1f}" if name == "skew" else str(value)
