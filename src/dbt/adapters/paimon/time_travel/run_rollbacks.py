"""`rollback_run`: the tables that an invocation of dbt wrote, and each table's snapshot before the invocation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import Node
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.spark.responses import REUSED
from dbt.adapters.paimon.sql.text import name_parts


@dataclass(frozen=True)
class Ran:
    """A node in `run_results.json`.

    Attributes:
        started, completed: seconds since the epoch; the run wrote the table between these times. While a node waits
            for the table's lock, other runs may write it, so it starts when it gets the lock, if that is known.
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


def ran(results: Path, invocation_id: str | None, nodes: Iterable[Node]) -> list[Ran]:
    """The nodes that an invocation ran, in order.

    Args:
        results: a `run_results.json`.
        invocation_id: the expected invocation; None for any.
        nodes: the project's nodes; dbt's results do not name the relations of seeds.

    Raises:
        DbtRuntimeError: the file cannot be read, or belongs to a different invocation.
    """
    try:
        content = json.loads(results.read_text("utf-8"))
        found = str(content["metadata"]["invocation_id"])
    except (OSError, ValueError, KeyError) as exc:
        raise DbtRuntimeError(
            f"rollback_run: {results} cannot be read as dbt's run results ({exc!r}). Give the file of the run: "
            "results: path/to/run_results.json"
        ) from exc
    if invocation_id and invocation_id != found:
        raise DbtRuntimeError(
            f"rollback_run: {results} is of the invocation {found}, not of {invocation_id}. Give the file of that "
            "run: results: path/to/run_results.json"
        )
    seeds = {node["unique_id"]: node["relation_name"] for node in nodes if node["resource_type"] == "seed"}
    return [node for result in content["results"] if (node := _node(seeds, result)) is not None]


def before(node: Ran, commits: Iterable[Commit]) -> int | None:
    """The newest table snapshot before the node ran; None if the run committed nothing.

    Args:
        commits: the commits of the node's table, oldest first.

    Raises:
        DbtRuntimeError: there is no earlier table snapshot, or rows were changed after the run.
    """
    before = 0
    wrote = False
    for commit in commits:
        # Compare the number, too, because the clock of a server may be behind.
        if commit.at < node.started and (node.snapshot is None or commit.snapshot < node.snapshot):
            before = commit.snapshot
        elif not commit.is_upkeep:
            wrote = True
            if commit.at > node.completed:
                raise DbtRuntimeError(
                    f"rollback_run: {'.'.join(node.relation)} was written again after the run (table snapshot "
                    f"{commit.snapshot}). Nothing was done. Leave it out (exclude: [{node.name}]), or roll it back "
                    "separately (rollback_to)."
                )
    if wrote and not before:
        raise DbtRuntimeError(
            f"rollback_run: {'.'.join(node.relation)} has no table snapshot from before the run: the run created or "
            f"rebuilt the table, or earlier table snapshots have expired. Nothing was done. Leave it out: exclude: "
            f"[{node.name}]"
        )
    return before if wrote else None


def without(nodes: Sequence[Ran], excluded: str | Sequence[str]) -> list[Ran]:
    """The nodes whose names are not excluded; raises DbtRuntimeError if an excluded name is not among them."""
    exclude = [excluded] if isinstance(excluded, str) else excluded
    if unknown := set(exclude) - {node.name for node in nodes}:
        raise DbtRuntimeError(f"rollback_run: the run has no node named {', '.join(sorted(unknown))}.")
    return [node for node in nodes if node.name not in exclude]


def _node(seeds: Mapping[str, str], result: Mapping[str, Any]) -> Ran | None:
    """The node of a result; None if it has no relation, did not run, was skipped, or only stores failures of a test."""
    name = result.get("relation_name") or seeds.get(result["unique_id"])
    parts = name_parts(name or "")
    times = span(result)
    response = result.get("adapter_response") or {}
    is_test = result["unique_id"].startswith("test.")
    if len(parts) != 3 or times is None or is_test or response.get("code") == REUSED:
        return None
    started, completed = times
    started = response.get("locked_at") or started
    return Ran(result["unique_id"], (parts[0], parts[1], parts[2]), started, completed, response.get("snapshot_id"))


def span(result: Mapping[str, Any]) -> tuple[float, float] | None:
    """When a result's node began and ended, in seconds since the epoch; None if it did not run."""
    times = [timing for timing in result.get("timing") or () if timing.get("completed_at")]
    if not times:
        return None
    started = min(seconds(timing["started_at"]) for timing in times)
    return started, max(seconds(timing["completed_at"]) for timing in times)


def seconds(utc: str) -> float:
    """A UTC time of dbt's results in seconds since the epoch."""
    return datetime.fromisoformat(utc.removesuffix("Z")).replace(tzinfo=timezone.utc).timestamp()
