"""Compares the value edges of each model of a dbt project with those of Spark's analyzed plan.

PYTHONPATH=tests python -m functional.lineage.project_edges PROJECT [options of dbt]

The profile has `method: session`. Runs `dbt deps`, `dbt seed` and `dbt run` first. Exits with 1 if an edge differs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_paimon.lineage.edges import VALUE, WITH_QUERY, edges_to
from dbt_paimon.lineage.project import Project, documented_columns
from functional.lineage.spark_edges import Edges, Field


def main(folder: str, *options: str) -> int:
    places = ["--project-dir", folder, *options, "--log-level", "error"]
    for command in ("deps", "seed", "run"):
        dbtRunner().invoke([command, *places])
    manifest = json.loads(Path(folder, "target", "manifest.json").read_text("utf-8"))
    project = Project(manifest, documented_columns([*manifest["nodes"].values(), *manifest["sources"].values()]))
    # dbt's own session, which has the profile's catalog.
    spark = SparkSession.builder.getOrCreate()
    compiled = [key for key, node in project.nodes.items() if node["resource_type"] in WITH_QUERY]
    refused = unresolved = differing = columns = 0
    for node_id in (key for key in compiled if project.nodes[key].get("compiled_code")):
        expected = _of_spark(spark, project, node_id)
        if problem := project.query(node_id).problem:
            unresolved += 1
            print(f"{node_id}: {problem}" + (" (Spark refuses it, too)" if expected is None else ""))
        elif expected is not None and (found := _found(project, node_id, expected)) != expected:
            differing += 1
            print(f"{node_id}: { ({key: found.get(key) for key in found if found[key] != expected.get(key)}) }")
        refused += expected is None
        columns += len(expected or ())
    print(
        f"{len(compiled)} models with {columns} columns; Spark refuses {refused}; {unresolved} cannot be resolved; "
        f"{differing} differ from Spark's plans"
    )
    return 1 if differing else 0


def _of_spark(spark: Any, project: Project, node_id: str) -> dict[str, set[Field]] | None:
    """The value edges in Spark's plan; None if Spark refuses the query."""
    try:
        found = Edges().of(spark.sql(project.nodes[node_id]["compiled_code"]))
    except PySparkException:
        return None
    return {
        name: {(project.node_of(tuple(table.split("."))), column) for table, column in fields}
        for name, fields in found.items()
    }


def _found(project: Project, node_id: str, columns: dict[str, set[Field]]) -> dict[str, set[Field]]:
    found: dict[str, set[Field]] = {name: set() for name in project.columns(node_id) or columns}
    for edge in edges_to(project, node_id):
        if edge.kind == VALUE:
            found.setdefault(edge.target[1], set()).add(edge.source)
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
