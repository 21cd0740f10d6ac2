"""pytest plugin: the options of the fault tests, and their totals at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

FIGURES = (
    "kills tried",
    "states wrong",
    "runs that did not heal",
    "leftovers",
    "names missing (two renames)",
)


# Up to this number, all kills are in the first project, and none in further.py, views.py or test_beside.py.
_IN_CI = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=_IN_CI, help="how many runs to kill: 3 in CI, 60 and more by night")
    parser.addoption("--kill-seed", type=int, default=20261121, help="the seed of random times")
    parser.addoption(
        "--kill-record",
        type=Path,
        help="a file that kills are noted in: those that it has are not done again, so that many kills may take several runs",
    )


def _numbers(config: pytest.Config) -> dict[str, int]:
    kills = config.getoption("--kills")
    further = 0 if kills <= _IN_CI else kills * 2 // 5
    # Each number makes two kills, because test_beside.py has two kinds of other processes.
    beside = 0 if kills <= _IN_CI else max(1, kills // 30)
    # The kills of views.py are in addition to `--kills`.
    views = 0 if kills <= _IN_CI else kills * 2 // 5
    return {"kill": kills - further - 2 * beside, "further_kill": further, "beside_kill": beside, "view_kill": views}


def _recorded(config: pytest.Config) -> dict[str, dict[str, int]]:
    path = config.getoption("--kill-record")
    if path is None or not path.exists():
        return {}
    return dict(json.loads(line) for line in path.read_text().splitlines())


def _name(config: pytest.Config, which: str, number: int) -> str:
    return f"{which} {number} of {_numbers(config)[which]}, seed {config.getoption('--kill-seed')}"


def _name_of(item: pytest.Item) -> str:
    """The name of a kill in the record; empty for other tests."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    which = next((name for name in _numbers(item.config) if name in params), "")
    if not which:
        return ""
    return " ".join((_name(item.config, which, params[which]), *([params["other"]] if "other" in params else [])))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for which, number in _numbers(metafunc.config).items():
        if which in metafunc.fixturenames:
            metafunc.parametrize(which, range(number))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out recorded kills, and tests of kinds that have no kills in this run."""
    done = _recorded(config)
    none = {which for which, number in _numbers(config).items() if not number}
    items[:] = [
        item for item in items if not none & set(getattr(item, "fixturenames", ())) and _name_of(item) not in done
    ]


@pytest.fixture
def kills(pytestconfig: pytest.Config) -> int:
    return _numbers(pytestconfig)["kill"]


@pytest.fixture
def further_kills(pytestconfig: pytest.Config) -> int:
    return _numbers(pytestconfig)["further_kill"]


@pytest.fixture
def view_kills(pytestconfig: pytest.Config) -> int:
    return _numbers(pytestconfig)["view_kill"]


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.getoption("--kill-seed")
    return number


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    report: pytest.TestReport = yield
    path = item.config.getoption("--kill-record")
    if path is not None and _name_of(item) and report.when == "call":
        figures = {key: value for key, value in report.user_properties if key in FIGURES}
        # A kill without figures counts as a wrong state.
        figures = figures or {"states wrong": 1}
        with path.open("a") as file:
            file.write(json.dumps([_name_of(item), figures]) + "\n")
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures: Counter[str] = Counter()
    recorded = _recorded(terminalreporter.config)
    for noted in recorded.values():
        figures.update(noted)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call" and not recorded:
                figures.update({name: value for name, value in report.user_properties if name in FIGURES})
    if figures:
        terminalreporter.section("faults")
        for name in figures:
            terminalreporter.write_line(f"{name}: {figures[name]}")
