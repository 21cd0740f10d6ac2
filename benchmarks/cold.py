"""Whole processes beside each other: dbt, and a plain PySpark script that sends the same statements.

A process starts its own JVM, and works on its own copy of a warehouse that was built before: what is measured is a
usual run, not a first one.
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
    # Settings of Spark beside those that all have.
    settings: Mapping[str, str] = field(default_factory=dict)
    # More of its profile.
    target: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    def prepare(self, models: Mapping[str, str]) -> None:
        """Write the project, and build it: its tables are there, and caches are filled (ours by two runs)."""
        self.write(models)
        for name in ("first", "second") if self.adapter == "paimon" else ("first",):
            command(self.dbt("run"), self.lake, self.environment(), self.folder / f"{name}.log")
        shutil.copytree(self.lake, self.folder / "as-built")

    def write(self, models: Mapping[str, str], method: str = "session") -> None:
        """Write the project, and build nothing."""
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
        """dbt-spark's session asks for Hive's catalog: a Derby database of its own."""
        database = f"jdbc:derby:;databaseName={self.lake}/metastore;create=true"
        return {
            "spark.sql.warehouse.dir": str(self.lake / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": database,
        }

    def dbt(self, *arguments: str) -> list[str]:
        """A command of dbt on this project."""
        return [sys.executable, "-c", _DBT, *arguments, *self._places]

    def dbt_paimon(self, *arguments: str) -> list[str]:
        """A command of dbt-paimon on this project."""
        return [str(Path(sys.executable).with_name("dbt-paimon")), *arguments, *self._places]

    @property
    def _places(self) -> list[str]:
        return ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]

    def record(self) -> list[str]:
        """The statements of a run."""
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
        """A plain script that sends the statements, with Spark's settings and none of the JVM's."""
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
        """Both get the connector as a file, so that neither asks Ivy."""
        return {
            **usual(os.environ),
            "DBT_PAIMON_JARS": str(connector()),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "PYSPARK_PYTHON": sys.executable,
        }

    def reset(self) -> None:
        """The warehouse as it was built."""
        shutil.rmtree(self.lake)
        shutil.copytree(self.folder / "as-built", self.lake)

    def timed(self, name: str, arguments: Sequence[str]) -> Callable[[int], Spent]:
        """A contestant: the command, on the warehouse as it was built."""

        def once(number: int) -> Spent:
            self.reset()
            log = self.folder / f"{name}-{number}.log"
            return command(arguments, self.lake, self.environment(), log)

        return once
