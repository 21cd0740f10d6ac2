"""Statements of a Spark Connect server: end those of another session, and detect lost answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from dbt.adapters.paimon.errors.causes import causes
from dbt.adapters.paimon.spark.server_clients import Writer

# Seconds between two checks of a statement whose answers another client has read in part, and until the last check.
# The server sends the rest to no other client, not even that the statement has ended.
_CHECK_EVERY: Final = 0.5
_LONGEST_CHECK: Final = 60.0


def end(client: Any, writer: Writer, remember: Callable[[tuple[str, ...]], object]) -> None:
    """End the statements of a session, and wait until they have ended.

    The server names the statements only in its first answer to an interrupt. So `remember` stores their ids for the
    next client, in case this one dies.
    """
    from pyspark.sql.connect import proto

    user: Any = proto.UserContext(user_id=writer.user)
    request = proto.InterruptRequest(
        session_id=writer.session, user_context=user, interrupt_type=proto.InterruptRequest.INTERRUPT_TYPE_ALL
    )
    named: tuple[str, ...] = writer.ending
    for found in _answers(lambda: [client._stub.Interrupt(request, metadata=client._builder.metadata())]):
        named = (*named, *found.interrupted_ids)
    if named:
        remember(named)
    for operation in named:
        attach = proto.ReattachExecuteRequest(session_id=writer.session, user_context=user, operation_id=operation)
        _wait_for_end(partial(client._stub.ReattachExecute, attach, metadata=client._builder.metadata()))


def keep_lost_ones() -> None:
    """Make PySpark's client keep a statement in the server if its answer is lost.

    By default PySpark tells the server to forget it, and then no client can ask whether it has ended.
    """
    from pyspark.sql.connect.client import core as client

    core: Any = client
    base: Any = core.ExecutePlanResponseReattachableIterator
    if getattr(base, "keeps_lost_ones", False):
        return

    class Answers(base):  # type: ignore[misc]
        keeps_lost_ones = True

        def _release_all(self) -> None:
            error = sys.exc_info()[1]
            if error is not None and is_lost(error):
                self._result_complete = True
            super()._release_all()

    core.ExecutePlanResponseReattachableIterator = Answers


def is_lost(error: BaseException) -> bool:
    """Whether an error says that the answer to a statement was lost, not that the statement failed."""
    from grpc import RpcError

    return any(
        isinstance(each, KeyboardInterrupt | SystemExit)
        or (isinstance(each, RpcError) and not _is_of_spark(each))
        or "INVALID_HANDLE" in str(each)
        for each in causes(error)
    )


def _answers(ask: Callable[[], Any]) -> Iterator[Any]:
    """The answers of the server; empty if it does not know the session or the statement."""
    from grpc import RpcError

    try:
        yield from ask()
    except RpcError as exc:
        if not _is_of_spark(exc):
            raise


def _wait_for_end(attach: Callable[[], Any]) -> None:
    """Read a statement's answers until it has ended. Spark's own errors also mean that it has ended."""
    # A stream of answers may end some minutes before the statement does.
    from grpc import RpcError

    until = time.monotonic() + _LONGEST_CHECK
    while True:
        try:
            if any(answer.HasField("result_complete") for answer in attach()):
                return
        except RpcError as exc:
            if not _is_of_spark(exc):
                raise
            # Another client reads them, or has read some already.
            if "INVALID_CURSOR" not in str(exc) or time.monotonic() > until:
                return
        time.sleep(_CHECK_EVERY)


def _is_of_spark(error: Any) -> bool:
    """Whether an error is Spark's own answer, which has details; network errors have none."""
    from grpc_status import rpc_status

    try:
        return rpc_status.from_call(error) is not None
    except (AttributeError, TypeError, ValueError):
        return False
