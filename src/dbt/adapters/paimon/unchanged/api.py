"""Skips a node whose table is up to date, and stores the key of a run in its commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.metadata.table_versions import EMPTY
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.unchanged import keys, nodes
from dbt.adapters.paimon.unchanged.fingerprints import CannotSkip, Fingerprinter
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.writing.statement_result import StatementResult

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.metadata.snapshots import Commit
    from dbt.adapters.paimon.metadata.table_versions import TableVersion
    from dbt.adapters.paimon.relation import PaimonRelation

    # Describes the differences between an existing table and the wanted one, given the query's columns.
    Pending = Callable[[ExistingTable, Sequence[PaimonColumn]], Sequence[str]]

logger = AdapterLogger("Paimon")


@dataclass(frozen=True)
class _Planned:
    """A run in progress whose commit gets a key."""

    key: Key
    table: TableName
    # The table's version before the run; None if it did not exist.
    before: TableVersion | None


class Unchanged:
    """Decides which nodes are skipped (`skip_unchanged`)."""

    def __init__(self, adapter: AdapterProtocol, fingerprinter: Fingerprinter) -> None:
        self._adapter = adapter
        self._fingerprinter = fingerprinter
        # By unique id; a node runs on one thread.
        self._planned: dict[str, _Planned] = {}

    def reused(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        existing: PaimonRelation | None,
        pending: Pending,
        *,
        strategy: str = "",
        reads_changes: bool = False,
        full_refresh: bool = False,
        rows: agate.Table | None = None,
    ) -> StatementResult | None:
        """dbt's response for a node that is up to date; None if it has to run, with the reason in the log.

        The caller holds the lock of the node's table. Runs no statement for a node without `skip_unchanged`.

        Args:
            pending: returns the differences between the table and the wanted one.
            reads_changes: whether the node calls paimon_changes.
        """
        self._planned.pop(model["unique_id"], None)
        if not skipping.is_on(model["config"]):
            return None
        result = None
        with self._fingerprinter.reason_logged(model):
            if reason := nodes.never(model, strategy, reads_changes):
                raise CannotSkip(reason, always=True)
            spark = self._fingerprinter.spark()
            table = table_name(target)
            before = spark.table_version(table) if existing is not None and existing.is_table else None
            if before is not None and before.problem:
                raise CannotSkip(f"its table {before.problem}", always=True)
            made = self._fingerprinter.of(spark, model, table, before, rows)
            self._planned[model["unique_id"]] = _Planned(made.key, table, before)
            if full_refresh:
                raise CannotSkip("the run rebuilds its table")
            if before is None:
                raise CannotSkip("it has no table yet")
            head = _commit_with_key(before, made.key)
            is_seed = rows is not None
            self._refuse_pending(before, head, made.columns, pending, seed=is_seed)
            del self._planned[model["unique_id"]]
            what = "file and config" if is_seed else "inputs and query"
            result = StatementResult(responses.of_reuse(f"{what} as at snapshot {head.snapshot}", head.snapshot))
        return result  # noqa: RET504 - None if the block suppressed an error

    @staticmethod
    def _refuse_pending(
        before: TableVersion, head: Commit, columns: Sequence[PaimonColumn], pending: Pending, *, seed: bool
    ) -> None:
        """Raise CannotSkip if a killed run left the table to be altered or compacted."""
        existing = ExistingTable.of(Schema.of_json(before.schema_json))
        spec = existing.as_spec()
        # Paimon commits rows first, and then their compaction. A run may have died in between.
        if spec.skips_level_0 and not spec.hides_new_rows and before.position == head.unique:
            raise CannotSkip("its newest rows may wait for a compaction, and reads skip them until then")
        if seed:
            # A seed's types are only known after staging, so only an ALTER of the table is detected.
            if existing.schema_id != head.schema_id:
                raise CannotSkip("its table was altered")
            types = {column.name.lower(): column.data_type for column in existing.columns}
            columns = [replace(each, dtype=types.get(each.name.lower(), each.dtype)) for each in columns]
        if differs := pending(existing, columns):
            raise CannotSkip(f"its table has to be altered ({differs[0]})")

    # -- the run of the node ----------------------------------------------------------------------------------------

    def mark(self, model: Mapping[str, Any]) -> str:
        """The commit user that stores a node's key; '' if it has no key."""
        planned = self._planned.get(model["unique_id"])
        return "" if planned is None else planned.key.mark()

    def note(self, model: Mapping[str, Any]) -> None:
        """Commit a node's key if its run wrote no rows, and Paimon has therefore committed nothing.

        Otherwise a query without new rows would run every time. Errors here never fail the node.
        """
        planned = self._planned.pop(model["unique_id"], None)
        if planned is None:
            return
        try:
            self._commit_key(planned)
        except Exception as exc:  # noqa: BLE001 - from py4j or Paimon
            logger.debug(f"{model['name']}: its key could not be committed: {messages.error_text(exc)}")

    def _commit_key(self, planned: _Planned) -> None:
        spark = self._adapter.handle.embedded()
        if spark is None:
            return
        now = spark.table_version(planned.table)
        before = planned.before
        base = EMPTY if before is None else before.position
        # A table that did not exist before must still have no snapshot: otherwise something else has written it.
        if now.position != base or now.head != (before.head if before else None) or base is None:
            return
        spark.commit_nothing(planned.table, planned.key.mark(base))


def _commit_with_key(version: TableVersion, key: Key) -> Commit:
    """The newest commit of a table, if it has this key; otherwise raises CannotSkip."""
    head = version.head
    if head is None:
        raise CannotSkip("the last write of its table has expired, or there was none")
    found = keys.found_in(head.user)
    if found is None:
        raise CannotSkip(f"table snapshot {head.snapshot} was not written by a run that skip_unchanged can compare")
    own, base = found
    if base and base != version.position:
        raise CannotSkip("its table was written by something else")
    if change := own.change(key):
        raise CannotSkip(f"{change} since table snapshot {head.snapshot}")
    return head
