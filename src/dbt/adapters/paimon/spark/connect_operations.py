"""Ends the statements of another session on a Spark Connect server, and detects lost responses."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from dbt.adapters.paimon.errors.causes import causes
from dbt.adapters.paimon.spark.server_clients import ClientRecord

# Seconds between checks, and until the last check, if another client has read some of a statement's responses. The
# server sends the remaining responses only to that client, including the last one, which marks the statement's end.
_CHECK_EVERY: Final = 0.5
_LONGEST_CHECK: Final = 60.0


def end_statements(connection: Any, client: ClientRecord, remember: Callable[[tuple[str, ...]], object]) -> None:
    """End the statements of a client's session, and wait until they have ended.

    The server names the statements only in its first response to an interrupt. So `remember` stores their ids for the
    next client, in case this one dies.
    """
    from pyspark.sql.connect import proto

    user: Any = proto.UserContext(user_id=client.user)
    request = proto.InterruptRequest(
        session_id=client.session, user_context=user, interrupt_type=proto.InterruptRequest.INTERRUPT_TYPE_ALL
    )
    named: tuple[str, ...] = client.ending
    for found in _answers(lambda: [connection._stub.Interrupt(request, metadata=connection._builder.metadata())]):
        named = (*named, *found.interrupted_ids)
    if named:
        remember(named)
    for operation in named:
        attach = proto.ReattachExecuteRequest(session_id=client.session, user_context=user, operation_id=operation)
        _wait_for_end(partial(connection._stub.ReattachExecute, attach, metadata=connection._builder.metadata()))


def keep_lost_statements() -> None:
    """Make PySpark's client keep a statement on the server if its response is lost.

    By default PySpark makes the server forget the statement, and then no client can ask whether it has ended.
    """
    from pyspark.sql.connect.client import core as client

    core: Any = client
    base: Any = core.ExecutePlanResponseReattachableIterator
    if getattr(base, "keeps_lost_statements", False):
        return

    class Answers(base):  # type: ignore[misc]
        keeps_lost_statements = True

        def _release_all(self) -> None:
            error = sys.exc_info()[1]
            if error is not None and is_lost(error):
                self._result_complete = True
            super()._release_all()

    core.ExecutePlanResponseReattachableIterator = Answers


def is_lost(error: BaseException) -> bool:
    """Whether an error means that the response to a statement was lost, not that the statement failed."""
    from grpc import RpcError

    return any(
        isinstance(each, KeyboardInterrupt | SystemExit)
        or (isinstance(each, RpcError) and not _is_spark_error(each))
        or "INVALID_HANDLE" in str(each)
        for each in causes(error)
    )


def _answers(ask: Callable[[], Any]) -> Iterator[Any]:
    """The server's responses; empty if it does not know the session or the statement."""
    from grpc import RpcError

    try:
        yield from ask()
    except RpcError as exc:
        if not _is_spark_error(exc):
            raise


def _wait_for_end(attach: Callable[[], Any]) -> None:
    """Read a statement's responses until it has ended. An error of Spark itself also means that it has ended."""
    # A stream of responses may end some minutes before the statement does.
    from grpc import RpcError

    until = time.monotonic() + _LONGEST_CHECK
    while True:
        try:
            if any(answer.HasField("result_complete") for answer in attach()):
                return
        except RpcError as exc:
            if not _is_spark_error(exc):
                raise
            # Another client reads the responses, or has already read some.
            if "INVALID_CURSOR" not in str(exc) or time.monotonic() > until:
                return
        time.sleep(_CHECK_EVERY)


def _is_spark_error(error: Any) -> bool:
    """Whether Spark itself returned the error, with details; network errors do not have details."""
    from grpc_status import rpc_status

    try:
        return rpc_status.from_call(error) is not None
    except (AttributeError, TypeError, ValueError):
        return False
