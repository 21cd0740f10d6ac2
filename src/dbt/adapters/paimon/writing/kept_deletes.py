"""The table of deletes that `apply_changes` keeps beside a table: the key and the sequence of each (apply_changes.sql).

Its columns have the types of the table's, or wider ones: a sequence that is cut to a narrower type would come before
changes that it is later than.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.paimon.spec.change_rows import sequence_columns
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.column_changes import compare_columns, widens


@dataclass(frozen=True)
class KeptDeletes:
    """How the deletes of a table are kept.

    Attributes:
        columns: what is kept of each: the key, and the order, as the table has them.
        retype: those whose type the table of deletes has to be given by ALTER, before a row is written.
        fits: whether the table of deletes that is there can hold them, with `retype`; of one that is not there, True.
    """

    columns: tuple[ExistingColumn, ...]
    retype: tuple[ExistingColumn, ...] = ()
    fits: bool = True


def kept_deletes(
    spec: TableSpec, columns: Sequence[ExistingColumn], current: ExistingTable | None
) -> KeptDeletes:
    """How the deletes of a table are kept.

    Args:
        spec: the table, its columns named as `columns` spells them.
        columns: its columns, as they are when the rows are written.
        current: the table of deletes that is there, if there is one.
    """
    named = {column.name: column for column in columns}
    names = dict.fromkeys((*spec.primary_key, *sequence_columns(spec)))
    wanted = tuple(named[name] for name in names)
    if current is None:
        return KeptDeletes(wanted)
    changes = compare_columns(wanted, current, comments=False)
    have = {column.name.lower(): column.data_type for column in current.columns}
    retype = tuple(
        column for column in changes.changed_types if not widens(column.data_type, have[column.name.lower()])
    )
    same_key = _lower(current.primary_key) == _lower(spec.primary_key)
    same_columns = [name.lower() for name in names] == list(have)
    return KeptDeletes(
        wanted, retype, same_key and same_columns and all(column in changes.alter for column in retype)
    )


def _lower(names: Sequence[str]) -> list[str]:
    return [name.lower() for name in names]
