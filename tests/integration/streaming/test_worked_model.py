"""The reference project's example stream, read from a broker instead of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from integration.services.kafka import Kafka, kafka

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "examples" / "data" / "flight_status").glob("*.json"))


def build(folder: Path, broker: Kafka) -> None:
    """`dbt build` with the target `kafka`, as in `make examples` with FLIGHTS_KAFKA set."""
    places = {
        "--project-dir": ROOT / "examples",
        "--profiles-dir": ROOT / "profiles",
        "--target-path": folder / "target",
        "--log-path": folder / "logs",
    }
    arguments = ["--target", "kafka", *(str(part) for pair in places.items() for part in pair)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIGHTS_KAFKA", broker.address)
        patch.setenv("FLIGHTS_WAREHOUSE", str(folder / "warehouse"))
        result = dbtRunner().invoke(["build", "--select", "streaming", *arguments])
    assert result.success, result.exception or [
        node.message for node in result.result if node.status in ("error", "fail")
    ]


def test_from_a_broker(tmp_path: Path, spark_config: dict[str, Any]) -> None:
    warehouse = str(tmp_path / "warehouse")
    # Started here, so that the Spark that dbt reuses has the jars of all tests.
    session = open_session(
        Runtime(
            PaimonCredentials(
                paimon_version="0.9.0", schema="kafka", warehouse=warehouse, spark_config=dict(spark_config)
            )
        )
    ).session
    # A separate broker, because other tests have a topic of this name.
    with kafka(tmp_path / "kafka") as broker:
        broker.create("flight_status")
        for files in (FILES[:-1], FILES[-1:]):
            broker.send("flight_status", [line for file in files for line in file.read_text().splitlines()])
            build(tmp_path, broker)

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in session.sql(sql.format("paimon.flights_kafka_examples")).collect())

    by_status = [("arrived", 168, 3585), ("cancelled", 2, None), ("diverted", 2, None)]
    assert rows("select status, flights, delay_minutes from {}.ex_flights_by_status") == by_status
    counted = "select count(distinct batch_id), count(*) from {}.ex_flight_status__dead_letters"
    assert rows(counted) == [(1, 2)]
    commits = "select count(*) from {}.`ex_flight_status$snapshots` where commit_user like 'dbts-%'"
    assert rows(commits) == [(2,)]
