"""Plugins and Spark settings for all tests, including dbt's own project fixtures."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No deadline: how fast an example runs depends on the load of the machine.
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
    """Spark settings that limit the JVM of a pytest worker."""
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": os.environ.get("DBT_PAIMON_TEST_MEMORY", "2g"),
        # Tests run many statements over few rows: the C2 compiler would compile code that never runs again.
        # Without C2 the default code cache is 48 MB instead of 240. It fills within a minute; then the JVM stops
        # compiling, and may fail.
        # Loading the classes of Spark and Paimon exceeds the default MetaspaceSize several times, each time with a
        # full garbage collection.
        # While the heap grows from its default of 1.6 % of memory, garbage collection takes a tenth of the CPU time.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
        "-XX:InitialRAMPercentage=8 -XX:MetaspaceSize=800m "
        # A worker's tests use sessions in several time zones; the JVM's zone must not depend on the first one.
        "-Duser.timezone=UTC",
        # By default, Spark caches the generated code of 100 statements. A worker repeats more statements than that.
        "spark.sql.codegen.cache.maxEntries": 2000,
        "spark.sql.shuffle.partitions": 2,
    }
