"""The macro `delete_rows`, and DELETE and MERGE in hooks, operations and macros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import change_rows, deleting
from dbt.adapters.paimon.spec.deleting import DeleteMethod
from dbt.adapters.paimon.spec.strategies import WHOLE_TABLE
from dbt.adapters.paimon.sql import deletions, procedures
from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.deletions import Deletion
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.writing.deletes import Deletes
from dbt.adapters.paimon.writing.table_writer import TableWriter

logger = AdapterLogger("Paimon")
_KIND: Final = "delete_rows"
# Makes DELETE evaluate each row instead of dropping partitions.
_BY_ROWS: Final = {"spark.paimon.delete.force-produce-changelog": "true"}
_REMEDY: Final = (
    'Use delete_rows, which deletes the right rows of this table: {{ delete_rows(this, "<condition>") }} in a hook, or '
    "dbt run-operation delete_rows --args '{relation: <table>, where: \"<condition>\"}'"
)
_BLANKS: Final = (" ", "\t", "\n", "\r")


class RowDeletes:
    """Deletes rows by a condition."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables, builds: TableWriter, deletes: Deletes) -> None:
        self._adapter = adapter
        self._tables = tables
        self._builds = builds
        self._deletes = deletes

    def run(self, relation: PaimonRelation, where: str) -> int:
        """Hold the table's lock, delete the rows that meet a condition (see `spec.deleting`), and return their number.

        Raises:
            DbtRuntimeError: the condition is empty, or rows of this table cannot be deleted correctly.
        """
        if not str(where or "").strip():
            raise DbtRuntimeError(
                f"delete_rows on {relation}: `where` is empty. Give a condition; `clear_table` deletes all rows."
            )
        condition = deletions.opaque(where)
        with self._builds.alone(relation):
            existing = self._tables.existing(relation)
            if refused := deleting.refusal(existing.as_spec(), self._adapter.versions):
                raise DbtRuntimeError(f"delete_rows on {relation}: {refused}.")
            ((rows,),) = self._adapter.query(f"select count(*) from {relation.render()} where {condition}")
            for statement in self._statements(relation, existing, condition, bool(rows)):
                # From Paimon 1.3 on, a DELETE that leaves no row is an OVERWRITE, as TRUNCATE is. Only TRUNCATE resets
                # a read position.
                mark = Kind.DELETE_MARK.value if statement.kind == _KIND else ""
                self._adapter.connections.execute(replace(statement, commit_user=mark))
        logger.info(f"{relation.shown} delete_rows: {counted(int(rows), 'row')} deleted")
        return int(rows)

    def _statements(
        self, relation: PaimonRelation, existing: ExistingTable, condition: str, finds_rows: bool
    ) -> Iterator[Statement]:
        table, spec, versions = relation.render(), existing.as_spec(), self._adapter.versions
        way = deleting.way(spec, versions)
        delete = Statement(f"delete from {table} where {condition}", _KIND, target=relation.parts)
        compact = procedures.statement("compact", relation.parts, {}, versions)
        if not finds_rows:
            # A run that was killed before it compacted the table may have left rows hidden.
            if way is DeleteMethod.DELETE_AND_COMPACT:
                yield compact
        elif way is DeleteMethod.DELETE:
            yield delete
        elif way is DeleteMethod.COMPACT_AND_DELETE:
            yield compact
            yield delete
            if deleting.carried_values(spec, versions):
                yield compact
        elif way is DeleteMethod.DELETE_AND_COMPACT:
            yield delete
            yield compact
        elif way is DeleteMethod.CHANGE_ROWS:
            for kept in self._deletes.relations(relation):
                names = ", ".join(quoted(column.name) for column in self._tables.existing(kept).columns)
                sql = f"insert into {kept.render()} ({names}) select {names} from {table} where {condition}"
                yield Statement(sql, _KIND, target=kept.parts)
            rows = _rows(existing, change_rows.DELETE)
            sql = f"insert into {table} select {rows} from {table} where {condition}"
            yield Statement(sql, _KIND, target=relation.parts)
        else:
            rows = _rows(existing, change_rows.INSERT)
            sql = f"insert overwrite {table} select {rows} from {table} where not ({condition})"
            yield Statement(sql, _KIND, WHOLE_TABLE, target=relation.parts)

    def prepared(self, script: str) -> tuple[str, Mapping[str, str]]:
        """Correct the DELETEs of a user's script, and return it with the Spark settings that it needs.

        Looks up the table of each DELETE and MERGE; most scripts contain neither.

        Raises:
            DbtRuntimeError: Paimon would delete the wrong rows, or no rows at all. The message contains the remedy.
        """
        conf: dict[str, str] = {}
        if deletions.may_delete(script):
            for deletion in reversed(deletions.deletions(script)):
                relation = _relation(deletion)
                existing = relation and self._existing(relation)
                if relation and existing:
                    self._refuse(relation, existing, deletion)
                    script = self._corrected(script, deletion, relation, existing, conf)
        return script, conf

    def _existing(self, relation: PaimonRelation) -> ExistingTable | None:
        """The Paimon table; None if the relation is missing or has another format: Spark reports that later."""
        try:
            return self._tables.existing(relation)
        except DbtRuntimeError:
            return None

    def _refuse(self, relation: PaimonRelation, existing: ExistingTable, deletion: Deletion) -> None:
        spec, versions = existing.as_spec(), self._adapter.versions
        is_merge = deletion.condition is None
        fault = deleting.merge_fault(spec, versions) if is_merge else deleting.delete_fault(spec, versions)
        if fault is None:
            return
        statement = "MERGE with a delete clause" if is_merge else "DELETE"
        remedy = deleting.refusal(spec, versions) or _REMEDY
        raise DbtRuntimeError(f"{statement} on {relation}: {fault}." + (f" {remedy}." if remedy != fault else ""))

    def _corrected(
        self, script: str, deletion: Deletion, relation: PaimonRelation, existing: ExistingTable, conf: dict[str, str]
    ) -> str:
        """Correct the condition of a DELETE, and put the settings that it needs into `conf`."""
        supports = self._adapter.versions.supports
        if deleting.way(existing.as_spec(), self._adapter.versions) is DeleteMethod.COMPACT_AND_DELETE:
            return deletions.with_condition(script, deletion, deletions.opaque)
        if existing.partition_by and not supports(Capability.DELETE_BY_WHOLE_CONDITION):
            conf.update(_BY_ROWS)
        elif not supports(Capability.DELETE_OF_BLANK_PARTITIONS) and self._has_blank_partitions(relation, existing):
            return deletions.with_condition(script, deletion, deletions.opaque)
        if supports(Capability.DELETE_KEEPS_ROWS_OF_NULL_CONDITIONS):
            return script
        return deletions.with_condition(script, deletion, deletions.strict)

    def _has_blank_partitions(self, relation: PaimonRelation, existing: ExistingTable) -> bool:
        partitions = {name.lower() for name in existing.partition_by}
        tests: list[str] = []
        for column in existing.columns:
            if column.name.lower() in partitions and is_text(column.data_type):
                name = quoted(column.name)
                tests.append(f"{name} = ''")
                tests += (f"startswith({name}, {string_literal(blank)})" for blank in _BLANKS)
        where = " or ".join(tests)
        return bool(tests and self._adapter.query(f"select 1 from {relation.render()} where {where} limit 1"))


def _relation(deletion: Deletion) -> PaimonRelation | None:
    if not 0 < len(deletion.table) <= 3:
        return None
    database, schema, identifier = (None, None, *deletion.table)[-3:]
    return PaimonRelation.create(database, schema, identifier, RelationType.Table)


def _rows(existing: ExistingTable, kind: str) -> str:
    """The columns of a table, with `kind` in place of the stored row kind."""
    rowkind = existing.options.get(change_rows.ROWKIND, "").lower()
    return ", ".join(
        string_literal(kind) if column.name.lower() == rowkind else quoted(column.name) for column in existing.columns
    )
