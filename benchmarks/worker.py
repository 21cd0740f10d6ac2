"""A process with a Spark of its own that does what it is told, and says what it cost.

Run as `python -m benchmarks.worker CONF`: a JSON object of Spark's settings, or null where the adapter starts Spark by
itself. One JSON document a line comes in on standard input, one goes out on the stream that was standard output.
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
    """What each node cost, between the events with which dbt begins and ends it."""

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
    """Run dbt; what it cost in all and by node."""
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
    """Run a statement in the session that the target has; its rows and what it cost."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    wall, cpu = time.perf_counter(), cpu_of(_OURSELVES)
    rows = [list(map(str, row)) for row in session.sql(text).collect()]
    spent = Spent(time.perf_counter() - wall, cpu_of(_OURSELVES) - cpu)
    return {"rows": rows, "total": asdict(spent)}


def run_stream(given: dict[str, Any]) -> dict[str, Any]:
    """Run Spark's own stream into a Delta table; what it cost."""
    stream = Stream(**given)
    wall, cpu = time.perf_counter(), cpu_of(_OURSELVES)
    stream.run()
    return {"total": asdict(Spent(time.perf_counter() - wall, cpu_of(_OURSELVES) - cpu))}


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    """What a question is answered with."""
    if "dbt" in asked:
        return run_dbt(asked["dbt"])
    if "stream" in asked:
        return run_stream(asked["stream"])
    return run_sql(asked["sql"])


def main(conf: dict[str, str] | None) -> None:
    """Answer until the input ends."""
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
