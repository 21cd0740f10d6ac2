"""The overhead of dbt and the adapter: a run of many models, compared with a plain script of the same statements."""

from __future__ import annotations

from benchmarks.cold import Project
from benchmarks.measure import in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report

SHARES = {"table": 40, "incremental": 30, "view": 30}


def models(count: int, adapter: str) -> dict[str, str]:
    """The SQL of `count` small models by file name, with the kinds in `SHARES`. None of them reads another."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(count * share // 100)]
    found = {}
    for number, kind in enumerate(kinds):
        config = f"materialized='{kind}'"
        if kind == "incremental":
            config += ", primary_key='id'" if adapter == "paimon" else ", incremental_strategy='append'"
        select = f"select id, id * {number + 1} as n, 'model {number}' as name from range(100)"
        found[f"model_{number:03}.sql"] = f"{{{{ config({config}) }}}}\n\n{select}\n"
    return found


def run(options: Options) -> list[Report]:
    """One report: dbt-paimon and dbt-spark, each compared with its own statements."""
    turns, statements = {}, {}
    for adapter in ("paimon", "spark"):
        project = Project(adapter, options.scratch / f"overhead-{adapter}")
        options.say(f"{adapter}: {options.models} models")
        project.prepare(models(options.models, adapter))
        sent = project.record()
        statements[adapter] = len(sent)
        turns[f"dbt-{adapter}"] = project.timed("dbt", project.dbt("run"))
        turns[f"dbt-{adapter}: its statements"] = project.timed("script", project.script(sent))
        turns[f"dbt-{adapter}: parse"] = project.timed("parse", project.dbt("parse", "--no-partial-parse"))
    found = {name: medians(spent) for name, spent in in_turns(turns, options.rounds).items()}
    rows = []
    for adapter in ("paimon", "spark"):
        dbt, script = found[f"dbt-{adapter}"], found[f"dbt-{adapter}: its statements"]
        rows.append(
            [
                f"dbt-{adapter}",
                dbt.wall,
                script.wall,
                dbt.wall / script.wall,
                1000 * (dbt.wall - script.wall) / options.models,
                dbt.cpu / script.cpu,
                statements[adapter] / options.models,
                found[f"dbt-{adapter}: parse"].wall,
            ]
        )
    return [
        Report(
            "overhead",
            f"A run of {options.models} models, and a plain script that sends the same statements",
            [
                "adapter",
                "dbt run s",
                "script s",
                "times the script",
                "ms a model more",
                "CPU: times the script",
                "statements a model",
                "parse s",
            ],
            rows,
            ["dbt run s", "script s"],
            [
                "Whole processes, the start of the JVM on both sides; dbt with one thread; tables built before.",
                f"Medians of {options.rounds} rounds in turns. {SHARES} of a hundred models.",
            ],
        )
    ]
