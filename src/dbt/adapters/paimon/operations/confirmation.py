"""The confirmation that `clear_table` and `drop_table` require."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.relation import PaimonRelation


@dataclass(frozen=True)
class TableContents:
    """A table's contents; `snapshots` is None if it is not a Paimon table."""

    rows: int
    snapshots: int | None = None
    tags: Sequence[str] = ()
    # The branches that would be lost; they may have rows that the table does not have.
    branches: Sequence[str] = ()

    def __str__(self) -> str:
        parts = [counted(self.rows, "row")]
        if self.snapshots is not None:
            parts.append(counted(self.snapshots, "table snapshot"))
            parts.append(_named(counted(len(self.tags), "tag"), self.tags))
        if self.branches:
            number = len(self.branches)
            parts.append(_named(f"{number} branch{'' if number == 1 else 'es'}", self.branches))
        return ", ".join(parts)


def _named(counted: str, names: Sequence[str]) -> str:
    return f"{counted} ({', '.join(names)})" if names else counted


def refuse_unconfirmed(
    operation: str, relation: PaimonRelation, asked: str, confirmation: object, read: Callable[[], TableContents]
) -> None:
    """Refuse `clear_table` or `drop_table` unless the confirmation is the table's name.

    Args:
        asked: the table's name as the user wrote it.
        confirmation: None if the user gave none.
        read: called only to refuse, so that a damaged table can be dropped.

    Raises:
        DbtRuntimeError: says what would be lost, and how to confirm.
    """
    full = ".".join(filter(None, (relation.database, relation.schema, relation.identifier)))
    if confirmation in (asked, full):
        return
    try:
        contents = read()
    except DbtRuntimeError as exc:
        contents, holds = None, f"whose contents cannot be read ({str(exc.msg).strip().partition(chr(10))[0]})"
    else:
        holds = f"which holds {contents}"
    clears = operation == "clear_table"
    lost = f"would {'delete all rows of' if clears else 'drop'} {full}, {holds}"
    kept = "They cannot be restored."
    if clears and contents is not None and contents.snapshots is not None:
        kept = "Its table snapshots and tags are kept: rollback_to restores the rows until they expire."
    given = "" if confirmation is None else f" confirm is '{confirmation}', which is a different name."
    raise DbtRuntimeError(
        f"{operation} {lost}. {kept} Nothing was done.{given} "
        f"To go on, confirm the table's name: --args '{{relation: {asked}, confirm: {asked}}}'"
    )
