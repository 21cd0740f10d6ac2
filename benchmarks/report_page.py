"""How long `dbt-paimon report` takes for 10, 100 and 1,000 tables, and how large its page is.

Builds one Paimon table with four commits, and copies its folder, because every table folder is a table of a
filesystem catalog. The tables are sources of the project.
"""

from __future__ import annotations

import json
import shutil
import statistics

from benchmarks.cold import Project
from benchmarks.measure import command
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
        _run(project, project.dbt("run", "--vars", f"rows: {count}"))
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
        command_line = project.dbt_paimon("report", "--output", str(page))
        seconds = [_run(project, command_line)[0] for _ in range(options.rounds)]
        _, printed = _run(project, project.dbt_paimon("report", "--json"))
        (found,) = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        cost = found["cost"]
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


def _run(project: Project, arguments: list[str]) -> tuple[float, str]:
    """Run a command; return its seconds and its output."""
    log = project.folder / "last.log"
    return command(arguments, project.lake, project.environment(), log).wall, log.read_text()
