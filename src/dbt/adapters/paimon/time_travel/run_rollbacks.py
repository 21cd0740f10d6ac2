"""`rollback_run`: which tables an invocation of dbt wrote, and the table snapshot of each from before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.table_versions import UPKEEP
from dbt.adapters.paimon.sql import clocks


@dataclass(frozen=True)
class Ran:
    """A node as dbt's results show it.

    Attributes:
        started, completed: times in UTC; dbt writes the table only between them.
        snapshot: the table snapshot that the node reported; None if it reported none.
    """

    unique_id: str
    relation: tuple[str, str, str]
    started: str
    completed: str
    snapshot: int | None = None

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.unique_id.split(".")[2]


@dataclass(frozen=True)
class Snapshot:
    """A table snapshot, and whether it is from before a node's run, or from after it."""

    number: int
    kind: str
    is_before: bool
    is_after: bool


def ran(results: Path, invocation_id: str | None) -> list[Ran]:
    """The nodes that an invocation ran, in their order.

    Args:
        results: a `run_results.json`.
        invocation_id: the invocation that it has to be of; None: any.

    Raises:
        DbtRuntimeError: the file cannot be read, or is of another invocation.
    """
    try:
        content = json.loads(results.read_text("utf-8"))
        found = str(content["metadata"]["invocation_id"])
    except (OSError, ValueError, KeyError) as exc:
        raise DbtRuntimeError(
            f"rollback_run: {results} cannot be read as dbt's results of a run ({exc!r}). Give the file of the run: "
            "results: path/to/run_results.json"
        ) from exc
    if invocation_id and invocation_id != found:
        raise DbtRuntimeError(
            f"rollback_run: {results} is of the invocation {found}, not of {invocation_id}. Give the file of that "
            "run: results: path/to/run_results.json"
        )
    return [node for result in content["results"] if (node := _node(result)) is not None]


def snapshots_sql(node: Ran, table: PaimonRelation) -> str:
    """The query of a table's snapshots, oldest first, as fields of `Snapshot`."""
    committed = clocks.in_utc("commit_time")
    return (
        f"select snapshot_id, commit_kind, {committed} < timestamp_ntz '{node.started}', "
        f"{committed} > timestamp_ntz '{node.completed}' from {table.system_table('snapshots')} order by snapshot_id"
    )


def before(node: Ran, snapshots: Iterable[Snapshot]) -> int | None:
    """The newest table snapshot from before the node's run; None if the run committed nothing.

    Raises:
        DbtRuntimeError: there is none, or somebody has changed rows since.
    """
    before = 0
    wrote = False
    for snapshot in snapshots:
        # The number decides where the clock of a server is behind.
        if snapshot.is_before and (node.snapshot is None or snapshot.number < node.snapshot):
            before = snapshot.number
        elif snapshot.kind not in UPKEEP:
            wrote = True
            if snapshot.is_after:
                raise DbtRuntimeError(
                    f"rollback_run: {'.'.join(node.relation)} was written again after the run (table snapshot "
                    f"{snapshot.number}). Nothing was done. Leave it out (exclude: [{node.name}]), or roll it back by "
                    "itself (rollback_to)."
                )
    if wrote and not before:
        raise DbtRuntimeError(
            f"rollback_run: {'.'.join(node.relation)} has no table snapshot from before the run, which created or "
            f"rebuilt it, or whose predecessors have expired. Nothing was done. Leave it out: exclude: [{node.name}]"
        )
    return before if wrote else None


def without(nodes: Sequence[Ran], exclude: Sequence[str]) -> list[Ran]:
    """The nodes without those of some names. Raises DbtRuntimeError: the invocation ran no node of such a name."""
    if unknown := set(exclude) - {node.name for node in nodes}:
        raise DbtRuntimeError(f"rollback_run: the run has no node of the name {', '.join(sorted(unknown))}.")
    return [node for node in nodes if node.name not in exclude]


def _node(result: dict[str, Any]) -> Ran | None:
    """A node of dbt's results; None without a relation, or if it did not run."""
    parts = str(result.get("relation_name") or "").strip("`").split("`.`")
    times = [timing for timing in result.get("timing") or () if timing.get("completed_at")]
    if len(parts) != 3 or not times:
        return None
    started = min(timing["started_at"] for timing in times).removesuffix("Z")
    completed = max(timing["completed_at"] for timing in times).removesuffix("Z")
    snapshot = (result.get("adapter_response") or {}).get("snapshot_id")
    return Ran(result["unique_id"], (parts[0], parts[1], parts[2]), started, completed, snapshot)
