"""Spark's own servers, from PySpark's files: a standalone cluster, the Thrift server, the Connect server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

import pyspark
from pyhive import hive

from dbt.adapters.paimon.capabilities import artifacts
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import java
from dbt.adapters.paimon.spark.launch import packages
from integration.services import maven
from integration.services.process import LOOPBACK, free_port, running

HOME = Path(pyspark.__file__).parent
EXTENSIONS = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
CATALOG = "org.apache.paimon.spark.SparkCatalog"
# The memory that a test machine can spare.
MEMORY = "1g"


def spark_version() -> str:
    """The version of the installed PySpark."""
    return version("pyspark")


def connector() -> Path:
    """The jar of Paimon's connector: that of DBT_PAIMON_JARS, or the default one from Maven Central."""
    credentials = PaimonCredentials(paimon_version="0.9.0", schema="any", warehouse=os.curdir)
    plan = packages.plan_packages(credentials, credentials.storages(), spark_version())
    if plan.jars:
        return Path(plan.jars[0])
    return maven.jar(*plan.packages[0].split(":"))


def environment(**variables: str) -> dict[str, str]:
    """The environment variables for Spark's scripts; they override those of an installed Spark."""
    return {
        "JAVA_HOME": java.find_java(os.environ, spark_version()).home,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
        **variables,
    }


@contextmanager
def standalone_cluster(logs: Path, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core each; yields the master's URL."""
    port, ui = free_port(), free_port()
    spark_class = HOME / "bin" / "spark-class"
    master = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as stack:
        command = [spark_class, "org.apache.spark.deploy.master.Master"]
        options = ["--host", LOOPBACK, "--port", str(port), "--webui-port", str(ui)]
        stack.enter_context(running([*command, *options], logs / "master.log", [port], environment()))
        for number in range(workers):
            web = free_port()
            command = [spark_class, "org.apache.spark.deploy.worker.Worker"]
            options = ["--host", LOOPBACK, "--cores", "1", "--memory", MEMORY, "--webui-port", str(web)]
            options += ["--work-dir", str(logs / f"worker{number}"), master]
            stack.enter_context(running([*command, *options], logs / f"worker{number}.log", [web], environment()))
        yield master


@contextmanager
def thrift_server(logs: Path, warehouse: Path, conf: Mapping[str, str] | None = None) -> Iterator[int]:
    """Spark's Thrift server with a Paimon catalog `paimon`; yields its port."""
    port = free_port()
    settings = {
        **paimon_conf(warehouse),
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": LOOPBACK,
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:memory:thrift{port};create=true",
        **(conf or {}),
    }
    command = _submit("org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", settings, [connector()])
    with running(command, logs / "thrift.log", [port], environment(), cwd=_made(logs / "thrift")):
        # The first session is slow, so open it here instead of in a test.
        hive.connect(LOOPBACK, port).close()
        yield port


@contextmanager
def connect_server(logs: Path, warehouse: Path, conf: Mapping[str, str] | None = None) -> Iterator[int]:
    """Spark's Connect server with a Paimon catalog `paimon`; yields its port."""
    port = free_port()
    settings = {
        **paimon_conf(warehouse),
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": LOOPBACK,
        **(conf or {}),
    }
    server = artifacts.connect_server_artifact(spark_version())
    jars = [connector(), *([maven.jar(*server.split(":"))] if server else [])]
    command = _submit("org.apache.spark.sql.connect.service.SparkConnectServer", settings, jars)
    with running(command, logs / "connect.log", [port], environment(), cwd=_made(logs / "connect")):
        yield port


def paimon_conf(warehouse: Path) -> dict[str, str]:
    """A server's settings for Paimon."""
    return {
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.catalog.paimon": CATALOG,
        "spark.sql.catalog.paimon.warehouse": str(warehouse),
    }


def _submit(main: str, conf: Mapping[str, str], jars: Sequence[Path]) -> list[str | Path]:
    settings = {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **conf,
    }
    # The driver's class path, because a Thrift server's threads do not see the jars of --jars.
    return [
        *(HOME / "bin" / "spark-submit", "--class", main, "--master", "local[2]", "--driver-memory", MEMORY),
        *("--driver-class-path", os.pathsep.join(map(str, jars))),
        *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
        "spark-internal",
    ]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
