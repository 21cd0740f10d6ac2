"""The contestants: table formats that dbt writes, each set up as in its own documentation for Spark 3.5."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.measure import Spent, stop

ICEBERG: Final = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0"
DELTA: Final = "io.delta:delta-spark_2.12:3.3.3"
HUDI: Final = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2"
ROOT: Final = Path(__file__).parent
CORES: Final = os.cpu_count() or 2

# All contestants get the same Spark settings, including those that dbt-paimon sets for a laptop.
SPARK: Final = {
    "spark.master": f"local[{CORES}]",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


@dataclass(frozen=True)
class Contestant:
    """A table format, the adapter that writes it, and the config of a model with the key `id`.

    `compaction` is a statement, with `{table}` for schema.table; '' if the format has no such statement.
    """

    name: str
    adapter: str
    config: Mapping[str, Any]
    compaction: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    # More keys of its profile.
    target: Mapping[str, Any] = field(default_factory=dict)


def _paimon(name: str, **config: Any) -> Contestant:
    return Contestant(
        f"Paimon, {name}",
        "paimon",
        {"primary_key": "id", **config},
        "call sys.compact(table => '{table}')",
    )


def _iceberg(name: str, mode: str) -> Contestant:
    modes = {f"write.{operation}.mode": mode for operation in ("delete", "update", "merge")}
    return Contestant(
        f"Iceberg, {name}",
        "spark",
        {
            "file_format": "iceberg",
            "incremental_strategy": "merge",
            "unique_key": "id",
            "tblproperties": {"format-version": "2", **modes},
        },
        "call spark_catalog.system.rewrite_data_files(table => '{table}', "
        "options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true'))",
        {
            "spark.jars.packages": ICEBERG,
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
            # dbt-spark finds only the tables of a metastore, so use a Derby database.
            "spark.sql.catalog.spark_catalog.type": "hive",
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                "jdbc:derby:;databaseName={warehouse}/../metastore;create=true"
            ),
            "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
        },
    )


def _delta(name: str, **properties: str) -> Contestant:
    return Contestant(
        f"Delta, {name}",
        "spark",
        {
            "file_format": "delta",
            "incremental_strategy": "merge",
            "unique_key": "id",
            **({"tblproperties": properties} if properties else {}),
        },
        "optimize {table}",
        {
            "spark.jars.packages": DELTA,
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        },
    )


CONTESTANTS: Final = (
    _paimon("upsert", incremental_strategy="upsert"),
    _paimon("upsert, fixed buckets", incremental_strategy="upsert", bucket=CORES),
    _paimon("upsert, dynamic buckets", incremental_strategy="upsert", bucket=-1),
    _paimon("upsert with deletion vectors", incremental_strategy="upsert", deletion_vectors=True),
    _paimon("merge", incremental_strategy="merge"),
    _paimon("partial_update", incremental_strategy="partial_update", merge_engine="partial-update"),
    _iceberg("copy-on-write", "copy-on-write"),
    _iceberg("merge-on-read", "merge-on-read"),
    _delta("plain"),
    _delta("deletion vectors", **{"delta.enableDeletionVectors": "true"}),
    Contestant(
        "Hudi",
        "spark",
        {
            "file_format": "hudi",
            "incremental_strategy": "merge",
            "unique_key": "id",
            "options": {"type": "cow", "primaryKey": "id", "preCombineField": "updated_at"},
        },
        "",
        {
            "spark.jars.packages": HUDI,
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        },
    ),
)


def named(*names: str) -> list[Contestant]:
    """The contestants with these full names, in this order."""
    by_name = {one.name: one for one in CONTESTANTS}
    return [by_name[name] for name in names]


class FailedError(RuntimeError):
    """A contestant cannot continue: its jars, its process or its model failed. `why` is one line without paths."""

    def __init__(self, name: str, why: str, log: str) -> None:
        super().__init__(f"{name}: {why[:2000]}; see {log}")
        self.why = re.sub(r"\S*/\S+/\S*", "…", why.strip().partition("\n")[0])[:200]


class Worker:
    """A contestant's own process; `close` ends it."""

    def __init__(self, contestant: Contestant, project: Path, folder: Path, threads: int = 1) -> None:
        """Write the profile, and start the process.

        Args:
            contestant: the contestant to run.
            project: the folder of a dbt project with the profile `bench`.
            folder: a new folder for the warehouse, dbt's files and the log.
            threads: the number of dbt's threads.
        """
        self.contestant = contestant
        self.folder = folder
        self.warehouse = folder / "warehouse"
        self.warehouse.mkdir(parents=True)
        ours = contestant.adapter == "paimon"
        target = {"type": contestant.adapter, "method": "session", "schema": "bench", "threads": threads}
        if ours:
            target |= {"warehouse": str(self.warehouse), "spark_config": {**SPARK, **contestant.conf}}
            target |= contestant.target
        else:
            target |= {"host": "none"}
        profile = {"bench": {"target": "bench", "outputs": {"bench": target}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
        self._places = [
            *("--project-dir", str(project)),
            *("--profiles-dir", str(folder)),
            *("--target-path", str(folder / "target")),
            *("--log-path", str(folder / "logs")),
        ]
        self._log = (folder / "worker.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", json.dumps(None if ours else self._conf())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT.parent,
            env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "0", "PYSPARK_PYTHON": sys.executable},
        )

    def _conf(self) -> dict[str, str]:
        warehouse = str(self.warehouse)
        given = {key: value.replace("{warehouse}", warehouse) for key, value in self.contestant.conf.items()}
        return {**SPARK, "spark.sql.warehouse.dir": warehouse, **given}

    def dbt(self, *arguments: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run dbt with this contestant's model config. Raises FailedError."""
        given = {"config": dict(self.contestant.config), **(variables or {})}
        return self._ask({"dbt": [*arguments, *self._places, "--vars", json.dumps(given)]})

    def sql(self, text: str) -> tuple[list[list[str]], Spent]:
        """Run a statement; `{table}` stands for schema.table of the model `facts`. Raises FailedError."""
        answer = self._ask({"sql": text.replace("{table}", "bench.facts")})
        return answer["rows"], Spent(**answer["total"])

    def stream(self, given: Mapping[str, Any]) -> Spent:
        """Run Spark's own stream (`delta_sink.Stream`) until it ends. Raises FailedError."""
        return Spent(**self._ask({"stream": dict(given)})["total"])

    def close(self) -> None:
        """End the process and its JVM."""
        stop(self._process)
        self._log.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        line = ""
        # A process that has ended does not read.
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"failed": ["the process has ended"]}
        if answer.get("failed"):
            raise FailedError(self.contestant.name, "; ".join(answer["failed"]), self._log.name)
        return answer
