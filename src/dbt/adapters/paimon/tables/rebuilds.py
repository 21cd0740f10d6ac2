"""Full rebuilds: INSERT OVERWRITE in place, or a new table or view that replaces the old one and loses its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.metadata.tags import LosableHistory
from dbt.adapters.paimon.spec import safeguards
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset
from dbt.adapters.paimon.tables.column_changes import ColumnChanges


@dataclass(frozen=True)
class Rebuild:
    """How a table is rebuilt."""

    # Why a new table has to replace it; empty if one INSERT OVERWRITE is enough.
    reasons: tuple[str, ...] = ()
    # Whether every rebuild needs a new table, whatever has changed.
    always: bool = False
    # What replaces the table.
    by: str = "a new table"

    @property
    def swaps(self) -> bool:
        """Whether a new table replaces the existing table."""
        return bool(self.reasons)

    def __str__(self) -> str:
        return "; ".join(self.reasons)


# Ends a `refusal` that is raised as an error.
REMEDY: Final = (
    "Nothing was written. To go on, run it once with --full-refresh, or set "
    f"{safeguards.ON_REBUILD}: {safeguards.DROP_HISTORY} in its config. Or revert the change."
)
TO_VIEW: Final = Rebuild(("it becomes a view",), by="a view")


def rebuild_of(spec: TableSpec, table_changes: Changeset, column_changes: ColumnChanges | None) -> Rebuild:
    """How to rebuild a table with a spec and column changes (None if the columns are unknown)."""
    always = spec.overwrite_reads_old_keys
    reasons = ["an INSERT OVERWRITE would keep keys in their old partitions"] if always else []
    dropped = column_changes.drop if column_changes else ()
    reasons += [
        f"{change.name}: {change.old or 'none'} -> {change.new or 'none'}"
        for change in (*table_changes.immutable, *table_changes.remerging(dropped))
    ]
    reasons += column_changes.rebuild if column_changes else ()
    return Rebuild(tuple(reasons), always)


def refusal(
    model: Mapping[str, Any], rebuild: Rebuild, full_refresh: bool, history: Callable[[], LosableHistory]
) -> str:
    """What a rebuild would lose without consent; '' if there is nothing to lose, or the run or the config allows it."""
    if full_refresh or not rebuild.swaps or rebuild.always or safeguards.drops_history(model["config"]):
        return ""
    lost = history()
    if not lost.is_worth_asking:
        return ""
    return (
        f"{model['resource_type']} '{model['name']}': {rebuild.by} has to replace the existing table "
        f"({rebuild}), which loses its {lost}."
    )
