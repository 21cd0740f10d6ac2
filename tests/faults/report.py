"""The options of the fault tests and their closing figures: a pytest plugin."""

from __future__ import annotations

from collections import Counter

import pytest

FIGURES = (
    "kills tried",
    "states wrong",
    "runs that did not heal",
    "leftovers",
    "names missing (two renames)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kills", type=int, default=6, help="how many runs to kill: 6 in CI, 60 and more by night"
    )
    parser.addoption("--kill-seed", type=int, default=20261121, help="the seed of random times")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kill" in metafunc.fixturenames:
        metafunc.parametrize("kill", range(metafunc.config.getoption("--kills")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, value in report.user_properties:
                    if name in FIGURES:
                        figures[name] += value
    if figures:
        terminalreporter.section("faults")
        for name in figures:
            terminalreporter.write_line(f"{name}: {figures[name]}")
