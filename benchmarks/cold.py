"""Measures whole processes: dbt, and a plain PySpark script that sends the same statements.

Each process starts its own JVM. It works on a copy of a warehouse that was built before, so that a usual run is
measured, and not a first one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchmarks.contestants import SPARK
from benchmarks.jars import connector
from benchmarks.measure import Spent, command, usual

_DBT = "from dbt.cli.main import cli; cli()"


@dataclass(frozen=True)
class Project:
    """A dbt project in `folder`, built once, whose runs are to be measured."""

    adapter: str
    folder: Path
    threads: int = 1
    # Spark settings in addition to those of all projects.
    settings: Mapping[str, str] = field(default_factory=dict)
    # More keys of its profile.
    target: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    def prepare(self, models: Mapping[str, str]) -> None:
        """Write and build the project, so that its tables exist and caches are filled (dbt-paimon needs two runs)."""
        self.write(models)
        for name in ("first", "second") if self.adapter == "paimon" else ("first",):
            command(self.dbt("run"), self.lake, self.environment(), self.folder / f"{name}.log")
        shutil.copytree(self.lake, self.folder / "as-built")

    def write(self, models: Mapping[str, str], method: str = "session") -> None:
        """Write the project without building it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "models").mkdir(parents=True)
        self.lake.mkdir()
        for name, text in models.items():
            (self.folder / "models" / name).write_text(text)
        project = {"name": "bench", "version": "1.0", "profile": "bench"}
        (self.folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
        target: dict[str, Any] = {
            "type": self.adapter,
            "method": method,
            "schema": "bench",
            "threads": self.threads,
        }
        if self.adapter == "paimon":
            target |= {"warehouse": str(self.lake / "warehouse"), "spark_config": {**SPARK, **self.settings}}
        else:
            target |= {"host": "none", "server_side_parameters": {**SPARK, **self._hive()}}
        target |= self.target
        profile = {"bench": {"target": "bench", "outputs": {"bench": target}}}
        (self.folder / "profiles.yml").write_text(yaml.safe_dump(profile))

    def _hive(self) -> dict[str, str]:
        """Settings for the Hive catalog that dbt-spark's session needs: a Derby database per project."""
        database = f"jdbc:derby:;databaseName={self.lake}/metastore;create=true"
        return {
            "spark.sql.warehouse.dir": str(self.lake / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": database,
        }

    def dbt(self, *arguments: str) -> list[str]:
        """The command line of a dbt command on this project."""
        return [sys.executable, "-c", _DBT, *arguments, *self._places]

    def dbt_paimon(self, *arguments: str) -> list[str]:
        """The command line of a dbt-paimon command on this project."""
        return [str(Path(sys.executable).with_name("dbt-paimon")), *arguments, *self._places]

    @property
    def _places(self) -> list[str]:
        return ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]

    def record(self) -> list[str]:
        """Run the project, and return the statements that dbt sends."""
        self.reset()
        found = self.folder / "statements.json"
        arguments = self.dbt("run")[3:]
        command(
            [sys.executable, "-m", "benchmarks.record", str(found), *arguments],
            self.lake,
            self.environment(),
            self.folder / "record.log",
        )
        statements: list[str] = json.loads(found.read_text())
        return statements

    def script(self, statements: Sequence[str]) -> list[str]:
        """The command line of a plain script that sends the statements, with the Spark settings but no JVM options."""
        if self.adapter == "paimon":
            conf: dict[str, Any] = {
                **SPARK,
                "spark.jars": str(connector()),
                "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
                "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
                "spark.sql.catalog.paimon.warehouse": str(self.lake / "warehouse"),
                "spark.sql.defaultCatalog": "paimon",
                "spark.sql.variable.substitute": "false",
                "spark.sql.warehouse.dir": str(self.folder / "of-spark"),
            }
        else:
            conf = {**SPARK, **self._hive(), "hive": True}
        (self.folder / "conf.json").write_text(json.dumps(conf))
        said = self.folder / "said.json"
        said.write_text(json.dumps(statements))
        replay = Path(__file__).with_name("replay.py")
        return [sys.executable, str(replay), str(self.folder / "conf.json"), str(said)]

    def environment(self) -> dict[str, str]:
        """The environment of a process; with the connector as a file, so that dbt-paimon does not start Ivy."""
        return {
            **usual(os.environ),
            "DBT_PAIMON_JARS": str(connector()),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "PYSPARK_PYTHON": sys.executable,
        }

    def reset(self) -> None:
        """Restore the warehouse as it was built."""
        shutil.rmtree(self.lake)
        shutil.copytree(self.folder / "as-built", self.lake)

    def timed(self, name: str, arguments: Sequence[str]) -> Callable[[int], Spent]:
        """A contestant that runs the command on the restored warehouse."""

        def once(number: int) -> Spent:
            self.reset()
            log = self.folder / f"{name}-{number}.log"
            return command(arguments, self.lake, self.environment(), log)

        return once
