"""Parses docs/coverage.md; as a pytest plugin, fails a run if a test that proves a feature there did not pass."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.paimon.spark.launch import packages

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
IN_CI = "CI"
UNPROVED = ("not proved yet", "no part of dbt")


@dataclass(frozen=True)
class Feature:
    """A row of the page; `tests` are `file::test` or `file::Class::test` below the folder `tests`."""

    name: str
    here: str
    tests: tuple[str, ...]
    proof: str
    page: str

    @property
    def run(self) -> tuple[str, str]:
        """Paimon's version and the date of the committed run that proves the feature; '' if CI or nothing proves it."""
        found = re.fullmatch(r"Paimon (\d[\d.]*\d), (\d{4}-\d\d-\d\d)", self.proof)
        return (found[1], found[2]) if found else ("", "")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def features(text: str) -> list[Feature]:
    """The rows of all tables with a column `proof`.

    Raises:
        ValueError: a row has more or fewer cells than its header.
    """
    found, header = [], [""]
    for row in (cells(line) for line in text.splitlines() if line.startswith("| ")):
        if row[0] in ("feature", "proof"):
            header = row
        elif len(row) != len(header):
            raise ValueError(f"{len(row)} cells in place of {len(header)}: {row}")
        elif "proof" in header[1:]:
            name, here, tests, proof, page = row
            found.append(Feature(name, here, tuple(re.findall(r"`([^`]+)`", tests)), proof, page))
    return found


def without_parameters(nodeid: str) -> str:
    """A test's id without parameters, below `tests`: `functional/x/test_y.py::TestZ::test`."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def faults(found: Iterable[Feature], outcomes: Mapping[str, set[str]]) -> list[str]:
    """A message for each test that should prove a feature in CI but did not pass; only for test files that ran.

    Args:
        found: the features.
        outcomes: test without parameters -> its cases' outcomes ('passed', 'failed', 'skipped' or 'xfailed').
    """
    ran = {test.partition("::")[0] for test in outcomes}
    told = []
    for feature in found:
        for test in feature.tests if feature.proof == IN_CI else ():
            of_test = outcomes.get(test, set())
            if test.partition("::")[0] in ran and "passed" not in of_test:
                told.append(f"{feature.name}: {test} {' and '.join(sorted(of_test)) or 'did not run'}")
    return told


def pytest_configure(config: pytest.Config) -> None:
    chosen = config.option.keyword or config.option.markexpr or any("::" in arg for arg in config.args)
    on_ci = not os.environ.get(packages.JARS_VARIABLE)
    if on_ci and not chosen and not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(_Proofs())


class _Proofs:
    """Collects the outcomes of all workers' tests; not registered for a run of selected tests."""

    def __init__(self) -> None:
        self._outcomes: dict[str, set[str]] = {}
        self._faults: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            self._outcomes.setdefault(without_parameters(report.nodeid), set()).add(outcome)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # An interrupted run says nothing about the remaining tests.
        if session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED:
            return
        self._faults = faults(features(PAGE.read_text()), self._outcomes)
        if self._faults:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._faults:
            terminalreporter.section("docs/coverage.md claims what this run does not show")
            for fault in self._faults:
                terminalreporter.line(fault)
