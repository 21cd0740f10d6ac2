"""The target of the random sequences; they run on the pytest worker's Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> dict[str, Any]:
    """The profile's target, without a schema."""
    warehouse: Path = tmp_path_factory.mktemp("differential")
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": str(warehouse),
        "threads": 3,
        "spark_config": spark_config | {"spark.sql.warehouse.dir": f"{warehouse}-of-spark"},
    }
