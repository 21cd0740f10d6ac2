"""pytest plugin: finds which base classes of dbt's conformance suite pass; checks or writes docs/conformance.md.

A base class counts as passed if all tests of a subclass in tests/functional/adapter passed, as an expected failure if
its subclasses are strict xfails, and as excluded if `exclusions.py` there gives a reason.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import dbt.tests.adapter
import pytest

ROOT = Path(__file__).parents[1]
SUITE = Path(next(iter(dbt.tests.adapter.__path__)))
TESTS = "tests/functional/adapter/"
PAGE = ROOT / "docs" / "conformance.md"
PREFIX = "dbt.tests.adapter."


@dataclass
class Outcomes:
    """The outcomes of one test class of this repository."""

    passed: int = 0
    failed: int = 0
    reasons: list[str] = field(default_factory=list)


class Conformance:
    """Collects the reports of a run; under xdist, the controller receives those of all workers."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.classes: dict[tuple[str, str], Outcomes] = defaultdict(Outcomes)
        self.problem = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path, *names = report.nodeid.split("::")
        if not path.startswith(TESTS) or len(names) < 2:
            return
        outcome = self.classes[(path, names[0])]
        if hasattr(report, "wasxfail") and report.skipped:
            reason = report.wasxfail.removeprefix("reason: ")
            if reason not in outcome.reasons:
                outcome.reasons.append(reason)
        elif report.failed:
            outcome.failed += 1
        elif report.when == "call" and report.passed:
            outcome.passed += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ran = {path for path, _ in self.classes}
        complete = {f"{TESTS}{path.name}" for path in (ROOT / TESTS).glob("test_*.py")} <= ran
        if not complete:
            return
        summary = summarize(self.classes)
        terminalreporter.section("dbt's conformance suite, base classes")
        terminalreporter.write_line(summary.line)
        for base in summary.missing:
            terminalreporter.write_line(f"neither passed, nor expected to fail, nor excluded: {base}", red=True)
        if self.mode == "write":
            PAGE.write_text(summary.page())
            terminalreporter.write_line(f"written: {PAGE.relative_to(ROOT)}")
        elif not PAGE.exists() or PAGE.read_text() != summary.page():
            terminalreporter.write_line("docs/conformance.md is out of date: run `make conformance`", red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        ran = {path for path, _ in self.classes}
        if not {f"{TESTS}{path.name}" for path in (ROOT / TESTS).glob("test_*.py")} <= ran:
            return
        summary = summarize(self.classes)
        stale = self.mode == "check" and (not PAGE.exists() or PAGE.read_text() != summary.page())
        if session.exitstatus == pytest.ExitCode.OK and (summary.missing or stale):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class Summary:
    """The base classes of the suite by outcome, each with our subclasses or a reason."""

    passed: dict[str, list[str]]
    expected: dict[str, str]
    excluded: dict[str, str]
    missing: list[str]

    @property
    def line(self) -> str:
        """The totals in one line."""
        total = len(self.passed) + len(self.expected) + len(self.excluded) + len(self.missing)
        return (
            f"{len(self.passed)} passed, {len(self.expected)} expected failures"
            f" ({len(self.excluded)} excluded, {total} base classes in all)"
        )

    def page(self) -> str:
        """The text of docs/conformance.md."""
        lines = [
            "# dbt's conformance suite",
            "",
            f"The base classes of dbt-tests-adapter {version('dbt-tests-adapter')} that carry tests, on dbt-core "
            f"{version('dbt-core').rpartition('.')[0]}, embedded Spark and",
            "Paimon. `make conformance` runs them and writes this page; `make test` fails when the page says otherwise.",
            "",
            f"**{self.line}.**",
            "",
        ]
        for title, gaps in (("Expected failures", self.expected), ("Excluded", self.excluded)):
            if gaps:
                lines += [f"## {title}", ""]
                by_reason: dict[str, list[str]] = defaultdict(list)
                for base, reason in sorted(gaps.items()):
                    by_reason[reason].append(base)
                for reason, bases in sorted(by_reason.items(), key=lambda item: item[1]):
                    lines += [f"- {reason}", *(f"  - `{base}`" for base in bases)]
                lines.append("")
        lines += ["## Passed", "", "| base class | of | our class |", "|---|---|---|"]
        for base, ours in sorted(self.passed.items()):
            module, name = base.rsplit(".", 1)
            lines.append(f"| `{name}` | `{module}` | {', '.join(f'`{test}`' for test in sorted(ours))} |")
        return "\n".join(lines) + "\n"


def bases_of_the_suite() -> dict[type, str]:
    """The suite's classes with tests, each with a short name; without the suite's own `Test…` subclasses."""
    found: dict[type, str] = {}
    for path in sorted(SUITE.rglob("*.py")):
        if path.name == "__init__.py":
            continue
        module = importlib.import_module(PREFIX + ".".join(path.relative_to(SUITE).with_suffix("").parts))
        for name, cls in inspect.getmembers(module, inspect.isclass):
            tests = [attribute for attribute in dir(cls) if attribute.startswith("test")]
            if cls.__module__ == module.__name__ and tests and not name.startswith("Test"):
                found[cls] = f"{module.__name__.removeprefix(PREFIX)}.{name}"
    return found


def summarize(classes: dict[tuple[str, str], Outcomes]) -> Summary:
    """Assign the outcomes of our classes to the base classes that they inherit from."""
    bases = bases_of_the_suite()
    passed: dict[str, list[str]] = defaultdict(list)
    expected: dict[str, list[str]] = defaultdict(list)
    for (path, name), outcome in classes.items():
        module = importlib.import_module(re.sub(r"\.py$", "", path).replace("/", "."))
        for cls in getattr(module, name).__mro__:
            if cls not in bases or outcome.failed:
                continue
            if outcome.reasons:
                expected[bases[cls]] += outcome.reasons
            elif outcome.passed:
                passed[bases[cls]].append(name)
    gaps = {base: "; ".join(dict.fromkeys(reasons)) for base, reasons in expected.items() if base not in passed}
    excluded = {base: reason for base, reason in _exclusions().items() if base not in passed | gaps}
    missing = sorted(set(bases.values()) - passed.keys() - gaps.keys() - excluded.keys())
    return Summary(dict(passed), gaps, excluded, missing)


def _exclusions() -> dict[str, str]:
    if not (ROOT / TESTS / "exclusions.py").exists():
        return {}
    return dict(importlib.import_module("tests.functional.adapter.exclusions").EXCLUDED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--conformance",
        choices=("check", "write"),
        default="check",
        help="docs/conformance.md: fail when it is out of date, or write it",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Conformance(config.getoption("--conformance")), "conformance-report")
