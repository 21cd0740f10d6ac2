"""`rollback_run`: which tables an invocation of dbt wrote, and the table snapshot of each from before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata.snapshots import Commit


@dataclass(frozen=True)
class Ran:
    """A node as dbt's results show it.

    Attributes:
        started, completed: seconds since the epoch; dbt writes the table only between them.
        snapshot: the table snapshot that the node reported; None if it reported none.
    """

    unique_id: str
    relation: tuple[str, str, str]
    started: float
    completed: float
    snapshot: int | None = None

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.unique_id.split(".")[2]


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


def before(node: Ran, commits: Iterable[Commit]) -> int | None:
    """The newest table snapshot from before the node's run; None if the run committed nothing.

    `commits` are those of its table, the oldest first.

    Raises:
        DbtRuntimeError: there is none, or somebody has changed rows since.
    """
    before = 0
    wrote = False
    for commit in commits:
        # The number decides where the clock of a server is behind.
        if commit.at < node.started and (node.snapshot is None or commit.snapshot < node.snapshot):
            before = commit.snapshot
        elif not commit.is_upkeep:
            wrote = True
            if commit.at > node.completed:
                raise DbtRuntimeError(
                    f"rollback_run: {'.'.join(node.relation)} was written again after the run (table snapshot "
                    f"{commit.snapshot}). Nothing was done. Leave it out (exclude: [{node.name}]), or roll it back by "
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


def _node(result: Mapping[str, Any]) -> Ran | None:
    """A node of dbt's results; None without a relation, or if it did not run."""
    parts = str(result.get("relation_name") or "").strip("`").split("`.`")
    times = span(result)
    if len(parts) != 3 or times is None:
        return None
    snapshot = (result.get("adapter_response") or {}).get("snapshot_id")
    return Ran(result["unique_id"], (parts[0], parts[1], parts[2]), *times, snapshot)


def span(result: Mapping[str, Any]) -> tuple[float, float] | None:
    """When a node of dbt's results began and ended, in seconds since the epoch; None if it did not run."""
    times = [timing for timing in result.get("timing") or () if timing.get("completed_at")]
    if not times:
        return None
    started = min(seconds(timing["started_at"]) for timing in times)
    return started, max(seconds(timing["completed_at"]) for timing in times)


def seconds(utc: str) -> float:
    """A time of dbt's results, which is in UTC, in seconds since the epoch."""
    return datetime.fromisoformat(utc.removesuffix("Z")).replace(tzinfo=timezone.utc).timestamp()
