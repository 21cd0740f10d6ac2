"""dbt on a YARN cluster: the executors run in containers, and no rows are lost if one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from integration.services.yarn import Yarn

pytestmark = pytest.mark.full

ROWS = 2000
UPSERTED = f"""
{{{{ config(materialized='incremental', primary_key='id', bucket=2) }}}}
select id, {{{{ var('step') }}}} as step from range({ROWS})
{{% if is_incremental() %}} where id < {ROWS // 2} {{% endif %}}
"""
PYTHON = """
def model(dbt, session):
    dbt.config(materialized="table")
    from pyspark.sql import functions as f

    @f.udf("long")
    def tripled(number):
        return number * 3

    return dbt.ref("upserted").select("id", tripled("id").alias("tripled"))
"""
# Some seconds of work for each of eight tasks, whose rows are shuffled.
SLOW = f"""
{{{{ config(materialized='table', primary_key='id', bucket=4) }}}}
select a.id, sum(hash(a.id, b.id)) as total from range(0, {ROWS}, 1, 8) as a cross join range(200000) as b group by a.id
"""


class Folder:
    """A project on the cluster."""

    def __init__(self, path: Path, cluster: Yarn) -> None:
        self.path = path
        self.lake = path / "lake"
        target = {
            "type": "paimon",
            "method": "session",
            "schema": "on_yarn",
            "warehouse": str(self.lake),
            "paimon_version": "0.9.0",
            "spark_config": {
                "spark.master": "yarn",
                "spark.yarn.stagingDir": str(path),
                "spark.executor.instances": 2,
                "spark.executor.memory": "512m",
                "spark.driver.memory": "1g",
            },
        }
        (path / "profiles.yml").write_text(yaml.safe_dump({"it": {"target": "it", "outputs": {"it": target}}}))
        (path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "on_yarn", "profile": "it"}))
        (path / "models").mkdir()
        self.environment = {
            **os.environ,
            "HADOOP_CONF_DIR": str(cluster.conf),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        }

    def write(self, name: str, text: str) -> None:
        (self.path / "models" / name).write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", *arguments],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> None:
        process = self.start("run", *arguments)
        output, _ = process.communicate(timeout=900)
        assert process.returncode == 0, output[-3000:]


@pytest.fixture
def folder(tmp_path: Path, cluster: Yarn) -> Folder:
    return Folder(tmp_path, cluster)


@pytest.fixture
def rows(folder: Folder, spark_config: dict[str, Any]) -> Callable[[str], list[tuple[Any, ...]]]:
    """Function: the rows of a query, which runs on this machine, outside the cluster."""

    def read(sql: str) -> list[tuple[Any, ...]]:
        credentials = PaimonCredentials(
            paimon_version="0.9.0", schema="any", warehouse=str(folder.lake), spark_config=spark_config
        )
        cursor = open_handle(Runtime(credentials)).cursor()
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    return read


def executors() -> list[psutil.Process]:
    """The executors' JVMs in the cluster's containers."""
    return list(_executors())


def _executors() -> Iterator[psutil.Process]:
    for process in psutil.process_iter(["cmdline", "name"]):
        line = process.info["cmdline"] or []
        if process.info["name"] == "java" and any("YarnCoarseGrainedExecutorBackend" in part for part in line):
            yield process


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, process.communicate()[0][-3000:]
        assert time.monotonic() < end
        time.sleep(0.2)


def works(process: psutil.Process, seconds: float) -> bool:
    """Whether an executor has used more CPU than its start takes (`seconds`)."""
    used = process.cpu_times()
    return bool(used.user + used.system > seconds)


def test_upserts_and_python(folder: Folder, cluster: Yarn, rows: Any) -> None:
    folder.write("upserted.sql", UPSERTED)
    folder.write("tripled.py", PYTHON)
    for step in (1, 2):
        folder.run("--vars", f"step: {step}")
        application = cluster.last_application()
        assert (application["Final-State"], application["Application-Type"]) == ("SUCCEEDED", "SPARK")
    assert rows("select step, count(*), min(id) from paimon.on_yarn.upserted group by step order by step") == [
        (1, ROWS // 2, ROWS // 2),
        (2, ROWS // 2, 0),
    ]
    assert rows("select count(*), sum(tripled) from paimon.on_yarn.tripled") == [(ROWS, 3 * sum(range(ROWS)))]


def test_an_executor_dies(folder: Folder, cluster: Yarn, rows: Any) -> None:
    folder.write("slow.sql", SLOW)
    process = folder.start("run")
    wait_for(lambda: any(works(each, 12) for each in executors()), process)
    killed = next(each for each in executors() if works(each, 12))
    killed.send_signal(signal.SIGKILL)
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output[-3000:]
    assert cluster.last_application()["Final-State"] == "SUCCEEDED"
    query = SLOW.partition("}}")[2]
    assert rows(f"select * from ({query}) except all select * from paimon.on_yarn.slow") == []
    assert rows("select count(*) from paimon.on_yarn.slow") == [(ROWS,)]
    assert rows("select count(*) from paimon.on_yarn.`slow$snapshots`") == [(1,)]


def test_dbt_is_killed(folder: Folder, cluster: Yarn, rows: Any) -> None:
    folder.write("slow.sql", UPSERTED)
    folder.run("--vars", "step: 1")
    folder.write("slow.sql", SLOW)
    process = folder.start("run", "--full-refresh")
    wait_for(lambda: any(works(each, 12) for each in executors()), process)
    process.kill()
    process.wait()
    # dbt's JVM ends with dbt, and the application with the JVM.
    assert cluster.last_application()["Final-State"] != "UNDEFINED"
    assert cluster.containers() == 0
    assert executors() == []
    assert rows("select step, count(*) from paimon.on_yarn.slow group by step") == [(1, ROWS)]
