"""Finds out whether a statement has committed, after the connection to the server was lost."""

from __future__ import annotations

import time

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.metadata import snapshots
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.server_writers import ServerWriters

logger = AdapterLogger("Paimon")

# Tolerance in seconds for the difference between two clocks.
_CLOCK_SKEW = 2.0


def require_commit(
    adapter: AdapterProtocol,
    writers: ServerWriters,
    relation: PaimonRelation,
    user: str,
    started_at: float,
    cause: Exception,
) -> None:
    """Reconnect this thread after a response was lost, and check that its statement has committed.

    Args:
        user: the commit user of the statement; '' for a new table, to which nothing else writes.

    Raises:
        DbtRuntimeError: the statement did not commit, or it is unknown whether it did.
    """
    lost_client = adapter.handle.client_record()
    try:
        adapter.connections.reopen()
        handle = adapter.handle
        if lost_client is not None:
            handle.end_statements_of(lost_client, remember=lambda ids: None)
        is_moved = writers.move()
        committed = handle.committed(table_name(relation), user, started_at, whole=False)
        known = committed is not None or not user or not _may_have_expired(adapter, relation, time.time() - started_at)
    except Exception as exc:  # noqa: BLE001 - from gRPC, Thrift or Spark
        raise _unknown(
            relation, user, f"the server does not respond: {messages.shorten(messages.error_text(exc))}"
        ) from cause
    if not known:
        raise _unknown(relation, user, "the table snapshots from that time have expired") from cause
    if committed is None:
        raise DbtRuntimeError(
            f"{relation}: the connection to the server was lost, and the statement has ended without a commit. The "
            f"table is unchanged. Run again. The connection error was: {messages.shorten(messages.error_text(cause))}"
        ) from cause
    if not is_moved:
        raise DbtRuntimeError(
            f"{relation}: the connection to the server was lost, and another run has taken over the table. This "
            f"statement has committed snapshot {committed.snapshot_id}, but its node stops here. Look at the table "
            "before you run again."
        ) from cause
    logger.warning(
        f"{relation}: the connection to the server was lost, but the statement has committed snapshot "
        f"{committed.snapshot_id}"
    )


def _may_have_expired(adapter: AdapterProtocol, relation: PaimonRelation, seconds: float) -> bool:
    """Whether the table snapshot of a statement that started `seconds` ago may have expired."""
    oldest = next(iter(snapshots.by_sql(adapter.query, relation)), None)
    return oldest is not None and oldest.snapshot > 1 and oldest.age <= seconds + _CLOCK_SKEW


def _unknown(relation: PaimonRelation, user: str, why: str) -> DbtRuntimeError:
    by = f" with a commit_user that begins with {user}" if user else ""
    return DbtRuntimeError(
        f"{relation}: the connection to the server was lost, and it is not known whether the statement has "
        f"committed: {why}. Look for a snapshot{by} in {relation.identifier}$snapshots before you run again."
    )
