"""pytest plugin: the options of the differential tests, and their totals at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

FIGURES = (
    "sequences",
    "steps",
    "refusals",
    "tables compared",
    "rows compared",
    "filters compared",
    "differences",
    "known differences",
)
VIEW_FIGURES = (
    "sequences",
    "refreshes compared",
    "incremental",
    "full",
    "none",
    "changes",
    "changes refused",
    "refusals",
    "differences",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("differential")
    group.addoption("--sequences", type=int, default=30, help="how many random sequences: 30 in CI, 1000 by hand")
    group.addoption("--sequence-seed", type=int, default=20261123, help="the seed of all sequences")
    group.addoption("--sequence-from", type=int, default=0, help="the first sequence's number")
    group.addoption("--sequence-only", type=int, nargs="*", help="these alone")
    group.addoption("--planted", default="", help="put a defect back, by its letter (tests/differential/faults)")
    group.addoption("--known", default="", help="letters of known defects: what they explain is counted and passes")
    group.addoption("--sequence-state", type=Path, help="a file of what is done, to go on from there")
    group.addoption(
        "--views",
        type=int,
        default=16,
        help="how many sequences of materialized views: 16 in CI, 1000 by hand",
    )
    group.addoption("--views-from", type=int, default=0, help="the first plan of theirs, which has several views")
    group.addoption("--shrink", action="store_true", help="let hypothesis shrink the first difference")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for section, names in (("differential", FIGURES), ("views", VIEW_FIGURES)):
        figures: Counter[str] = Counter()
        for reports in terminalreporter.stats.values():
            for report in reports:
                if getattr(report, "when", "") == "call":
                    for name, value in report.user_properties:
                        if name.startswith(f"{section} "):
                            figures[name.removeprefix(f"{section} ")] += value
        if figures:
            terminalreporter.section(section)
            terminalreporter.write_line(", ".join(f"{name}: {figures[name]}" for name in names))
