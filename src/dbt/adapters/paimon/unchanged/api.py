"""Finds out whether a node has anything to do, and leaves the key of what it did in its commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spark.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.spark.table_name import TableName
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.tables import metadata
from dbt.adapters.paimon.unchanged import keys, nodes
from dbt.adapters.paimon.unchanged.fingerprints import CannotSkip, Fingerprinter
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.writing.statement_result import StatementResult

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.table_versions import Snapshot, TableVersion
    from dbt.adapters.paimon.tables.changeset import ExistingTable

    # The differences, in words, between an existing table and the one that a node wants, given the query's columns.
    Pending = Callable[[ExistingTable, Sequence[PaimonColumn]], Sequence[str]]

logger = AdapterLogger("Paimon")
_NO_ROWS: Final = "0.0"
# The input that is a seed's file.
_SEED_FILE: Final = "its file"


@dataclass(frozen=True)
class _Planned:
    """A run under way, whose commit gets a key.

    Attributes:
        key: what it makes its table of.
        table: its table.
        before: where the table stood before; None if there was none.
    """

    key: Key
    table: TableName
    before: TableVersion | None


class Unchanged:
    """Nodes that have nothing to do.

    Args:
        adapter: the adapter.
        making: finds out what nodes are made of.
    """

    def __init__(self, adapter: AdapterProtocol, making: Fingerprinter) -> None:
        self._adapter = adapter
        self._making = making
        # By node; a node runs on one thread.
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
        """dbt's response for a node that has nothing to do; None if it has to run, which the log says why.

        Its table's lock is held. Nothing is asked of Spark for a node without `skip_unchanged`.

        Args:
            model: the node in the manifest, compiled.
            target: its table.
            existing: the relation that is there by that name.
            pending: how the node's plan differs from its table.
            strategy: the strategy of an incremental model.
            reads_changes: whether it calls paimon_changes.
            full_refresh: whether the run rebuilds the table.
            rows: the rows of a seed.
        """
        self._planned.pop(model["unique_id"], None)
        if not skipping.is_on(model["config"]):
            return None
        return self._making.unless_run(
            model,
            lambda: self._reused(
                model, target, existing, pending, strategy, reads_changes, full_refresh, rows
            ),
        )

    def _reused(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        existing: PaimonRelation | None,
        pending: Pending,
        strategy: str,
        reads_changes: bool,
        full_refresh: bool,
        rows: agate.Table | None,
    ) -> StatementResult:
        if reason := nodes.never(model, strategy, reads_changes):
            raise CannotSkip(reason, always=True)
        spark = self._making.spark()
        table = TableName(target.database or "", target.schema or "", target.identifier or "")
        is_table = existing is not None and existing.is_table
        before = spark.stand(table) if is_table else None
        if before is not None and before.problem:
            raise CannotSkip(f"its table {before.problem}", always=True)
        made = self._making.of(spark, model, table, before, rows)
        self._planned[model["unique_id"]] = _Planned(made.key, table, before)
        if full_refresh:
            raise CannotSkip("the run rebuilds its table")
        if before is None:
            raise CannotSkip("it has no table yet")
        head = _carrying(before, made.key)
        self._refuse_pending(before, head, made.columns, pending, seed=rows is not None)
        del self._planned[model["unique_id"]]
        return StatementResult(responses.of_reuse(head.number, _words(rows is not None)))

    @staticmethod
    def _refuse_pending(
        before: TableVersion,
        head: Snapshot,
        columns: Sequence[PaimonColumn],
        pending: Pending,
        *,
        seed: bool,
    ) -> None:
        """Run a node whose table would be altered: a run before was killed at that, or somebody else has altered it."""
        existing = metadata.table_of_schema(before.schema)
        if seed:
            # The types that a file gives are known by staging it; those of the table have not changed since.
            if existing.schema_id != head.schema:
                raise CannotSkip("its table was altered")
            kinds = {column.name.lower(): column.data_type for column in existing.columns}
            columns = [replace(each, dtype=kinds.get(each.name.lower(), each.dtype)) for each in columns]
        if differs := pending(existing, columns):
            raise CannotSkip(f"its table has to be altered ({differs[0]})")

    # -- the run of the node ----------------------------------------------------------------------------------------

    def commit_conf(self, model: Mapping[str, Any]) -> dict[str, str]:
        """The Spark setting that writes a node's key into its commit; empty if it has none."""
        planned = self._planned.get(model["unique_id"])
        return {} if planned is None else {COMMIT_USER_CONF: planned.key.mark()}

    def note(self, model: Mapping[str, Any]) -> None:
        """Called when a node's rows are written: commits its key if there were none, for Paimon commits no such run.

        Without it a query that finds nothing new would be run again and again. A failure is not the node's.
        """
        planned = self._planned.pop(model["unique_id"], None)
        if planned is None:
            return
        try:
            self._note(planned)
        except Exception as exc:  # noqa: BLE001 - of py4j or Paimon
            logger.debug(f"{model['name']}: its key could not be committed: {messages.error_text(exc)}")

    def _note(self, planned: _Planned) -> None:
        spark = self._adapter.handle.embedded()
        if spark is None:
            return
        now = spark.stand(planned.table)
        before = planned.before
        base = _NO_ROWS if before is None else before.position
        # A table that was not there has no table snapshot now, either: nobody else has written it.
        if now.position != base or now.head != (before.head if before else None) or base is None:
            return
        spark.commit_nothing(planned.table, planned.key.mark(base))


def _carrying(stand: TableVersion, key: Key) -> Snapshot:
    """The newest commit of a table, which carries this key.

    Raises:
        CannotSkip: it does not.
    """
    head = stand.head
    if head is None:
        raise CannotSkip("the last write of its table has expired, or there was none")
    found = keys.found_in(head.user)
    if found is None:
        raise CannotSkip(f"table snapshot {head.number} is not of a run that could be skipped")
    if found.base and found.base != stand.position:
        raise CannotSkip("its table was written by something else")
    if found.key.node != key.node:
        raise CannotSkip(
            f"its query, a view in it or its config is another than at table snapshot {head.number}"
        )
    if found.key.inputs != key.inputs:
        raise CannotSkip(f"an input has changed since table snapshot {head.number}")
    return head


def _words(seed: bool) -> str:
    return "file and config" if seed else "inputs and query"
