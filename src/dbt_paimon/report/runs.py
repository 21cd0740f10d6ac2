"""Runs of dbt, from `run_results.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.kept_results import BUILDING, RESULTS
from dbt.adapters.paimon.time_travel import run_rollbacks
from dbt_paimon.report.figures import NodeRun, Run


def read(paths: Iterable[Path], nodes: Mapping[str, Mapping[str, Any]]) -> tuple[Run, ...]:
    """Runs of commands that build (see `BUILDING`), the oldest first, without unreadable files. `nodes`: id -> node."""
    found: dict[str, Run] = {}
    for path in paths:
        file = path / RESULTS if path.is_dir() else path
        try:
            written = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        run = _run(written, nodes)
        if run is not None:
            found[run.id] = run
    return tuple(sorted(found.values(), key=lambda run: run.at))


def _run(written: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> Run | None:
    command = str(written.get("args", {}).get("which") or "")
    results: Sequence[Mapping[str, Any]] = written.get("results", ())
    if command not in BUILDING or not results:
        return None
    spans = [span for result in results if (span := run_rollbacks.span(result)) is not None]
    first = min((begin for begin, _ in spans), default=run_rollbacks.seconds(written["metadata"]["generated_at"]))
    return Run(
        str(written["metadata"].get("invocation_id") or first),
        command,
        first,
        float(written.get("elapsed_time") or 0),
        tuple(_node(result, first, nodes) for result in results),
    )


def _node(result: Mapping[str, Any], first: float, nodes: Mapping[str, Mapping[str, Any]]) -> NodeRun:
    unique_id = str(result["unique_id"])
    node = nodes.get(unique_id, {})
    response = result.get("adapter_response") or {}
    span = run_rollbacks.span(result)
    message = str(result.get("message") or "")
    return NodeRun(
        unique_id,
        str(node.get("name") or unique_id.split(".")[2]),
        str(node.get("config", {}).get("materialized") or unique_id.partition(".")[0]),
        str(result["status"]),
        str(result.get("thread_id") or ""),
        begins=(span[0] if span else first) - first,
        seconds=float(result.get("execution_time") or 0),
        says=redact_text(message.strip().partition("\n")[0])[:300],
        rows=response.get("rows_affected"),
        bytes=response.get("bytes_written"),
        files=response.get("files_written"),
        snapshot=response.get("snapshot_id"),
    )
