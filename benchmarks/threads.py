"""The gain from dbt's threads: independent models, and the batches of a microbatch model."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.contestants import named
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report

MODELS = 16
BATCHES = 12
ROWS = 100_000
_MODEL = """{{{{ config(materialized='incremental', primary_key='id', bucket=1) }}}}
select id, sha2(cast(id as string), 256) as digest, {number} as n from range({rows})
"""
_EVENTS = """{{ config(materialized='table', event_time='happened') }}
select
    id, sha2(cast(id as string), 256) as digest, date_add(date '2024-01-01', cast(id % 12 as int)) as day,
    cast(date_add(date '2024-01-01', cast(id % 12 as int)) as timestamp) as happened
from range(240000)
"""
_MICROBATCH = """{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='happened', begin='2024-01-01',
    batch_size='day', partition_by='day', concurrent_batches=var('concurrent', true)
) }}
select id, digest, day, happened from {{ ref('events') }}
"""
_RANGE = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-13")


def run(options: Options) -> list[Report]:
    """Two reports: threads, and microbatch."""
    rows = ROWS // 5 if options.quick else ROWS
    files = {f"models/many/m{number:02}.sql": _MODEL.format(number=number, rows=rows) for number in range(MODELS)}
    files |= {"models/events.sql": _EVENTS, "models/daily.sql": _MICROBATCH}
    project = write_project(options.scratch / "threads", files)
    (contestant,) = named("Paimon, upsert")
    with started([contestant], project, options.scratch / "threads-run", threads=4) as workers:
        (worker,) = workers.values()
        options.say("threads")
        worker.dbt("build")

        def many(threads: int) -> Spent:
            return Spent(**worker.dbt("run", "--select", "many", "--threads", str(threads))["total"])

        def batches(concurrent: bool) -> Spent:
            variables = {"concurrent": concurrent}
            return Spent(**worker.dbt("run", "--select", "daily", *_RANGE, variables=variables)["total"])

        rounds = min(options.rounds, 5)
        counts = (1, 2, 4) if options.quick else (1, 2, 4, 8)
        by_threads = in_turns({str(n): (lambda _, n=n: many(n)) for n in counts}, rounds)
        by_mode = in_turns(
            {
                "one after another": lambda _: batches(concurrent=False),
                "concurrent, 4 threads": lambda _: batches(concurrent=True),
            },
            rounds,
        )
    one = medians(by_threads["1"])
    sequential = medians(by_mode["one after another"])
    return [
        Report(
            "threads",
            f"{MODELS} upserts of {rows:,} rows by dbt's threads",
            ["threads", "wall s", "CPU s", "gain"],
            [_row(name, spent, one) for name, spent in by_threads.items()],
            ["wall s"],
            ["The whole of `dbt run` in a Spark that runs already."],
        ),
        Report(
            "microbatch",
            f"{BATCHES} batches of a microbatch model, a day each of 20,000 rows",
            ["batches", "wall s", "CPU s", "gain"],
            [_row(name, spent, sequential) for name, spent in by_mode.items()],
            ["wall s"],
            ["The whole of `dbt run` in a Spark that runs already."],
        ),
    ]


def _row(name: str, spent: Sequence[Spent], first: Spent) -> list[str | float]:
    middle = medians(spent)
    return [name, middle.wall, middle.cpu, first.wall / middle.wall]
