"""dbt's own project fixtures for every test that runs dbt; the longest tests first."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast an example runs depends on what else the machine does.
settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

pytest_plugins = ["conformance", "faults.report", "integration.report", "dbt.tests.fixtures.project"]


@pytest.fixture(scope="session")
def spark_config() -> dict[str, Any]:
    """Spark for a test machine; a pytest worker's JVM takes no more than this."""
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": os.environ.get("DBT_PAIMON_TEST_MEMORY", "2g"),
        # Many statements over few rows: the second compiler would work for code that never runs again.
        # Without it the code cache shrinks from 240 to 48 MB, full after a minute: nothing is compiled any more, and the JVM may fail.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": 2,
    }


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A worker that starts on these last would finish long after the others."""
    longest = ("functional/project", "faults", "functional/large", "packaging", "integration/deployments")
    items.sort(key=lambda item: not any(f"tests/{part}" in item.path.as_posix() for part in longest))
