"""pytest plugin: starts the longest tests first and each service only once, and prints the minutes per folder."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Tests or classes that take minutes: a worker that started one last would finish long after the others.
LONGEST = (
    "functional/project",
    "faults",
    "functional/large",
    "packaging",
    "functional/streaming",
    "functional/incremental/test_conflicts.py",
    "functional/env",
    "integration/deployments",
    "integration/streaming",
    "integration/engines",
    "integration/test_walkthrough.py",
)
# Modules by the service that they start. A start takes some 20 CPU seconds, so one worker runs all tests of a service.
TOGETHER = {
    "a Hive metastore": (
        "integration/catalogs/test_hive.py",
        "integration/catalogs/test_locks.py",
        "integration/catalogs/test_session_catalog.py",
        "integration/catalogs/test_several.py",
    ),
    "HDFS": (
        "integration/storage/test_beside_a_compaction.py",
        "integration/storage/test_hdfs_user.py",
        "integration/storage/test_storage.py",
    ),
    "Kafka": ("integration/streaming/",),
}


class ByService(LoadScopeScheduling):
    """Sends all tests of a class, module or service to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        for service, places in TOGETHER.items():
            if nodeid.startswith(tuple(f"tests/{place}" for place in places)):
                return service
        return super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Replace xdist's own `loadscope`."""
    return ByService(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the longest tests first, in the order of `LONGEST`; the others keep their order."""
    items.sort(key=lambda item: _rank(item.path.as_posix()))


def _rank(path: str) -> int:
    return next((rank for rank, part in enumerate(LONGEST) if f"tests/{part}" in path), len(LONGEST))


def folder_of(nodeid: str) -> str:
    """The folder of a test below `tests`, at most two deep: `functional/types`."""
    parts = PurePosixPath(nodeid.partition("::")[0]).parent.parts
    return "/".join(parts[1:3]) if parts[:1] == ("tests",) else "/".join(parts[:2])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the minutes of each folder, summed over all workers."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder = folder_of(report.nodeid)
                seconds[folder] += report.duration
                tests[folder] += report.when == "call"
    if sum(seconds.values()) < 60:
        return
    terminalreporter.section("minutes by folder, all workers added up")
    for folder, spent in seconds.most_common():
        terminalreporter.line(f"{spent / 60:6.1f}  {tests[folder]:5}  {folder}")
