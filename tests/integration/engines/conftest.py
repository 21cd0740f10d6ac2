"""Servers for the tests of connection methods, each started once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.services import spark
from integration.services.process import free_port


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of all servers."""
    return tmp_path_factory.mktemp("lake")


def with_pages(port: int) -> dict[str, str]:
    """Settings of a server with a web UI on a port, and a JVM time zone that differs from its sessions'."""
    zone = "-Duser.timezone=America/Los_Angeles"
    return {"spark.ui.enabled": "true", "spark.ui.port": str(port), "spark.driver.extraJavaOptions": zone}


@pytest.fixture(scope="session")
def thrift_pages() -> int:
    """The port of the Thrift server's web UI."""
    return free_port()


@pytest.fixture(scope="session")
def thrift_port(tmp_path_factory: pytest.TempPathFactory, lake: Path, thrift_pages: int) -> Iterator[int]:
    with spark.thrift_server(tmp_path_factory.mktemp("thrift"), lake, with_pages(thrift_pages)) as port:
        yield port


@pytest.fixture(scope="session")
def connect_pages() -> int:
    """The port of the Connect server's web UI."""
    return free_port()


@pytest.fixture(scope="session")
def connect_port(tmp_path_factory: pytest.TempPathFactory, lake: Path, connect_pages: int) -> Iterator[int]:
    with spark.connect_server(tmp_path_factory.mktemp("connect"), lake, with_pages(connect_pages)) as port:
        yield port


@pytest.fixture(scope="class", autouse=True)
def _classic_sessions_after() -> Iterator[None]:
    """Unset PySpark's variable, which would make every later session of this process use Spark Connect."""
    yield
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)


@pytest.fixture
def server_kills(request: pytest.FixtureRequest) -> int:
    """How often dbt is killed while a server runs its statement."""
    return int(request.config.getoption("server_kills"))
