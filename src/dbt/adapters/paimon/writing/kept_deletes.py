"""The table of deletes that `apply_changes` keeps for a table: the key and sequence of each (apply_changes.sql).

Its columns have the types of the table's columns, or wider ones: a sequence value truncated to a narrower type would
sort before changes that it is later than.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.state.kinds import CURRENT, Kind
from dbt.adapters.paimon.state.tables import option_sql, version_in
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.column_changes import compare_columns, widens


@dataclass(frozen=True)
class KeptDeletes:
    """How a table's deletes are kept in the table `relation`, which may not exist yet."""

    relation: PaimonRelation
    # The columns kept for each delete, the key and the sequence, with the types of the table.
    columns: tuple[ExistingColumn, ...]
    # The columns whose type ALTER has to change in the table of deletes, before a row is written.
    retype: tuple[ExistingColumn, ...] = ()
    # Whether the existing table of deletes can hold the columns after `retype`; True if it does not exist.
    fits: bool = True
    version: int = CURRENT[Kind.DELETES]

    @property
    def version_option(self) -> str:
        """The table option, in SQL, with the version of a new table of deletes."""
        return option_sql(Kind.DELETES)


def kept_deletes(
    relation: PaimonRelation,
    spec: TableSpec,
    columns: Sequence[ExistingColumn],
    current: ExistingTable | None,
) -> KeptDeletes:
    """How `relation` keeps a table's deletes.

    Args:
        spec: the table spec, its columns spelled as in `columns`.
        columns: the table's columns at the time of the write.
        current: the existing table of deletes, if any.

    Raises:
        NewerStateError: the table of deletes is newer than this adapter.
    """
    named = {column.name: column for column in columns}
    names = dict.fromkeys((*spec.primary_key, *spec.sequence_columns))
    wanted = tuple(named[name] for name in names)
    if current is None:
        return KeptDeletes(relation, wanted)
    version = version_in(Kind.DELETES, current.options, relation)
    changes = compare_columns(wanted, current, comments=False)
    have = {column.name.lower(): column.data_type for column in current.columns}
    retype = tuple(
        column for column in changes.changed_types if not widens(column.data_type, have[column.name.lower()])
    )
    same_key = _lower(current.primary_key) == _lower(spec.primary_key)
    same_columns = [name.lower() for name in names] == list(have)
    fits = same_key and same_columns and all(column in changes.alter for column in retype)
    return KeptDeletes(relation, wanted, retype, fits, version)


def _lower(names: Sequence[str]) -> list[str]:
    return [name.lower() for name in names]
