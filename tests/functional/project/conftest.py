"""Fixtures that run the reference project (the repository's root) in a warehouse for the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import land_flights
import pytest
import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import SessionHandle, open_session

ROOT = Path(__file__).parents[3]


@dataclass
class Lakehouse:
    """A warehouse in which dbt builds the project."""

    folder: Path
    target: dict[str, Any]
    project: Path = ROOT

    @cached_property
    def handle(self) -> SessionHandle:
        """The tests' own Spark session on the warehouse."""
        profile = {key: value for key, value in self.target.items() if key not in ("type", "threads")}
        return open_session(Runtime(PaimonCredentials.from_dict(profile)))

    def dbt(self, *arguments: str) -> Any:
        """Run dbt on the project and require that every node passes.

        Returns: dbt's result object.
        """
        places = {
            "--project-dir": self.project,
            "--profiles-dir": self.folder,
            "--target-path": self.folder / "target",
            "--log-path": self.folder / "logs",
        }
        result = dbtRunner().invoke([*arguments, *(str(part) for pair in places.items() for part in pair)])
        assert result.success, result.exception or [
            r.message for r in result.result.results if r.status in ("error", "fail")
        ]
        return result.result

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, run in the tests' own session."""
        cursor = self.handle.cursor()
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    def names(self) -> list[tuple[str, str]]:
        """The schema and name of every table in the warehouse."""
        schemas = [row[0] for row in self.rows("show databases in paimon")]
        return [(schema, row[1]) for schema in schemas for row in self.rows(f"show tables in paimon.`{schema}`")]

    def fingerprints(self) -> dict[str, tuple[int, int]]:
        """The row count and the sum of row hashes of every table, by `schema.table`.

        The hashes leave out snapshot columns that depend on the time of the run.
        """
        found = {}
        for schema, table in self.names():
            described = self.rows(f"describe table paimon.`{schema}`.`{table}`")
            columns = dict.fromkeys(row[0] for row in described if row[0] and not row[0].startswith("#"))
            kept = ", ".join(f"`{name}`" for name in columns if name not in ("dbt_updated_at", "dbt_scd_id"))
            sql = f"select count(*), sum(cast(xxhash64({kept}) as decimal(38, 0))) from paimon.`{schema}`.`{table}`"
            found[f"{schema}.{table}"] = self.rows(sql)[0]
        return found

    def snapshot_ids(self) -> dict[str, int]:
        """The id of the latest table snapshot of every table that has one."""
        found = {}
        for schema, table in self.names():
            newest = self.rows(f"select max(snapshot_id) from paimon.`{schema}`.`{table}$snapshots`")[0][0]
            if newest is not None:
                found[f"{schema}.{table}"] = newest
        return found


@pytest.fixture(scope="session")
def new_lakehouse(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> Callable[[str], Lakehouse]:
    """Function: create an empty warehouse and a profile for it."""
    land_flights.land()

    def make(name: str) -> Lakehouse:
        folder = tmp_path_factory.mktemp(name)
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "schema": "flights",
            "warehouse": str(folder / "warehouse"),
            "threads": 2,
            "spark_config": spark_config,
        }
        profile = {"flights_lakehouse": {"target": "test", "outputs": {"test": target}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
        return Lakehouse(folder, target)

    return make
