"""Runs dbt, and records its statements to Spark: `python -m benchmarks.record OUTPUT DBT-ARGUMENT…`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import DataFrame, SparkSession


def main(output: Path, arguments: list[str]) -> int:
    """Run dbt, and write its statements to `output`; return 0 if dbt succeeds, else 1."""
    statements: list[str] = []
    spark_sql = SparkSession.sql

    def noted(session: SparkSession, text: str, *args: Any, **kwargs: Any) -> DataFrame:
        statements.append(text)
        return spark_sql(session, text, *args, **kwargs)

    SparkSession.sql = noted  # type: ignore[assignment,method-assign]
    ended = dbtRunner().invoke(arguments)
    output.write_text(json.dumps(statements, indent=1))
    return 0 if ended.success else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
