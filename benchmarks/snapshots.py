"""The cost of `dbt snapshot` if one row in a hundred has changed."""

from __future__ import annotations

from benchmarks.contestants import named
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report

_MODEL = """{{ config(materialized='view') }}
{%- set step = "case when id % 100 = 0 then " ~ var('step', 0) ~ " else 0 end" %}
select
    id,
    concat('name ', id) as name,
    {{ step }} as version,
    timestamp '2024-01-01' + make_interval(0, 0, 0, {{ step }}) as changed
from range({{ var('rows', 1) }})
"""
_SNAPSHOT = """{% snapshot facts %}
{%- set given = dict(var('config', {})) -%}
{%- set file = {'file_format': given.file_format} if given.file_format else {} -%}
{{ config(
    target_schema='bench', unique_key='id', strategy='timestamp', updated_at='changed', **file
) }}
select * from {{ ref('states') }}
{% endsnapshot %}
"""


def run(options: Options) -> list[Report]:
    """One report: dbt-paimon, and dbt-spark on Delta.

    Iceberg does not take part: dbt-spark mistakes an Iceberg table of a session catalog for another format, and refuses
    the second snapshot.
    """
    count = 100_000 if options.quick else 1_000_000
    contestants = named("Paimon, upsert", "Delta, plain")
    project = write_project(
        options.scratch / "snapshots", {"models/states.sql": _MODEL, "snapshots/facts.sql": _SNAPSHOT}
    )

    with started(contestants, project, options.scratch / "snapshots-run") as workers:
        for name, worker in workers.items():
            options.say(f"{name}: a snapshot of {count} rows")
            worker.dbt("build", variables={"rows": count, "step": 0})

        def once(name: str, number: int) -> Spent:
            variables = {"rows": count, "step": number + 1}
            worker = workers[name]
            worker.dbt("run", variables=variables)
            return Spent(**worker.dbt("snapshot", variables=variables)["nodes"]["facts"])

        turns = {name: (lambda number, name=name: once(name, number)) for name in workers}
        found = {name: medians(spent) for name, spent in in_turns(turns, min(options.rounds, 5)).items()}
        states = {name: str(worker.sql("select count(*) from {table}")[0]) for name, worker in workers.items()}
    if len(set(states.values())) > 1:
        raise RuntimeError(f"the snapshots differ: {states}")
    ours = next(iter(found.values()))
    return [
        Report(
            "snapshots",
            f"dbt snapshot of {count:,} rows, one in a hundred changed",
            ["contestant", "wall s", "CPU s", "wall: times ours", "CPU: times ours"],
            [[name, s.wall, s.cpu, s.wall / ours.wall, s.cpu / ours.cpu] for name, s in found.items()],
            ["wall s", "CPU s"],
            [f"Medians of {min(options.rounds, 5)} rounds in turns; at the end all hold as many rows."],
        )
    ]
