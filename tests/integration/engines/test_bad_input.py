"""A wrong address, the wrong kind of server, or one without Paimon: dbt soon shows one message with the remedy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from integration.services import spark
from integration.services.process import free_port

# Seconds. The clients' own timeouts are many minutes; this leaves time for a busy machine.
SOON = 120


def refusal(**target: Any) -> str:
    """The error message of opening a session on a target, which must fail soon."""
    credentials = PaimonCredentials.from_dict(PaimonCredentials.translate_aliases({"schema": "x", **target}))
    started = time.monotonic()
    with pytest.raises(DbtRuntimeError) as found:
        open_handle(Runtime(credentials))
    assert time.monotonic() - started < SOON
    message = str(found.value)
    assert "\tat " not in message
    return message


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"method": "thrift"}, "A Thrift server cannot be reached at 127.0.0.1:"),
        ({"method": "connect"}, "A Spark Connect server cannot be reached at 127.0.0.1:"),
    ],
)
def test_no_server_listens(target: dict[str, Any], said: str) -> None:
    message = refusal(host="127.0.0.1", port=free_port(), **target)
    assert said in message
    assert "correct host and port in the profile" in message


def test_no_such_master(tmp_path: Path) -> None:
    master = f"spark://127.0.0.1:{free_port()}"
    message = refusal(method="session", warehouse=str(tmp_path), spark_config={"spark.master": master})
    assert "A Spark master cannot be reached at 127.0.0.1:" in message
    assert "spark.master" in message


class TestServersWithoutPaimon:
    @pytest.fixture(scope="class")
    def plain_thrift(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
        folder = tmp_path_factory.mktemp("plain_thrift")
        with spark.thrift_server(folder, folder / "lake", {"spark.sql.extensions": ""}) as port:
            yield port

    @pytest.fixture(scope="class")
    def plain_connect(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
        folder = tmp_path_factory.mktemp("plain_connect")
        with spark.connect_server(folder, folder / "lake", {"spark.sql.extensions": ""}) as port:
            yield port

    def test_thrift(self, plain_thrift: int) -> None:
        message = refusal(method="thrift", host="127.0.0.1", port=plain_thrift)
        assert f"--conf spark.sql.extensions={spark.EXTENSIONS}" in message

    def test_another_handshake(self, plain_thrift: int) -> None:
        message = refusal(method="thrift", host="127.0.0.1", port=plain_thrift, auth="NOSASL")
        assert "Set auth in the profile" in message

    def test_connect(self, plain_connect: int) -> None:
        message = refusal(method="connect", host="127.0.0.1", port=plain_connect)
        assert f"--conf spark.sql.extensions={spark.EXTENSIONS}" in message

    def test_a_thrift_server_is_no_connect_server(self, plain_thrift: int) -> None:
        refusal(method="connect", host="127.0.0.1", port=plain_thrift)
