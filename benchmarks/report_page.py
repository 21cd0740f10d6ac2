"""How long `dbt-paimon report` takes for 10, 100 and 1,000 tables, and how large its page is.

Makes one Paimon table by dbt, with four commits, and copies its folder: a filesystem catalog knows a table by its
folder. The tables are sources of the project.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.cold import Project
from benchmarks.measure import UNUSUAL
from benchmarks.options import Options
from benchmarks.report import Report

_MODEL = """{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, cast(id as string) as text from range({{ var('rows', 1000) }})
"""
SIZES = (10, 100, 1000)
THREADS = 4


def run(options: Options) -> list[Report]:
    """One report."""
    project = Project("paimon", options.scratch / "report-page", threads=THREADS)
    project.write({"first.sql": _MODEL})
    for count in (1000, 1500, 2000, 2500):
        _command(project, project.dbt("run", "--vars", f"rows: {count}"))
    tables = project.lake / "warehouse" / "bench.db"
    rows = []
    for size in SIZES[: 2 if options.quick else None]:
        options.say(f"report: {size} tables")
        names = [f"t{number:04}" for number in range(size)]
        for name in names:
            if not (tables / name).exists():
                shutil.copytree(tables / "first", tables / name)
        source = {
            "name": "many",
            "database": "paimon",
            "schema": "bench",
            "tables": [{"name": n} for n in names],
        }
        (project.folder / "models" / "sources.yml").write_text(json.dumps({"sources": [source]}))
        page = project.folder / "report.html"
        seconds = [_reported(project, page) for _ in range(options.rounds)]
        cost = json.loads(_command(project, _report(project, "--json")).splitlines()[-1])["cost"]
        rows.append(
            [
                f"{size:,} tables",
                statistics.median(seconds),
                cost["seconds"],
                cost["statements"],
                page.stat().st_size / 2**20,
            ]
        )
    return [
        Report(
            "report-page",
            "dbt-paimon report",
            ["", "whole command s", "after dbt's imports s", "statements", "page MiB"],
            rows,
            ["whole command s"],
            [
                f"Tables of two buckets and four commits, {THREADS} threads; "
                f"the median of {options.rounds} runs, each with the start of its JVM."
            ],
        )
    ]


def _reported(project: Project, page: Path) -> float:
    started = time.perf_counter()
    _command(project, _report(project, "--output", str(page)))
    return time.perf_counter() - started


def _report(project: Project, *arguments: str) -> list[str]:
    places = ("--project-dir", str(project.folder), "--profiles-dir", str(project.folder))
    return [str(Path(sys.executable).with_name("dbt-paimon")), "report", *arguments, *places]


def _command(project: Project, arguments: list[str]) -> str:
    environment = {name: value for name, value in project.environment().items() if name not in UNUSUAL}
    done = subprocess.run(
        arguments, cwd=project.lake, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: {done.stdout}{done.stderr}")
    return done.stdout.strip()
