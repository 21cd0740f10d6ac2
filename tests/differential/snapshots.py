"""The expected table of a plan's dbt snapshot, and how the real one is read for the comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from differential.plan import Plan, Step
from differential.snapshot_model import SnapshotConfig, Version, after_run
from differential.tables import Row, Table, rows_of

# dbt's own columns, as they are compared.
_OWN: Final = {
    "valid_from": "string",
    "valid_to": "string",
    "updated": "string",
    "ordered": "boolean",
    "deleted": "boolean",
}
# Any time after 2024 is compared as "clock": it is the time of a run, because the rows have times in 2024.
_CLOCK: Final = "clock"
_SHOWN: Final = "if({0} > timestamp'2025-01-01 00:00:00', 'clock', date_format({0}, 'yyyy-MM-dd HH:mm:ss.SSSSSS'))"


def expressions(plan: Plan) -> dict[str, str]:
    """Expressions that read dbt's own columns, in a session in UTC."""
    return {
        "valid_from": _SHOWN.format("dbt_valid_from"),
        "valid_to": _SHOWN.format("dbt_valid_to"),
        "updated": _SHOWN.format("dbt_updated_at"),
        "ordered": "dbt_valid_to is null or dbt_valid_from <= dbt_valid_to",
        "deleted": "dbt_is_deleted = 'True'" if plan.config["hard_deletes"] == "new_record" else "false",
    }


def table_after(plan: Plan, table: Table | None, step: Step) -> Table:
    """The snapshot's table after a run."""
    before = table.versions if table else ()
    versions = after_run(
        _config(plan),
        before if table else None,
        () if step.empty else rows_of(step.batch),
        now=f"{_CLOCK} {len(before):06}",
        partial=step.empty,
        same=_same,
    )
    kinds = {**dict(step.batch.columns), **_OWN}
    base = Table({name: (kind, 0) for name, kind in kinds.items()}, ())
    return replace(base, versions=versions).with_rows([_shown(version) for version in versions])


def _config(plan: Plan) -> SnapshotConfig:
    return SnapshotConfig(
        plan.columns_of("unique_key"),
        plan.config["strategy"],
        plan.config.get("updated_at"),
        hard_deletes=plan.config["hard_deletes"],
    )


def _same(old: Any, new: Any) -> bool:
    """Whether two values are equal in SQL, where -0.0 equals 0.0."""
    return bool(old == new) or {old, new} == {"0.0", "-0.0"}


def _shown(version: Version) -> Row:
    return {
        **version.row,
        "valid_from": _time(version.valid_from),
        "valid_to": _time(version.valid_to),
        "updated": _time(version.updated_at),
        "ordered": True,
        "deleted": version.deleted,
    }


def _time(value: Any) -> Any:
    return _CLOCK if value is not None and value.startswith(_CLOCK) else value
