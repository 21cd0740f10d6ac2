"""pytest plugin: skips tests that the versions in use cannot pass, and writes all outcomes to a file."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.launch import packages
from integration.report import BUCKET_KILLS, KILLS

ROOT = Path(__file__).parents[1]
_TOTALS = ("passed", "failed", "skipped", "xfailed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--results",
        type=Path,
        help="a folder: the outcome of each test is written there, in a file named after Paimon and Spark; "
        "tests that this run leaves out keep the outcome of an earlier one on the same versions",
    )

    parser.addoption(
        "--old-python",
        default=sys.executable,
        help="a Python with PySpark 3.5, which runs Paimon 0.9.0 for the tests that cross versions",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "needs(capability, catalog='filesystem'): skipped where the versions in use lack it on this catalog"
    )
    config.addinivalue_line("markers", "lacks(capability, catalog='filesystem'): skipped where they have it")
    if config.getoption("results") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Results(config.getoption("results")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that the versions in use cannot pass; the reason names the capability."""
    paimon, spark = _paimon(), installation.spark_version()
    for item in items:
        for name, wanted in (("needs", True), ("lacks", False)):
            for mark in item.iter_markers(name):
                (capability,) = mark.args
                versions = Versions.of(paimon, spark, mark.kwargs.get("catalog", "filesystem"))
                if versions.supports(capability) is not wanted:
                    item.add_marker(pytest.mark.skip(reason=_reason(name, capability, versions)))


def _reason(verb: str, capability: Capability, versions: Versions) -> str:
    if verb == "lacks":
        return f"for versions without {capability.name}: {capability}"
    return f"needs {capability.name}: {versions.explain(capability)}"


def _paimon() -> str:
    """The Paimon version that the tests run on: the default, or that of DBT_PAIMON_JARS."""
    return packages.effective_paimon_version(PaimonCredentials(schema="any", paimon_version=DEFAULT_PAIMON_VERSION))


class _Results:
    """Collects the outcome of each test; under xdist, the controller receives those of all workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._outcomes: dict[str, str] = {}
        self._reasons: dict[str, str] = {}
        self._figures: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        expected = hasattr(report, "wasxfail")
        if report.failed:
            outcome = "failed"
        elif report.skipped:
            outcome = "xfailed" if expected else "skipped"
            self._reasons[report.nodeid] = (
                report.wasxfail.removeprefix("reason: ") if expected else _skip_reason(report)
            )
        elif report.when != "call":
            return
        else:
            outcome = "passed"
        for name, figures in report.user_properties:
            if name in (KILLS, BUCKET_KILLS):
                self._figures[report.nodeid] = json.loads(str(figures))
        # A test has failed if any of its phases has, including the teardown.
        if self._outcomes.get(report.nodeid) != "failed":
            self._outcomes[report.nodeid] = outcome

    def pytest_sessionfinish(self) -> None:
        paimon, spark = _paimon(), installation.spark_version()
        versions = {
            "paimon": paimon,
            "spark": spark,
            "python": platform.python_version(),
            "dbt-core": version("dbt-core"),
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"paimon-{paimon}-spark-{spark}.json"
        found = versions | {"sittings": [*_earlier(path, versions, set(self._outcomes)), self._sitting()]}
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")

    def _sitting(self) -> dict[str, Any]:
        counted = Counter(self._outcomes.values())
        return {
            "commit": _git("rev-parse", "HEAD"),
            "connector": _connector(),
            "changed since": sorted(_git("status", "--porcelain", "--untracked-files=no").splitlines()),
            "totals": {name: counted[name] for name in _TOTALS},
            "reasons": dict(sorted(self._reasons.items())),
            "figures": dict(sorted(self._figures.items())),
            "tests": dict(sorted(self._outcomes.items())),
        }


def _earlier(path: Path, versions: dict[str, Any], run_again: set[str]) -> list[dict[str, Any]]:
    """The earlier sittings (test runs) on the same versions, without the tests that this sitting ran again."""
    if not path.exists():
        return []
    found = json.loads(path.read_text())
    if {name: found.get(name) for name in versions} != versions:
        return []
    kept = []
    # Older files have one `connector` for all sittings instead of one per sitting.
    of_file = {"connector": found["connector"]} if "connector" in found else {}
    for sitting in found["sittings"]:
        tests = {test: outcome for test, outcome in sitting["tests"].items() if test not in run_again}
        if tests:
            counted = Counter(tests.values())
            reasons = {test: reason for test, reason in sitting["reasons"].items() if test in tests}
            figures = {test: each for test, each in sitting.get("figures", {}).items() if test in tests}
            totals = {name: counted[name] for name in _TOTALS}
            now = {"totals": totals, "reasons": reasons, "figures": figures, "tests": tests}
            kept.append(of_file | sitting | now)
    return kept


def _skip_reason(report: pytest.TestReport) -> str:
    where: Any = report.longrepr
    return str(where[2]).removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)


def _connector() -> dict[str, str]:
    """The name and hash of each jar of DBT_PAIMON_JARS; empty if the connector is from Maven Central."""
    jars = [Path(jar.strip()) for jar in os.environ.get(packages.JARS_VARIABLE, "").split(",") if jar.strip()]
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
