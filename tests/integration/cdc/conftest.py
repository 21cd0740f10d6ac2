"""Change data capture: Debezium in Kafka Connect, from the test's own database into a local warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.services.connect import Connect, connect
from integration.services.kafka import Kafka
from integration.services.postgres import Postgres, postgres


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres(wal_level="logical") as server:
        yield server


@pytest.fixture(scope="class")
def worker(broker: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Kafka Connect, which stores its offsets twice a second."""
    with connect(tmp_path_factory.mktemp("connect"), broker.address, offset_flush_interval_ms="500") as it:
        it.start()
        yield it


@pytest.fixture(scope="class")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a test class."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path, broker: Kafka, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target with the broker in its Kafka options."""
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": str(warehouse),
        "threads": 2,
        "kafka_options": {"kafka.bootstrap.servers": broker.address},
        "spark_config": spark_config,
    }
