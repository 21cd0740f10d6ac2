"""dbt's response for a statement: its commit, its Spark jobs, and the message for the console."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.formatting import counted, size
from dbt.adapters.paimon.metadata.commits import Committed
from dbt.adapters.paimon.metadata.procedures import ProcedureResult
from dbt.adapters.paimon.spark.job_metrics import JobMetrics

# The kind of a statement that builds a table under a staging name.
STAGING: Final = "staging"
# The response code of a skipped node (`skip_unchanged`).
REUSED: Final = "REUSED"
# Operations that rewrite or remove files.
_REWRITES: Final = frozenset({"compact", "rescale", "expire_snapshots", "expire_partitions", "clear_table"})
# Codes of statement kinds; the code of any other kind is its name in upper case.
_CODES: Final[Mapping[str, str]] = {conflicts.REBUILD: "INSERT OVERWRITE", STAGING: "CREATE TABLE", "append": "INSERT"}


@dataclass
class PaimonAdapterResponse(AdapterResponse):
    """The `adapter_response` of a node in `run_results.json`; unknown values are omitted.

    Attributes:
        query_id: the statement's Spark job tag (embedded) or its id on the server.
        rows_inserted: new keys; for a `merge` without a primary key, inserted rows.
        rows_updated: keys that existed before.
        rows_deleted: the rows among `rows_affected` that delete a key.
        commit_kind: APPEND or OVERWRITE.
        locked_at: when the node got the table's lock, in seconds since the epoch; other runs may write until then.
        spark_seconds: total run time of Spark's tasks.
        snapshots_removed: table snapshots that an operation expired or rolled back.
        reason: why nothing was done (`code` is REUSED).
        refresh: what the refresh of a materialized view did.
        refreshed: number of keys or groups that the refresh recomputed.
    """

    query_id: str | None = None
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None
    snapshot_id: int | None = None
    commit_kind: str | None = None
    locked_at: float | None = None
    files_written: int | None = None
    bytes_written: int | None = None
    files_removed: int | None = None
    bytes_removed: int | None = None
    spark_job_ids: list[int] | None = None
    spark_seconds: float | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None
    snapshots_removed: int | None = None
    reason: str | None = None
    refresh: str | None = None
    refreshed: int | None = None


def code_of(kind: str) -> str:
    """The code of a statement kind: `INSERT OVERWRITE`, `UPSERT`, `DELETE+INSERT`."""
    return _CODES.get(kind, kind.replace("_", " ").upper())


def of_write(kind: str, committed: Committed | None, work: JobMetrics | None, query_id: str) -> PaimonAdapterResponse:
    """The response for a write; `kind` is a strategy or other statement kind; `committed` is None without a commit."""
    response = _response(code_of(kind), query_id)
    if committed is None:
        response.rows_affected = 0
    else:
        response.rows_affected = committed.rows
        response.rows_inserted = committed.rows_inserted
        response.rows_updated = committed.rows_updated
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


def of_operation(name: str, effect: ProcedureResult, query_id: str) -> PaimonAdapterResponse:
    """The response for an operation on a table, such as `compact`."""
    response = _response(code_of(name), query_id)
    response.snapshots_removed = effect.expired + effect.rolled_back
    if effect.commits:
        newest = effect.commits[-1]
        response.snapshot_id, response.commit_kind = newest.snapshot_id, newest.kind
        response.files_written = _sum(each.files for each in effect.commits)
        response.bytes_written = _sum(each.bytes for each in effect.commits)
        response.files_removed = _sum(each.files_removed for each in effect.commits)
        response.bytes_removed = _sum(each.bytes_removed for each in effect.commits)
    changes = [*_file_changes(response), *_snapshot_changes(effect)]
    response._message = f"{response.code} {', '.join(changes) or ('table unchanged' if name in _REWRITES else 'done')}"
    return response


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = list(numbers)
    return None if None in known else sum(number or 0 for number in known)


def _file_changes(response: PaimonAdapterResponse) -> list[str]:
    """`12 files (40.2 MiB) into 2 files (38.1 MiB)`; only `… removed` or `… written` if one side has no files."""
    removed = _files(response.files_removed, response.bytes_removed)
    written = _files(response.files_written, response.bytes_written)
    if removed and written:
        return [f"{removed} into {written}"]
    if removed:
        return [f"{removed} removed"]
    return [f"{written} written"] if written else []


def _snapshot_changes(effect: ProcedureResult) -> Iterator[str]:
    if effect.expired:
        yield f"{counted(effect.expired, 'table snapshot')} expired, {effect.after.count:,} left"
    if effect.rolled_back:
        yield f"{counted(effect.rolled_back, 'table snapshot')} rolled back"
    if effect.commits or effect.rolled_back:
        yield f"snapshot {effect.after.last}"


def _files(number: int | None, volume: int | None) -> str:
    return f"{counted(number, 'file')} ({size(volume or 0)})" if number else ""


def of_statement(kind: str, query_id: str) -> PaimonAdapterResponse:
    """The response for any other statement: the kind of a DDL statement, such as `CREATE VIEW`, else `OK`."""
    return _response(kind.upper() if kind.startswith(("create ", "drop ", "alter ")) else "OK", query_id)


def of_reuse(reason: str, snapshot: int | None = None) -> PaimonAdapterResponse:
    """The response for a skipped node or data test; `snapshot` is the table snapshot that has the node's rows."""
    return PaimonAdapterResponse(_message=f"REUSED: {reason}", code=REUSED, snapshot_id=snapshot, reason=reason)


def of_refresh(words: str, affected: int) -> PaimonAdapterResponse:
    """The response for a materialized view whose refresh wrote nothing; `words` say what it did."""
    return PaimonAdapterResponse(
        _message=f"REFRESH {words}", code="REFRESH", rows_affected=0, refresh=words, refreshed=affected
    )


def with_refresh(response: AdapterResponse, words: str, affected: int | None) -> AdapterResponse:
    """Add to a materialized view's response what the refresh did; `affected`: recomputed keys or groups (None: all)."""
    if not isinstance(response, PaimonAdapterResponse):
        return response
    message = f"REFRESH {words}" + (f", snapshot {response.snapshot_id}" if response.snapshot_id else "")
    return replace(response, _message=message, code="REFRESH", refresh=words, refreshed=affected)


def unknown(kind: str, query_id: str) -> PaimonAdapterResponse:
    """The response for a statement that wrote a table, but whose commit could not be read."""
    return _response(code_of(kind), query_id)


def _response(code: str, query_id: str) -> PaimonAdapterResponse:
    return PaimonAdapterResponse(_message=code, code=code, query_id=query_id or None)


def _message(response: PaimonAdapterResponse) -> str:
    """The console's message: `UPSERT 12,408 rows, 2 files, 1.3 MiB, snapshot 7`."""
    if response.snapshot_id is None:
        created = response.code == _CODES[STAGING]
        return f"{response.code} 0 rows" + ("" if created else ", table unchanged")
    parts = [] if response.rows_affected is None else [counted(response.rows_affected, "row")]
    kinds = {"inserted": response.rows_inserted, "updated": response.rows_updated, "deleted": response.rows_deleted}
    parts += [f"{number:,} {kind}" for kind, number in kinds.items() if number]
    if response.files_written is not None:
        parts.append(counted(response.files_written, "file"))
    if response.bytes_written:
        parts.append(size(response.bytes_written))
    parts.append(f"snapshot {response.snapshot_id}")
    return f"{response.code} {', '.join(parts)}"
