"""The worked stream of the reference project, from a broker: the same as from its files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.session import open_session
from integration.services.kafka import Kafka, kafka

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "data" / "flight_status").glob("*.json"))


def build(folder: Path, broker: Kafka) -> None:
    """`dbt build` with the target `kafka`, as `make run` has it where FLIGHTS_KAFKA is set."""
    arguments = ["--project-dir", ROOT, "--profiles-dir", ROOT / "profiles", "--target", "kafka"]
    places = ["--target-path", folder / "target", "--log-path", folder / "logs"]
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "build", "--select", "examples.streaming"),
            *(str(argument) for argument in (*arguments, *places)),
        ],
        env={
            **os.environ,
            "FLIGHTS_KAFKA": broker.address,
            "FLIGHTS_WAREHOUSE": str(folder / "warehouse"),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]


def test_from_a_broker(tmp_path: Path, spark_config: dict[str, Any]) -> None:
    # A broker of its own: other tests have a topic of this name.
    with kafka(tmp_path / "kafka") as broker:
        broker.create("flight_status")
        for files in (FILES[:-1], FILES[-1:]):
            broker.send("flight_status", [line for file in files for line in file.read_text().splitlines()])
            build(tmp_path, broker)

    warehouse = str(tmp_path / "warehouse")
    session = open_session(
        PaimonCredentials(schema="kafka", warehouse=warehouse, spark_config=dict(spark_config))
    ).session

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return sorted(
            tuple(row) for row in session.sql(sql.format("paimon.flights_kafka_examples")).collect()
        )

    by_status = [("arrived", 168, 3585), ("cancelled", 2, None), ("diverted", 2, None)]
    assert rows("select status, flights, delay_minutes from {}.ex_flights_by_status") == by_status
    counted = "select count(distinct batch_id), count(*) from {}.ex_flight_status__dead_letters"
    assert rows(counted) == [(1, 2)]
    commits = "select count(*) from {}.`ex_flight_status$snapshots` where commit_user like 'dbts-%'"
    assert rows(commits) == [(2,)]
