"""The cost of listing tables: a run of one small model in a schema of many tables."""

from __future__ import annotations

from benchmarks.contestants import named
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report
from benchmarks.seeds import PARQUET

_CREATE = {
    "paimon": "create table if not exists paimon.bench.t{n} (id bigint, name string)",
    "spark": "create table if not exists bench.t{n} (id bigint, name string) using parquet",
}


def run(options: Options) -> list[Report]:
    """One report: a run of one model beside 10, 100 and 1,000 tables."""
    contestants = [*named("Paimon, upsert"), PARQUET]
    project = write_project(
        options.scratch / "listing",
        {"models/facts.sql": "{{ config(materialized='table') }}\nselect 1 as id\n"},
    )
    rows = []
    with started(contestants, project, options.scratch / "listing-run") as workers:
        made = 0
        for worker in workers.values():
            worker.dbt("run")
        for count in (10, 100) if options.quick else (10, 100, 1000):
            for name, worker in workers.items():
                options.say(f"{name}: {count} tables")
                for n in range(made, count):
                    worker.sql(_CREATE[worker.contestant.adapter].format(n=n))
            made = count

            def once(name: str) -> Spent:
                return Spent(**workers[name].dbt("run")["total"])

            turns = {name: (lambda _, name=name: once(name)) for name in workers}
            found = {name: medians(spent) for name, spent in in_turns(turns, min(options.rounds, 5)).items()}
            ours = next(iter(found.values()))
            rows += [[name, f"{count:,}", s.wall, s.cpu, s.wall / ours.wall] for name, s in found.items()]
    return [
        Report(
            "listing",
            "A run of one model in a schema of many tables",
            ["contestant", "tables", "wall s", "CPU s", "wall: times ours"],
            rows,
            ["wall s", "CPU s"],
            ["The whole of `dbt run` in a Spark that runs already: parse, list, build."],
        )
    ]
