"""Thrift servers that do not answer, or answer in a form that is not Spark's."""

from __future__ import annotations

import socket

import pytest
from TCLIService import TCLIService, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.spark.thrift import ThriftHandle, _Running


class Connection:
    """PyHive's connection without its request for a session; it sends statements in the same way."""

    def __init__(self, client: TCLIService.Client) -> None:
        self._client = client

    def cursor(self) -> Connection:
        return self

    def execute(self, statement: str, async_: bool) -> None:
        self._client.ExecuteStatement(ttypes.TExecuteStatementReq(statement=statement, runAsync=async_))


def test_the_wait_for_a_server_is_bounded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = TSocket.TSocket("127.0.0.1", silent.getsockname()[1])
        client.setTimeout(100)
        transport = TTransport.TBufferedTransport(client)
        transport.open()
        connection = Connection(TCLIService.Client(TBinaryProtocol(transport)))
        with pytest.raises(WaitedTooLongError, match="an answer of the Thrift server"):
            _Running().run(connection, "select 1")
        transport.close()


class Answers:
    """A fake of PyHive's connection and cursor; its server answers each statement with the same rows."""

    description = (("column", "STRING_TYPE"),)

    def __init__(self, *rows: tuple[str, ...]) -> None:
        self._rows = rows

    def cursor(self) -> Answers:
        return self

    def execute(self, statement: str, async_: bool) -> None:
        pass

    def poll(self, get_progress_update: bool) -> ttypes.TGetOperationStatusResp:
        return ttypes.TGetOperationStatusResp(operationState=ttypes.TOperationState.FINISHED_STATE)

    def fetchall(self) -> tuple[tuple[str, ...], ...]:
        return self._rows

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        ([("spark.sql.extensions", "a.B")], True),
        ([("spark.sql.extensions", "<undefined>")], False),
        ([("spark.sql.extensions=a.B",)], False),  # Hive
        ([], False),
    ],
)
def test_a_setting_of_a_server(rows: list[tuple[str, ...]], known: bool) -> None:
    assert ThriftHandle(Answers(*rows), Answers).is_session_setting("spark.sql.extensions") is known
