"""Streams from a real broker into a local warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.services.kafka import Kafka


@pytest.fixture(scope="class")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a test class."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path, broker: Kafka, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target that names the broker."""
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": str(warehouse),
        "threads": 2,
        "kafka_options": {"kafka.bootstrap.servers": broker.address},
        "spark_config": spark_config,
    }
