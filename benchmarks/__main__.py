"""`python -m benchmarks [NAME…] [--quick]`: run benchmarks, print their tables, keep them in benchmarks/results."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.options import Options

NAMES = (
    "start",
    "edit",
    "overhead",
    "memory",
    "seeds",
    "snapshots",
    "listing",
    "report_page",
    "threads",
    "incremental",
    "scale",
    "streaming",
    "views",
)
# Benchmark -> its reports, if not one report of the same name. `incremental` checks its reports itself.
REPORTS = {
    "report_page": ("report-page",),
    "threads": ("threads", "microbatch"),
    "incremental": (),
    "streaming": ("streaming-throughput", "streaming-lag"),
}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; by default all")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--bases", type=_numbers, help="rows of the tables, for example 200000,4000000")
    parser.add_argument("--batch-sizes", type=_numbers, help="rows of a batch")
    parser.add_argument("--batches", type=int, help="batches per contestant")
    parser.add_argument("--rounds", type=int, help="runs of each process")
    parser.add_argument("--models", type=int, help="models in the projects of overhead and memory")
    parser.add_argument("--contestants", type=lambda text: tuple(text.split(",")), help="parts of contestants' names")
    parser.add_argument("--resume", action="store_true", help="skip reports of this code that --results has")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the tables go")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    with tempfile.TemporaryDirectory(prefix="dbt-paimon-bench-") as scratch:
        options = Options(Path(scratch))
        if given.quick:
            options = replace(
                options,
                bases=(200_000,),
                batch_sizes=(2_000,),
                batches=6,
                rounds=1,
                models=10,
                contestants=("upsert", "-on-", "plain"),
                quick=True,
            )
        chosen = {
            name: value
            for name in ("bases", "batch_sizes", "batches", "rounds", "models", "contestants")
            if (value := getattr(given, name)) is not None
        }
        folder = given.results / "quick" if options.quick else given.results
        options = replace(options, **chosen, results=folder, resume=given.resume)
        failed = False
        for name in given.names or NAMES:
            made = REPORTS.get(name, (name,))
            if made and all(options.kept(one, {}) for one in made):
                continue
            try:
                for report in importlib.import_module(f"benchmarks.{name}").run(options):
                    print(report.text(), end="\n\n", flush=True)
                    if not report.kept:
                        report.save(folder)
            except RuntimeError as exc:
                # Continue with the other benchmarks.
                options.say(f"{name} failed: {exc}")
                failed = True
    sys.exit(failed)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part.replace("_", "")) for part in text.split(","))


if __name__ == "__main__":
    main()
