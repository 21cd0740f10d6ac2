"""The tables of deletes that `apply_changes` keeps: the key and sequence of each delete (apply_changes.sql).

Their columns are at least as wide as the table's: a sequence value truncated to a narrower type would sort before
older changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import change_rows
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import helper_names
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import option_sql, refuse_newer_table
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.column_changes import compare_columns, widens
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable


@dataclass(frozen=True)
class KeptDeletes:
    """How a table's deletes are kept in the table `relation`, which may not exist yet."""

    relation: PaimonRelation
    # The columns kept for each delete, the key and the sequence, with the types of the table.
    columns: tuple[ExistingColumn, ...]
    # The columns whose type ALTER has to change in the table of deletes before rows are written.
    retype: tuple[ExistingColumn, ...] = ()
    # Whether the existing table of deletes can hold the columns after `retype`; True if it does not exist.
    fits: bool = True

    @property
    def version_option(self) -> str:
        """The table option with the version of a new table of deletes, in SQL."""
        return option_sql(Kind.DELETES)


def kept_deletes(
    relation: PaimonRelation, spec: TableSpec, columns: Sequence[ExistingColumn], current: ExistingTable | None
) -> KeptDeletes:
    """How `relation` keeps a table's deletes; `spec` spells names as `columns` does.

    Raises:
        NewerStateError: a newer adapter has written `relation`.
    """
    named = {column.name: column for column in columns}
    names = dict.fromkeys((*spec.primary_key, *spec.sequence_columns))
    wanted = tuple(named[name] for name in names)
    if current is None:
        return KeptDeletes(relation, wanted)
    refuse_newer_table(Kind.DELETES, current.options, relation)
    changes = compare_columns(wanted, current, comments=False)
    have = {column.name.lower(): column.data_type for column in current.columns}
    retype = tuple(column for column in changes.type_changes if not widens(column.data_type, have[column.name.lower()]))
    same_key = list(map(str.lower, current.primary_key)) == list(map(str.lower, spec.primary_key))
    same_columns = list(map(str.lower, names)) == list(have)
    fits = same_key and same_columns and all(column in changes.alterable_in_place for column in retype)
    return KeptDeletes(relation, wanted, retype, fits)


class Deletes:
    """Finds and reads the tables of deletes; `stream_id` returns the id of a node's stream, if any."""

    def __init__(
        self, adapter: AdapterProtocol, tables: Tables, stream_id: Callable[[Mapping[str, Any]], str | None]
    ) -> None:
        self._adapter = adapter
        self._tables = tables
        self._stream_id = stream_id

    def kept(self, relation: PaimonRelation, spec: TableSpec, columns: Sequence[ExistingColumn]) -> KeptDeletes:
        """How the table `relation`, which may not exist yet, keeps a table's deletes."""
        there = self._adapter.get_relation(relation.database, relation.schema, relation.identifier)
        current = None if there is None else self._tables.existing(there)
        return kept_deletes(relation, spec, columns, current)

    def fitting(
        self, model: Mapping[str, Any], target: PaimonRelation, spec: TableSpec, columns: Sequence[ExistingColumn]
    ) -> KeptDeletes:
        """As `kept`, for an increment; raises CompilationError if the existing table cannot hold the columns."""
        relation = self.relation(model, target)
        kept = self.kept(relation, spec, columns)
        if not kept.fits:
            raise CompilationError(
                f"model '{model['name']}': {relation}, which keeps the deletes of the table, lacks columns of its "
                "primary_key or sequence_field, or their types cannot be changed to the table's. "
                "Nothing was written. Run the model once with --full-refresh over all changes."
            )
        return kept

    def relation(self, model: Mapping[str, Any], target: PaimonRelation) -> PaimonRelation:
        """The table that keeps the deletes of `target`, a table or the staged one that will replace it."""
        stream_id = self._stream_id(model)
        name = target.identifier or ""
        if stream_id is not None:
            name = helper_names.base_table_name(name) or name
        name = change_rows.deletes_table(name, stream_id or "")
        return cast("PaimonRelation", target.incorporate(path={"identifier": name}, type="table"))

    def relations(self, target: PaimonRelation, other_than: str | None = None) -> list[PaimonRelation]:
        """A table's existing tables of deletes, except the one of the stream `other_than` ('': of batch runs)."""
        listed = self._adapter.list_relations(target.database, target.schema or "")
        beside = {each.identifier: each for each in listed if each.is_table}
        name = target.identifier or ""
        own = None if other_than is None else change_rows.deletes_table(name, other_than)
        return [beside[each] for each in change_rows.deletes_tables(name, beside) if each != own]
