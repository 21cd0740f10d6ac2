"""Flink as a second engine on a project's tables: one JVM per session, SQL on the test's warehouse and schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import CONNECTOR
from integration.services import flink as service


@pytest.fixture(scope="session")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Flink's JVM."""
    with service.flink(tmp_path_factory.mktemp("flink"), CONNECTOR) as gateway:
        yield gateway


@pytest.fixture(scope="class")
def flink(project: Any, jvm: Any, warehouse: Path) -> service.Session:
    """Flink SQL; `{schema}` is the test's schema."""
    return service.Session(jvm, warehouse, project.test_schema)


@pytest.fixture
def compactor(project: Any, warehouse: Path, tmp_path: Path) -> Iterator[service.Session]:
    """A separate Flink that ends with the test, so that the jobs of its procedures end, too."""
    with service.flink(tmp_path, CONNECTOR) as gateway:
        yield service.Session(gateway, warehouse, project.test_schema)


@pytest.fixture(scope="class")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a test class."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path, spark_config: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "paimon",
        "method": "session",
        "warehouse": str(warehouse),
        "paimon_version": CONNECTOR,
        "threads": 2,
        "spark_config": spark_config | {"spark.sql.session.timeZone": "UTC"},
    }
