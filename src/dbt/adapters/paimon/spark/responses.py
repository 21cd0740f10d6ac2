"""dbt's response to a statement that wrote a table: what it committed, what Spark did for it, the console's words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.spark.figures import counted, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbt.adapters.paimon.spark.commits import Committed
    from dbt.adapters.paimon.spark.work import Work

# The statement of a table that is built under a staging name.
STAGING: Final = "staging"
_COMMENTS: Final = re.compile(r"\s+|--[^\n]*\n|/\*.*?\*/", re.DOTALL)
_DDL: Final = re.compile(
    r"(create|drop|alter)\s+(?:or\s+replace\s+)?(?:(?:global\s+)?temporary\s+)?(\w+)", re.IGNORECASE
)
# What a kind of statement is called; all others by their own name, in capitals.
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        conflicts.REBUILD: "INSERT OVERWRITE",
        STAGING: "CREATE TABLE",
        "append": "INSERT",
    }
)


@dataclass
class PaimonAdapterResponse(AdapterResponse):
    """The `adapter_response` of a node in `run_results.json`. What is not known is left out.

    Attributes:
        query_id: Spark's job tag of the statement (embedded), or the server's id of it.
        rows_deleted: of `rows_affected`, the rows that delete a key.
        snapshot_id: the table snapshot that it committed.
        commit_kind: APPEND or OVERWRITE.
        files_written: data files that the commit added.
        bytes_written: their size.
        files_removed: data files that it took out of the table.
        bytes_removed: their size.
        spark_job_ids: Spark's jobs.
        spark_seconds: run time of Spark's tasks, added up.
        shuffle_bytes: written for shuffles.
        spill_bytes: spilled to disk.
        reason: why nothing was done (`code` is REUSED).
    """

    query_id: str | None = None
    rows_deleted: int | None = None
    snapshot_id: int | None = None
    commit_kind: str | None = None
    files_written: int | None = None
    bytes_written: int | None = None
    files_removed: int | None = None
    bytes_removed: int | None = None
    spark_job_ids: list[int] | None = None
    spark_seconds: float | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None
    reason: str | None = None


def code_of(kind: str) -> str:
    """What a kind of statement is called: `INSERT OVERWRITE`, `UPSERT`, `DELETE+INSERT`."""
    return _CODES.get(kind, kind.replace("_", " ").upper())


def of_write(
    kind: str, committed: Committed | None, work: Work | None, query_id: str
) -> PaimonAdapterResponse:
    """The response to a statement whose commit was looked for.

    Args:
        kind: the kind of statement: a strategy, or what another materialization writes.
        committed: its commit; None if it committed nothing, which it does without rows.
        work: what Spark did for it; None if it is not known.
        query_id: see `PaimonAdapterResponse`.
    """
    response = PaimonAdapterResponse(_message="", code=code_of(kind), query_id=query_id or None)
    if committed is None:
        response.rows_affected = 0
    else:
        response.rows_affected = committed.rows
        response.rows_deleted = committed.rows_deleted
        response.snapshot_id = committed.snapshot_id
        response.commit_kind = committed.kind
        response.files_written = committed.files
        response.bytes_written = committed.bytes
        response.files_removed = committed.files_removed
        response.bytes_removed = committed.bytes_removed
    if work is not None:
        response.spark_job_ids = list(work.job_ids)
        response.spark_seconds = work.seconds
        response.shuffle_bytes = work.shuffle_bytes
        response.spill_bytes = work.spill_bytes
    response._message = _message(response)
    return response


def of_statement(sql: str, query_id: str) -> PaimonAdapterResponse:
    """The response to any other statement: `CREATE VIEW` and the like, else `OK`."""
    begins = 0
    while found := _COMMENTS.match(sql, begins):
        begins = found.end()
    ddl = _DDL.match(sql, begins)
    code = f"{ddl[1]} {ddl[2]}".upper() if ddl else "OK"
    return PaimonAdapterResponse(_message=code, code=code, query_id=query_id or None)


def of_reuse(snapshot: int, same: str) -> PaimonAdapterResponse:
    """The response of a node that had nothing to do.

    Args:
        snapshot: the table snapshot that has its rows.
        same: what is the same as then.
    """
    reason = f"{same} as at snapshot {snapshot}"
    return PaimonAdapterResponse(
        _message=f"REUSED: {reason}", code="REUSED", snapshot_id=snapshot, reason=reason
    )


def unknown(kind: str, query_id: str) -> PaimonAdapterResponse:
    """The response to a statement that wrote a table, whose commit could not be looked for."""
    code = code_of(kind)
    return PaimonAdapterResponse(_message=code, code=code, query_id=query_id or None)


def _message(response: PaimonAdapterResponse) -> str:
    """The console's words: `UPSERT 12,408 rows, 2 files, 1.3 MiB, snapshot 7`."""
    if response.snapshot_id is None:
        return f"{response.code} 0 rows, table unchanged"
    parts = []
    if response.rows_affected is not None:
        parts.append(counted(response.rows_affected, "row"))
    if response.rows_deleted:
        parts.append(f"{response.rows_deleted:,} deleted")
    if response.files_written is not None:
        parts.append(counted(response.files_written, "file"))
    if response.bytes_written:
        parts.append(size(response.bytes_written))
    parts.append(f"snapshot {response.snapshot_id}")
    return f"{response.code} {', '.join(parts)}"
