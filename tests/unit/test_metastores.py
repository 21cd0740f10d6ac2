"""Whether a metastore answers is checked before anything starts."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.reachable import check_metastores
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.credentials import PaimonCredentials


def catalog(*ports: int, metastore: str = "hive") -> SparkCatalog:
    uri = ",".join(f"thrift://127.0.0.1:{port}" for port in ports)
    return SparkCatalog("lake", metastore, "/tmp/wh", uri, {})


@pytest.fixture
def open_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_one_of_several_is_enough(open_port: int, closed_port: int) -> None:
    check_metastores([catalog(open_port), catalog(closed_port, open_port)])


def test_no_metastore_answers(closed_port: int) -> None:
    with pytest.raises(DbtRuntimeError) as error:
        check_metastores([catalog(closed_port, closed_port)])
    address = f"127.0.0.1:{closed_port} (Connection refused)"
    assert f"catalog lake: the Hive metastore does not answer at {address}, {address}." in str(error.value)


def test_other_catalogs_are_not_asked(closed_port: int) -> None:
    check_metastores([catalog(closed_port, metastore="rest")])


@pytest.mark.parametrize(
    ("error", "is_of_the_metastore"),
    [
        ("MetaException: Could not connect to meta store using any of the URIs provided", True),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `orders` cannot be found.", False),
    ],
)
def test_only_an_error_of_the_metastore_has_its_address(
    closed_port: int, error: str, is_of_the_metastore: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong statement keeps its own error, even if a catalog that it does not use cannot be reached."""
    # Another test's JVM may have been killed in this process.
    monkeypatch.setattr("dbt.adapters.paimon.spark.launch.jvm_process.Spawned.last", None)
    credentials = PaimonCredentials(
        schema="s", warehouse="/tmp/wh", metastore="hive", uri=f"thrift://127.0.0.1:{closed_port}"
    )
    profile = SimpleNamespace(credentials=credentials)
    manager = PaimonConnectionManager(profile, multiprocessing.get_context("spawn"))
    manager.cleanup_all()  # The manager installed signal handlers.
    with pytest.raises(DbtRuntimeError) as raised, manager.exception_handler("select 1"):
        raise RuntimeError(error)
    assert (f"127.0.0.1:{closed_port}" in str(raised.value)) is is_of_the_metastore
    assert ("TABLE_OR_VIEW_NOT_FOUND" in str(raised.value)) is not is_of_the_metastore
