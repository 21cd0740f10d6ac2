"""pytest plugin: each worker has a time zone of its own, as the machines of users have; a failure says which.

A machine in UTC hides every time that is read on the wrong clock. `TZ=America/Los_Angeles make test` runs all tests in one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import Any

import pytest

# West and east of UTC; the last one by half an hour.
ZONES = ("UTC", "America/Los_Angeles", "Asia/Kolkata")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """The n-th worker always has the n-th zone, unless the variable is set.

    Not with tests/integration: servers of others, such as PostgreSQL, would have it as well.
    """
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    others = any("tests/integration" in argument for argument in config.args)
    if worker and not others and "TZ" not in os.environ:
        number = int(worker["workerid"].removeprefix("gw"))
        os.environ["TZ"] = ZONES[number % len(ZONES)]
        time.tzset()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and "TZ" in os.environ:
        report.sections.append(("Time zone", f"TZ={os.environ['TZ']}"))
    return report
