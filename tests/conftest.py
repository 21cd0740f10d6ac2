"""dbt's own project fixtures for every test that runs dbt."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast an example runs depends on what else the machine does.
settings.register_profile("tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

pytest_plugins = [
    "first_session",
    "query_rows",
    "full",
    "quicker_dbt",
    "timing",
    "time_zones",
    "compatibility",
    "coverage_proof",
    "conformance",
    "differential.report",
    "faults.report",
    "integration.report",
    "dbt.tests.fixtures.project",
]


@pytest.fixture(scope="session")
def spark_config() -> dict[str, Any]:
    """Spark for a test machine; a pytest worker's JVM takes no more than this."""
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": os.environ.get("DBT_PAIMON_TEST_MEMORY", "2g"),
        # Many statements over few rows: the second compiler would work for code that never runs again.
        # Without it the code cache shrinks from 240 to 48 MB, full after a minute: nothing is compiled any more, and the JVM may fail.
        # The classes of Spark and Paimon alone pass the default MetaspaceSize some times, with a full collection each.
        # While the heap grows from its default of 1.6 % of the memory, collections take a tenth of the CPU time of the JVM.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
        "-XX:InitialRAMPercentage=8 -XX:MetaspaceSize=800m "
        # A worker's tests have sessions in several time zones, whichever comes first.
        "-Duser.timezone=UTC",
        # A worker's statements are alike, and more than the 100 whose generated code Spark keeps.
        "spark.sql.codegen.cache.maxEntries": 2000,
        "spark.sql.shuffle.partitions": 2,
    }
