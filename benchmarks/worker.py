"""A process with its own Spark that runs commands and reports their cost.

Usage: `python -m benchmarks.worker CONF`. CONF is a JSON object of Spark settings, or null if the adapter starts Spark.
Requests come from standard input, one JSON document per line. Answers go to the original standard output, in the same
form.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from typing import Any

import psutil
from dbt.cli.main import dbtRunner

from benchmarks.delta_sink import Stream
from benchmarks.measure import Spent, cpu_of

_OURSELVES = psutil.Process()


class _Nodes:
    """The cost of each node, between dbt's events NodeStart and NodeFinished."""

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}
        self._begun: dict[str, tuple[float, float]] = {}

    def __call__(self, event: Any) -> None:
        if event.info.name not in ("NodeStart", "NodeFinished"):
            return
        name = event.data.node_info.node_name
        now = time.perf_counter(), cpu_of(_OURSELVES)
        if event.info.name == "NodeStart":
            self._begun[name] = now
        elif name in self._begun:
            wall, cpu = self._begun[name]
            self.spent[name] = Spent(now[0] - wall, now[1] - cpu)


def run_dbt(arguments: list[str]) -> dict[str, Any]:
    """Run dbt; return its failures, and its cost in total and per node."""
    nodes = _Nodes()
    wall, cpu = time.perf_counter(), cpu_of(_OURSELVES)
    ended = dbtRunner(callbacks=[nodes]).invoke(arguments)
    total = Spent(time.perf_counter() - wall, cpu_of(_OURSELVES) - cpu)
    results = getattr(ended.result, "results", None) or []
    failed = [f"{r.node.name}: {r.message}" for r in results if str(r.status) not in ("success", "pass")]
    if ended.exception:
        failed.append(str(ended.exception))
    return {
        "failed": failed if not ended.success else [],
        "total": asdict(total),
        "nodes": {name: asdict(spent) for name, spent in nodes.spent.items()},
    }


def run_sql(text: str) -> dict[str, Any]:
    """Run a statement in the target's session; return its rows and its cost."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    wall, cpu = time.perf_counter(), cpu_of(_OURSELVES)
    rows = [list(map(str, row)) for row in session.sql(text).collect()]
    spent = Spent(time.perf_counter() - wall, cpu_of(_OURSELVES) - cpu)
    return {"rows": rows, "total": asdict(spent)}


def run_stream(given: dict[str, Any]) -> dict[str, Any]:
    """Run Spark's own stream into a Delta table; return its cost."""
    stream = Stream(**given)
    wall, cpu = time.perf_counter(), cpu_of(_OURSELVES)
    stream.run()
    return {"total": asdict(Spent(time.perf_counter() - wall, cpu_of(_OURSELVES) - cpu))}


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    """Run the command of a request; return the answer."""
    if "dbt" in asked:
        return run_dbt(asked["dbt"])
    if "stream" in asked:
        return run_stream(asked["stream"])
    return run_sql(asked["sql"])


def main(conf: dict[str, str] | None) -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if conf is not None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        for key, value in conf.items():
            builder = builder.config(key, value)
        builder.getOrCreate()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = answer_to(asked)
        except Exception as exc:  # noqa: BLE001 - the contestant goes on
            answer = {"failed": [str(exc)]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
