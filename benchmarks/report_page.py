"""How long `dbt-paimon report` takes for 10, 100 and 1,000 tables: `python -m benchmarks.report_page [10 100 1000]`.

Makes one Paimon table by dbt, with four commits, and copies its folder: a filesystem catalog knows a table by its
folder. The tables are sources of a project of their own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PROFILE = """
many:
  target: local
  outputs:
    local: {{type: paimon, method: session, paimon_version: "0.9.0", schema: many, warehouse: {warehouse}, threads: 4}}
"""
_MODEL = """{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, cast(id as string) as text from range({{ var('rows', 1000) }})
"""


def main(sizes: list[int]) -> None:
    """Print a row of the docs' table for each number of tables."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "models").mkdir()
        (root / "profiles.yml").write_text(_PROFILE.format(warehouse=root / "warehouse"))
        (root / "dbt_project.yml").write_text("name: many\nprofile: many\nmodel-paths: [models]\n")
        model = root / "models/first.sql"
        model.write_text(_MODEL)
        for rows in (1000, 1500, 2000, 2500):
            _run(root, "dbt", "run", "--vars", f"rows: {rows}")
        tables = root / "warehouse/many.db"
        for size in sizes:
            names = [f"t{number:04}" for number in range(size)]
            for name in names:
                if not (tables / name).exists():
                    shutil.copytree(tables / "first", tables / name)
            source = {
                "name": "many",
                "database": "paimon",
                "schema": "many",
                "tables": [{"name": name} for name in names],
            }
            (root / "models/sources.json.yml").write_text(json.dumps({"sources": [source]}))
            begun = time.perf_counter()
            print(_run(root, "dbt-paimon", "report", "--output", str(root / "report.html")), flush=True)
            page = root / "report.html"
            print(
                f"| {size:,} | {time.perf_counter() - begun:.0f} s | {page.stat().st_size / 1024**2:.2f} MiB |",
                flush=True,
            )


def _run(root: Path, *command: str) -> str:
    places = ("--project-dir", str(root), "--profiles-dir", str(root))
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [program, *command[1:], *places], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [10, 100, 1000])
