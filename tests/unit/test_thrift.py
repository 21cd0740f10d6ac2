"""A Thrift server that takes a connection and says nothing."""

from __future__ import annotations

import socket

import pytest
from TCLIService import TCLIService, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.spark.thrift import _Running


class Connection:
    """PyHive's own asks the server for a session before anything else; what it sends then is the same."""

    def __init__(self, client: TCLIService.Client) -> None:
        self._client = client

    def cursor(self) -> Connection:
        return self

    def execute(self, statement: str, async_: bool) -> None:
        self._client.ExecuteStatement(ttypes.TExecuteStatementReq(statement=statement, runAsync=async_))


def test_it_is_not_waited_for_without_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = TSocket.TSocket("127.0.0.1", silent.getsockname()[1])
        client.setTimeout(100)
        transport = TTransport.TBufferedTransport(client)
        transport.open()
        connection = Connection(TCLIService.Client(TBinaryProtocol(transport)))
        with pytest.raises(WaitedTooLongError, match="an answer of the Thrift server"):
            _Running().run(connection, "select 1")
        transport.close()
