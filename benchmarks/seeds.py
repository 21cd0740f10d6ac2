"""How fast `dbt seed` loads a CSV file."""

from __future__ import annotations

from benchmarks.contestants import Contestant, named
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, in_turns, medians
from benchmarks.options import Options
from benchmarks.report import Report

# dbt-spark as it is: a Parquet table in Spark's own catalog.
PARQUET = Contestant("dbt-spark, Parquet", "spark", {}, conf={"spark.sql.legacy.createHiveTableByDefault": "false"})

# Rows. For each value, dbt-spark reads its whole column (`SparkAdapter.convert_number_type`, from the macro of its
# INSERT). So ten times the rows take a hundred times the work, and 100 k rows would take hours.
_STOCK_UP_TO = 10_000


def run(options: Options) -> list[Report]:
    """One report: up to 100 k rows through dbt-paimon, up to 10 k through dbt-spark."""
    rows = []
    for count in (1_000,) if options.quick else (1_000, 10_000, 100_000):
        lines = (f"{i},name {i},{i * 7 % 1000}.{i % 100:02},2024-01-{i % 28 + 1:02}\n" for i in range(count))
        project = write_project(options.scratch / "seeds", {"seeds/facts.csv": "id,name,amount,day\n" + "".join(lines)})
        contestants = [named("Paimon, upsert")[0], *([PARQUET] if count <= _STOCK_UP_TO else [])]
        with started(contestants, project, options.scratch / f"seeds-{count}") as workers:
            for name, worker in workers.items():
                options.say(f"{name}: a seed of {count} rows")
                worker.dbt("seed", "--full-refresh")
            turns = {
                name: lambda _, worker=worker: Spent(**worker.dbt("seed", "--full-refresh")["nodes"]["facts"])
                for name, worker in workers.items()
            }
            found = {name: medians(spent) for name, spent in in_turns(turns, min(options.rounds, 3)).items()}
        ours = found[contestants[0].name]
        rows += [
            [name if i else "dbt-paimon", f"{count:,}", s.wall, s.cpu, s.wall / ours.wall, s.cpu / ours.cpu]
            for i, (name, s) in enumerate(found.items())
        ]
    return [
        Report(
            "seeds",
            "dbt seed",
            ["adapter", "rows", "wall s", "CPU s", "wall: times ours", "CPU: times ours"],
            rows,
            ["wall s", "CPU s"],
            [
                "The time of the seed alone, in a Spark that has done it before.",
                f"dbt-spark takes part up to {_STOCK_UP_TO:,} rows: its time grows with their square.",
            ],
        )
    ]
