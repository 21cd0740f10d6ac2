"""The reference project at the repository's root, run by dbt into a warehouse of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.session import open_session

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Lakehouse:
    """One warehouse that the project is built in."""

    folder: Path
    target: dict[str, Any]

    def dbt(self, *arguments: str) -> Any:
        """Run dbt on the project; every node has to pass.

        Returns: dbt's result object.
        """
        places = {
            "--project-dir": ROOT,
            "--profiles-dir": self.folder,
            "--target-path": self.folder / "target",
            "--log-path": self.folder / "logs",
        }
        result = dbtRunner().invoke([*arguments, *(str(part) for pair in places.items() for part in pair)])
        assert result.success, result.exception or [
            r.message for r in result.result if r.status in ("error", "fail")
        ]
        return result.result

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, on a session of its own."""
        credentials = PaimonCredentials.from_dict(
            {k: v for k, v in self.target.items() if k not in ("type", "threads")}
        )
        return [tuple(row) for row in open_session(credentials).session.sql(sql).collect()]

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of every table of the warehouse, sorted, by `schema.table`; system columns of dbt left out."""
        found = {}
        for (schema,) in self.rows("show databases in paimon"):
            for _, table, _ in self.rows(f"show tables in paimon.`{schema}`"):
                columns = [
                    row[0]
                    for row in self.rows(f"describe table paimon.`{schema}`.`{table}`")
                    if row[0] and row[0][0] != "#"
                ]
                kept = ", ".join(
                    f"`{c}`" for c in dict.fromkeys(columns) if c not in ("dbt_updated_at", "dbt_scd_id")
                )
                found[f"{schema}.{table}"] = sorted(
                    self.rows(f"select {kept} from paimon.`{schema}`.`{table}`"), key=repr
                )
        return found

    def snapshot_ids(self) -> dict[str, int]:
        """The newest table snapshot of every table that has one."""
        found = {}
        for (schema,) in self.rows("show databases in paimon"):
            for _, table, _ in self.rows(f"show tables in paimon.`{schema}`"):
                newest = self.rows(f"select max(snapshot_id) from paimon.`{schema}`.`{table}$snapshots`")[0][
                    0
                ]
                if newest is not None:
                    found[f"{schema}.{table}"] = newest
        return found


@pytest.fixture(scope="session")
def new_lakehouse(
    tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]
) -> Callable[[str], Lakehouse]:
    """Make an empty warehouse and a profile for it."""

    def make(name: str) -> Lakehouse:
        folder = tmp_path_factory.mktemp(name)
        target = {
            "type": "paimon",
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
