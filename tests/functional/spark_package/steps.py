"""Runs dbt with a target of `type: spark` in a separate process, because other tests use different Spark settings.

Reads a list of steps from stdin. A step is {'dbt': words} or {'sql': statement}. Prints the answers as a JSON list: for a dbt
step the messages of the nodes that failed, for an SQL step the rows. The last answer is whether dbt-paimon was imported.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner


def _run(words: list[str]) -> list[str]:
    done = dbtRunner().invoke(["--quiet", *words])
    if done.exception:
        raise done.exception
    nodes = getattr(done.result, "results", [])
    return [str(node.message) for node in nodes if node.status not in ("success", "pass")]


def _rows(statement: str) -> list[list[Any]]:
    from pyspark.sql import SparkSession

    return sorted(list(row) for row in SparkSession.builder.getOrCreate().sql(statement).collect())


def main() -> None:
    """Run the steps and print their answers as the last line."""
    answers = [_run(step["dbt"]) if "dbt" in step else _rows(step["sql"]) for step in json.load(sys.stdin)]
    answers.append(any(name.startswith("dbt.adapters.paimon") for name in sys.modules))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
