"""How long one model takes from a cold start: `dbt run`, a plain script of the same statements, and a warm server."""

from __future__ import annotations

import shutil
import subprocess
import sys

from benchmarks.cold import Project
from benchmarks.measure import in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report

MODEL = """{{ config(materialized='incremental', primary_key='id') }}

select id, id * 2 as n from range(1000)
"""


def run(options: Options) -> list[Report]:
    """One report."""
    options.say("start: one model")
    project = Project("paimon", options.scratch / "start")
    project.prepare({"one.sql": MODEL})
    stock = Project("spark", options.scratch / "start-spark")
    stock.prepare({"one.sql": "select id, id * 2 as n from range(1000)\n"})
    script = project.script(project.record())
    warm = Project("paimon", options.scratch / "start-warm")
    warm.write({"one.sql": MODEL}, method="connect")
    shutil.copytree(project.folder / "as-built", warm.folder / "as-built")
    subprocess.run(warm.dbt_paimon("server", "start"), env=warm.environment(), check=True)
    try:
        found = in_turns(
            {
                "dbt run": project.timed("dbt", project.dbt("run")),
                "a plain script, the same statements": project.timed("script", script),
                "dbt run, warm server": warm.timed("dbt", warm.dbt("run")),
                "dbt-spark's dbt run (a table of Parquet)": stock.timed("dbt", stock.dbt("run")),
                "python -c 'import dbt.cli.main'": project.timed(
                    "import", [sys.executable, "-c", "import dbt.cli.main"]
                ),
            },
            options.rounds,
        )
    finally:
        subprocess.run(warm.dbt_paimon("server", "stop"), env=warm.environment(), check=False)
    middle = {name: medians(spent) for name, spent in found.items()}
    plain = middle["a plain script, the same statements"]
    rows = [
        [name, spent.wall, spent.cpu, spent.wall / plain.wall, spent.cpu / plain.cpu] for name, spent in middle.items()
    ]
    return [
        Report(
            "start",
            "One model from nothing",
            ["process", "wall s", "CPU s", "wall: times the script", "CPU: times the script"],
            rows,
            ["wall s", "CPU s"],
            [
                "Whole processes; the JVM's writing of its class archive, after dbt has ended, happened before.",
                f"Medians of {options.rounds} rounds in turns.",
            ],
        )
    ]
