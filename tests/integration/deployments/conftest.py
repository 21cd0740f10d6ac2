"""The deployments of the reference project: the profile target of each, and the services that it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import land_flights
import pytest

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from integration import build
from integration.services import spark
from integration.services.process import SHORT_LIVED
from integration.services.yarn import Yarn
from integration.services.yarn import yarn as yarn_cluster

ROOT = Path(__file__).parents[3]
# Three days of flights: enough for rows in every model, and quick to build.
KNOWN_UNTIL = "2013-01-03"
SECONDS = 2700
# The examples are about tables, so only a few deployments build them: local, the two servers, and one on S3.
EXAMPLES_ON = ("local", "thrift", "connect", "s3")
# Examples that dbt_project.yml disables on a server: a stream, which runs dbt's own Python in each batch (a server
# refuses it: tests/integration/engines/test_warm_server.py), and the models that read its table.
STREAMED = ("ex_flight_status", "ex_flight_status_read", "ex_flights_by_status", "ex_unread_messages")


@dataclass
class Deployment:
    """One target of profiles.yml or profiles/profiles.yml, and the values of its variables here.

    Attributes:
        target: its name.
        variables: the environment variables that the profile reads.
        here: whether it is built in this process, whose Spark already runs, instead of in a separate one.
        tested: whether the project's data tests run, too (the examples' data tests always do). The rows are the same
            everywhere, so they are useful only where another engine runs their SQL.
    """

    target: str
    variables: dict[str, str] = field(default_factory=dict)
    here: bool = False
    tested: bool = True

    @property
    def has_examples(self) -> bool:
        """Whether the worked examples are built, too."""
        return self.target in EXAMPLES_ON

    def build(self, folder: Path) -> dict[str, Any]:
        """Build the project. Returns the report of `integration.build`."""
        land_flights.land()
        report = folder / f"{self.target}.json"
        arguments = {
            "--target": self.target,
            "--project-dir": str(ROOT),
            "--profiles-dir": str(ROOT if self.target == "local" else ROOT / "profiles"),
            "--target-path": str(folder / "target"),
            "--log-path": str(folder / "logs"),
            "--vars": f"{{known_until: {KNOWN_UNTIL}}}",
        }
        # Unit tests do not depend on the deployment; the tests of the project run them.
        command = [part for pair in arguments.items() for part in pair] + ["--exclude", "test_type:unit"]
        if not self.tested:
            kinds = [f"resource_type:{kind}" for kind in ("model", "seed", "snapshot")]
            command += ["--indirect-selection", "empty", "--select", *kinds]
        command += ["--examples"] * self.has_examples
        environ = {
            "FLIGHTS_DATA": str(land_flights.FOLDER),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            **self.variables,
        }
        if self.here:
            with pytest.MonkeyPatch.context() as patch:
                for name, value in environ.items():
                    patch.setenv(name, value)
                build.main(report, command)
        else:
            _build_elsewhere(folder, report, command, {**environ, **SHORT_LIVED})
        found: dict[str, Any] = json.loads(report.read_text())
        return found


def _build_elsewhere(folder: Path, report: Path, command: list[str], environ: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "integration.build", str(report), *command],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests"), **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert report.exists(), ended.stdout[-3000:] + ended.stderr[-3000:]


Start = Callable[[Path, pytest.FixtureRequest], AbstractContextManager[Deployment]]


@contextmanager
def local(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    request.getfixturevalue("running_spark")
    yield Deployment("local", {"FLIGHTS_WAREHOUSE": str(folder / "warehouse")}, here=True)


@contextmanager
def standalone(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    with spark.standalone_cluster(folder / "services") as master:
        yield Deployment("standalone", {"FLIGHTS_WAREHOUSE": str(folder / "warehouse"), "FLIGHTS_MASTER": master})


@contextmanager
def yarn(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    cluster: Yarn = request.getfixturevalue("cluster")
    variables = {"FLIGHTS_WAREHOUSE": str(folder / "warehouse"), "HADOOP_CONF_DIR": str(cluster.conf)}
    yield Deployment("yarn", variables)
    assert cluster.last_application()["Final-State"] == "SUCCEEDED"


@contextmanager
def thrift(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    with spark.thrift_server(folder / "services", folder / "warehouse") as port:
        yield Deployment("thrift", _of_server(folder, port))


@contextmanager
def connect(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    with spark.connect_server(folder / "services", folder / "warehouse") as port:
        yield Deployment("connect", _of_server(folder, port))


@contextmanager
def hive(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    service = request.getfixturevalue("hive")
    variables = {"FLIGHTS_WAREHOUSE": str(folder / "warehouse"), "FLIGHTS_METASTORE": service.uri}
    yield Deployment("hive", variables, here=True, tested=False)


@contextmanager
def jdbc(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    uri = f"jdbc:sqlite:{folder / 'catalog.db'}"
    variables = {"FLIGHTS_WAREHOUSE": str(folder / "warehouse"), "FLIGHTS_JDBC": uri}
    yield Deployment("jdbc", variables, here=True, tested=False)


@contextmanager
def s3(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    store = request.getfixturevalue("object_store")
    yield Deployment(
        "s3",
        {
            "FLIGHTS_WAREHOUSE": f"s3://{store.bucket}/flights",
            "FLIGHTS_S3_ENDPOINT": store.endpoint,
            "FLIGHTS_S3_KEY": store.access_key,
            "DBT_ENV_SECRET_FLIGHTS_S3": store.secret_key,
        },
        tested=False,
    )


@contextmanager
def hdfs(folder: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    service = request.getfixturevalue("hadoop")
    yield Deployment("hdfs", {"FLIGHTS_WAREHOUSE": f"{service.address}/flights"}, here=True, tested=False)


def _of_server(folder: Path, port: int) -> dict[str, str]:
    return {
        "FLIGHTS_WAREHOUSE": str(folder / "warehouse"),
        "FLIGHTS_SERVER": "127.0.0.1",
        "FLIGHTS_PORT": str(port),
    }


# Deployment -> its catalog, storage and engine.
DEPLOYMENTS: dict[Start, tuple[str, str, str]] = {
    local: ("filesystem", "local", "session"),
    standalone: ("filesystem", "local", "standalone"),
    yarn: ("filesystem", "local", "YARN"),
    thrift: ("filesystem", "local", "thrift"),
    connect: ("filesystem", "local", "connect"),
    hive: ("hive", "local", "session"),
    jdbc: ("jdbc", "local", "session"),
    s3: ("filesystem", "S3", "session"),
    hdfs: ("filesystem", "HDFS", "session"),
}


@pytest.fixture(scope="session")
def running_spark(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> None:
    """Start the Spark of this process, with the jars of all tests."""
    warehouse = str(tmp_path_factory.mktemp("running"))
    open_session(
        Runtime(PaimonCredentials(paimon_version="0.9.0", schema="any", warehouse=warehouse, spark_config=spark_config))
    )


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    with yarn_cluster(tmp_path_factory.mktemp("yarn")) as service:
        yield service


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The report of a build on the simplest deployment; the others must build the same tables."""
    folder = tmp_path_factory.mktemp("local")
    with local(folder, request) as deployment:
        return deployment.build(folder)
