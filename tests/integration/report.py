"""pytest plugin: after the deployments' builds, a table of what passed on each."""

from __future__ import annotations

from typing import Any

import pytest

PROPERTY = "deployment"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print catalog, storage and engine, and the nodes that passed."""
    rows: list[tuple[str, ...]] = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if isinstance(report, pytest.TestReport):
                rows += [
                    (*map(str, value), outcome) for name, value in report.user_properties if name == PROPERTY
                ]
    if not rows:
        return
    header = ("catalog", "storage", "engine", "nodes passed", "same tables")
    table = [header, *((*row[:4], "yes" if row[4] == "passed" else "no") for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    terminalreporter.section("the reference project on each deployment")
    for row in table:
        terminalreporter.line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
