"""How to delete rows of a table correctly, and when Paimon's DELETE or MERGE deletes the wrong rows.

DELETE writes delete records for `deduplicate`. For other tables without deletion vectors, it rewrites files. With a
condition on partition columns only, it drops partitions. Sources: DeleteFromPaimonTableCommand, MergeIntoPaimonTable
and the merge functions, 0.9.0 to 2.0.0.
"""

from __future__ import annotations

from enum import Enum, auto

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.change_rows import ROWKIND
from dbt.adapters.paimon.spec.table import TableSpec


class DeleteMethod(Enum):
    """The simplest statements that delete the right rows."""

    DELETE = auto()
    # DELETE rewrites files, which is correct only after a compaction, when no key has rows in several files.
    COMPACT_AND_DELETE = auto()
    # A first-row table shows its new files only after a compaction.
    DELETE_AND_COMPACT = auto()
    # An INSERT of rows of kind -D.
    CHANGE_ROWS = auto()
    # An INSERT OVERWRITE with the remaining rows.
    OVERWRITE = auto()


def way(spec: TableSpec, versions: Versions) -> DeleteMethod:
    """How to delete rows of a table, unless `refusal` returns a reason not to."""
    if not spec.primary_key:
        return DeleteMethod.DELETE
    if spec.merge_engine == "deduplicate":
        return _method_by_delete_records(spec, versions)
    if ROWKIND in spec.options:
        return DeleteMethod.OVERWRITE
    if spec.merge_engine == "first-row":
        shows = versions.supports(Capability.DELETE_SHOWS_FIRST_ROWS)
        return DeleteMethod.DELETE if shows else DeleteMethod.DELETE_AND_COMPACT
    if spec.is_true("deletion-vectors.enabled") or versions.supports(Capability.DELETE_WITHOUT_COMPACTION):
        return DeleteMethod.DELETE
    return DeleteMethod.COMPACT_AND_DELETE


def _method_by_delete_records(spec: TableSpec, versions: Versions) -> DeleteMethod:
    if spec.is_true("ignore-delete"):
        return DeleteMethod.OVERWRITE
    by_kind = ROWKIND in spec.options and not versions.supports(Capability.DELETE_BESIDE_ROWKIND)
    return DeleteMethod.CHANGE_ROWS if by_kind else DeleteMethod.DELETE


def refusal(spec: TableSpec, versions: Versions) -> str | None:
    """Why no statement can delete rows of a table correctly, with the remedy; None if one can."""
    if waits_for_compaction(spec):
        return (
            "its new rows wait for a compaction of its postpone buckets, which drops deletes on Spark. Set "
            "postpone_bucket.batch_write_fixed_bucket to true, or delete the rows with Flink"
        )
    if spec.primary_key and spec.overwrite_reads_old_keys and way(spec, versions) is not DeleteMethod.DELETE:
        return (
            f"Paimon cannot rewrite rows of a {spec.merge_engine} table whose keys move between partitions. "
            "Put the partition columns into primary_key, or rebuild the table from a query without the rows to delete"
        )
    return None


def delete_fault(spec: TableSpec, versions: Versions) -> str | None:
    """What a DELETE with a condition does wrong; None if it is correct, or fails with a message."""
    if fault := refusal(spec, versions) or carried_values(spec, versions):
        return fault
    chosen = way(spec, versions)
    if chosen is DeleteMethod.DELETE_AND_COMPACT:
        return "the other rows of the files that it rewrites are hidden until a compaction"
    if chosen in (DeleteMethod.CHANGE_ROWS, DeleteMethod.OVERWRITE):
        return deletes_lost(spec)
    return None


def merge_fault(spec: TableSpec, versions: Versions) -> str | None:
    """What a MERGE with a delete clause does wrong; None if it is correct, or fails with a message."""
    if not spec.primary_key:
        return None
    return deletes_lost(spec) or unreadable_by_deletes(spec) or carried_values(spec, versions)


def deletes_lost(spec: TableSpec) -> str | None:
    """Why a table with a primary key would not apply delete records [ran, 0.9.0]; None if it would."""
    if spec.is_true("ignore-delete"):
        return "'ignore-delete'='true' makes the table drop every delete"
    if ROWKIND in spec.options:
        return f"rowkind_field='{spec.options[ROWKIND]}' decides what a row does, so no row is deleted"
    return None


def unreadable_by_deletes(spec: TableSpec) -> str | None:
    """Why MERGE's delete records would make a table unreadable, or None (PartialUpdateMergeFunction.add)."""
    accepted = (
        spec.merge_engine != "partial-update"
        or spec.is_true("partial-update.remove-record-on-delete")
        or "partial-update.remove-record-on-sequence-group" in spec.options
    )
    return None if accepted else "a partial-update table that accepts no deletes would become unreadable"


def carried_values(spec: TableSpec, versions: Versions) -> str | None:
    """Why a key that is inserted again after its delete has old values until a compaction; None if it does not."""
    removes = spec.merge_engine in ("partial-update", "aggregation") and (
        spec.is_true(f"{spec.merge_engine}.remove-record-on-delete")
        or "partial-update.remove-record-on-sequence-group" in spec.options
    )
    if not removes or versions.supports(Capability.DELETED_VALUES_FORGOTTEN):
        return None
    return "a deleted key that comes again gets its old values where the new row has NULL, until a compaction"


def waits_for_compaction(spec: TableSpec) -> bool:
    """Whether new rows wait in postpone buckets, where SparkPostponeCompactProcedure loses row kinds [ran, 1.4.2]."""
    return spec.hides_new_rows == "bucket=-2"
