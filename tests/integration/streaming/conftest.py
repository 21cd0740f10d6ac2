"""Streams from a real broker into a local warehouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import get_connection

from integration.services.kafka import Kafka

Rows = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="class")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a test."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path, broker: Kafka, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target that names the broker."""
    return {
        "type": "paimon",
        "method": "session",
        "warehouse": str(warehouse),
        "threads": 2,
        "kafka_options": {"kafka.bootstrap.servers": broker.address},
        "spark_config": spark_config,
    }


@pytest.fixture(scope="class")
def rows(project: Any) -> Rows:
    """Run a query on the test's own session and give its rows as tuples; `{schema}` is the test's schema."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        with get_connection(project.adapter):
            return [
                tuple(row)
                for row in project.adapter.query(sql.format(schema=f"paimon.{project.test_schema}"))
            ]

    return run
