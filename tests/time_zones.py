"""pytest plugin: runs tests of times in time zones other than UTC; a failure shows the zone.

A machine in UTC hides every time that is read in the wrong zone. `TZ=America/Los_Angeles make test` runs all tests in
that zone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_WEST: Final = "America/Los_Angeles"
_EAST: Final = "Asia/Kolkata"
_TESTS: Final = Path(__file__).parent
# A folder has the same zone in each run, so that a failure can be repeated. tests/integration is left out, because
# servers that it starts, such as PostgreSQL, would get the zone as well.
ZONES: Final = dict.fromkeys(
    (
        "functional/docs",
        "functional/errors",
        "functional/maintenance",
        "functional/metadata",
        "functional/monitoring",
        "functional/seeds",
        "functional/snapshots",
        "functional/time_travel",
    ),
    _WEST,
) | dict.fromkeys(("functional/resources", "unit"), _EAST)
_OF_THE_USER: Final = os.environ.get("TZ")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the folder's zone, or else the machine's. A TZ that the user has set stays."""
    if _OF_THE_USER is None:
        zone = ZONES.get(item.path.parent.relative_to(_TESTS).as_posix())
        if zone is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = zone
        time.tzset()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and "TZ" in os.environ:
        report.sections.append(("Time zone", f"TZ={os.environ['TZ']}"))
    return report
