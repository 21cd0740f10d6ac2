"""Full rebuilds: INSERT OVERWRITE in place, or a new table or view that replaces the old one and loses its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

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


def may_need_asking(model: Mapping[str, Any], rebuild: Rebuild) -> bool:
    """Whether a rebuild needs consent, if there is history to lose."""
    return rebuild.swaps and not rebuild.always and not safeguards.drops_history(model["config"])


def refuse_unasked(
    model: Mapping[str, Any], rebuild: Rebuild, history: LosableHistory, warn: Callable[[str], None] | None
) -> None:
    """Refuse a rebuild that would lose history without consent (DbtRuntimeError); if `warn` is given, only warn."""
    if not history.is_worth_asking:
        return
    what = (
        f"{model['resource_type']} '{model['name']}': {rebuild.by} has to replace the existing table "
        f"({rebuild}), which loses its {history}"
    )
    if warn is not None:
        warn(f"{what}.")
        return
    raise DbtRuntimeError(
        f"{what}. Nothing was written. To go on, run it once with --full-refresh, or set "
        f"{safeguards.ON_REBUILD}: {safeguards.DROP_HISTORY} in its config. Or revert the change."
    )
