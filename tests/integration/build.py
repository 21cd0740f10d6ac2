"""Build the reference project; report which nodes passed, and a fingerprint of each table.

In its own process: `python -m integration.build OUTPUT DBT-ARGUMENT…`. Writes a JSON document to OUTPUT.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spark.runtime import Runtime

# The project of the worked examples, and the suffix of its schema.
EXAMPLES = "paimon_examples"
THEIR_SCHEMA = "_examples"
# Not comparable: they contain commit IDs (__dbt_changes) or times (__dead_letters).
_OWN_TABLES = ("__dbt_changes", "__dead_letters")


def main(output: Path, arguments: list[str]) -> int:
    """Build, read every table, and write the report. Returns 0 if dbt succeeded, else 1.

    If the last argument is `--examples`, the project of the examples is built, too.
    """
    runs = [arguments]
    if arguments[-1] == "--examples":
        runs = [arguments[:-1], *(of_examples(arguments[:-1], batch) for batch in (1, 2))]
    results = [dbtRunner().invoke(["build", *run]) for run in runs]
    nodes = [node for result in results for node in result.result or []]
    passed = [node.node for node in nodes if str(node.status) in ("success", "pass")]
    examples = sum(node.package_name == EXAMPLES for node in passed)
    report: dict[str, Any] = {
        "passed": len(passed) - examples,
        "tests": sum(node.resource_type == "test" and node.package_name != EXAMPLES for node in passed),
        "examples": examples,
        "failed": [f"{n.node.name}: {n.message}" for n in nodes if str(n.status) in ("error", "fail")],
        "exception": "".join(str(result.exception) for result in results if result.exception),
    }
    success = all(result.success for result in results)
    if success:
        options = dict(pairwise(arguments))
        credentials = load_credentials(options["--project-dir"], options["--profiles-dir"], target=options["--target"])
        report["tables"] = fingerprints(credentials)
    output.write_text(json.dumps(report))
    return 0 if success else 1


def of_examples(arguments: list[str], batch: int) -> list[str]:
    """The arguments that build a batch of the examples' project, with the same target and folders."""
    options = dict(pairwise(arguments))
    kept = ("--target", "--profiles-dir", "--log-path")
    places = {
        **{name: options[name] for name in kept},
        "--project-dir": str(Path(options["--project-dir"]) / "examples"),
        "--target-path": options["--target-path"] + "-examples",
        "--vars": f"batch: {batch}",
    }
    return [part for pair in places.items() for part in pair] + ["--exclude", "test_type:unit"]


def fingerprints(credentials: PaimonCredentials) -> dict[str, list[str]]:
    """Map each `schema.table` of the target's schemas to its row count and the sum of its rows' hashes.

    Leaves out the columns of snapshots that depend on the time of the run.
    """
    cursor = open_handle(Runtime(credentials)).cursor()

    def rows(sql: str) -> list[Any]:
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    catalog = credentials.catalog
    found = {}
    for (schema,) in rows(f"show databases in `{catalog}`"):
        if not schema.startswith(credentials.schema):
            continue
        for _, table, *_ in rows(f"show tables in `{catalog}`.`{schema}`"):
            if table.endswith(_OWN_TABLES):
                continue
            name = f"`{catalog}`.`{schema}`.`{table}`"
            columns = {
                row[0]: row[1] for row in rows(f"describe table {name}") if row[0] and not row[0].startswith("#")
            }
            kept = [
                # Spark cannot hash a map, because its entries have no order.
                f"array_sort(map_entries(`{column}`))" if data_type.startswith("map<") else f"`{column}`"
                for column, data_type in columns.items()
                if column not in ("dbt_updated_at", "dbt_scd_id")
            ]
            ((count, total),) = rows(
                f"select count(*), sum(cast(xxhash64({', '.join(kept)}) as decimal(38, 0))) from {name}"
            )
            found[f"{schema}.{table}"] = [str(count), str(total)]
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
