"""pytest plugin: prints what passed on each deployment, and the figures of the tests that kill processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PROPERTY = "deployment"
KILLS = "stream kills"
BUCKET_KILLS = "bucket kills"
SERVER_KILLS = "server kills"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stream-kills",
        type=int,
        default=3,
        help="how often a stream, and what feeds it, are killed each: never in CI, 3 times by `make cdc`",
    )
    parser.addoption(
        "--s3-kills",
        type=int,
        default=0,
        help="how often one of two runs on a bucket is killed: never in CI, 20 by `make s3-kills`",
    )
    parser.addoption(
        "--server-kills",
        type=int,
        default=1,
        help="how often dbt is killed while a server runs its statement: once in CI, 60 by `make server-kills`",
    )
    parser.addoption(
        "--server-kill-record",
        type=Path,
        help="a file that these kills are noted in: those that it has are not done again",
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a table of the deployments (catalog, storage, engine, nodes passed), and the figures of the kills."""
    rows: list[tuple[str, ...]] = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if isinstance(report, pytest.TestReport):
                rows += [(*map(str, value), outcome) for name, value in report.user_properties if name == PROPERTY]
                properties = dict(report.user_properties)
                _tell_figures(terminalreporter, "a stream that was killed", properties.get(KILLS))
                _tell_figures(terminalreporter, "two runs on a bucket", properties.get(BUCKET_KILLS))
                _tell_figures(terminalreporter, report.nodeid, properties.get(SERVER_KILLS))
    if not rows:
        return
    header = ("catalog", "storage", "engine", "nodes passed", "same tables")
    table = [header, *((*row[:4], "yes" if row[4] == "passed" else "no") for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    terminalreporter.section("the reference project on each deployment")
    for row in table:
        terminalreporter.line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def _tell_figures(terminalreporter: Any, title: str, figures: Any) -> None:
    if figures:
        terminalreporter.section(title)
        for name, figure in json.loads(figures).items():
            terminalreporter.line(f"{name:<20}  {figure:>7,}")
