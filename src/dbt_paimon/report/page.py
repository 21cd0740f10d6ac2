"""The report as one self-contained HTML file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader

from dbt.adapters.paimon.formatting import counted, size
from dbt_paimon.report import charts, lineage, words
from dbt_paimon.report.figures import Report

_TEMPLATES: Final = Path(__file__).parent / "templates"
# How many rows of a table are shown; `--json` returns all.
MOST_ROWS: Final = 20
# With more tables, each shows fewer rows, and the script renders a table's details when they are opened.
MANY_TABLES: Final = 200
FEWER_ROWS: Final = 5
MOST_COLUMNS: Final = 500
FEWER_COLUMNS: Final = 50
_INDENT: Final = re.compile(r"\n\s+")
# A larger lineage graph is unreadable; each table lists its inputs anyway.
MOST_NODES: Final = 150
# Pixels in the lineage.
_COLUMN, _ROW, _BOX = 210, 30, 180


def write(report: Report, path: Path) -> str:
    """Write the page, and return a one-line summary."""
    text = html(report)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    parts = [counted(len(report.tables), "table"), f"{len(report.advice)} to fix"]
    if report.unread:
        parts.append(f"{len(report.unread)} could not be read")
    if failed := sum(node.status in ("error", "fail") for run in report.runs[-1:] for node in run.nodes):
        parts.append(f"{counted(failed, 'node')} failed in the last run")
    seconds, held = words.seconds(report.cost.seconds), size(len(text.encode()))
    return f"{path}: {', '.join(parts)}; {counted(report.cost.statements, 'statement')}, {seconds}, {held}"


def html(report: Report) -> str:
    """Render the page."""
    # Escape names and comments, which may contain HTML.
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    formats = (size, words.number, words.seconds, words.ago, words.moment, words.anchor)
    environment.filters |= {each.__name__: each for each in formats}
    many = len(report.tables) > MANY_TABLES
    made = environment.get_template("report.html.jinja").render(
        report=report,
        charts=charts,
        lineage=_picture(report),
        children=_children(report),
        names={node.node: node.name for node in report.lineage},
        parents={node.node: node.reads for node in report.lineage},
        by_node={table.node: table for table in report.tables},
        style=(_TEMPLATES / "style.css").read_text("utf-8"),
        script=(_TEMPLATES / "script.js").read_text("utf-8"),
        most_rows=FEWER_ROWS if many else MOST_ROWS,
        most_columns=FEWER_COLUMNS if many else MOST_COLUMNS,
        later=many,
        most_nodes=MOST_NODES,
    )
    return _INDENT.sub("\n", made)


def as_json(report: Report) -> str:
    """The report as JSON."""
    return json.dumps(asdict(report), default=str)


def _children(report: Report) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in report.lineage:
        for parent in node.reads:
            found.setdefault(parent, []).append(node.node)
    return found


def _picture(report: Report) -> dict[str, Any] | None:
    """Boxes and lines of the lineage graph; None if it is empty or too large."""
    if not 0 < len(report.lineage) <= MOST_NODES:
        return None
    placed = lineage.placed(report.lineage)
    at = {each.node.node: (each.column * _COLUMN + 4, each.row * _ROW + 4) for each in placed}
    lines = []
    for each in placed:
        left, top = at[each.node.node]
        for parent in each.node.reads:
            begin, above = at[parent][0] + _BOX, at[parent][1] + 11
            middle = (begin + left) / 2
            lines.append(f"M{begin} {above}C{middle:.0f} {above} {middle:.0f} {top + 11} {left} {top + 11}")
    return {
        "width": max(each.column for each in placed) * _COLUMN + _BOX + 8,
        "height": max(each.row for each in placed) * _ROW + 32,
        "box": _BOX,
        "nodes": [(each.node, *at[each.node.node]) for each in placed],
        "lines": lines,
    }
