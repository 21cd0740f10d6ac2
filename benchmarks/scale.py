"""The cost of a commit by the number of files in the table. docs/sizing.md calculates with its slopes."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.contestants import ROOT, Worker, named
from benchmarks.field import started
from benchmarks.measure import Spent, bytes_written, files_under, medians
from benchmarks.options import Options
from benchmarks.report import Report

BUCKETS: Final = 4
BATCH: Final = 2_000
# The metadata folders of a Paimon table; all other folders contain rows.
METADATA: Final = ("manifest", "snapshot", "schema", "index", "statistics")


@dataclass(frozen=True)
class _Size:
    """The cost of batches in a table with this many files.

    Attributes:
        spent, metadata, data: the medians per batch; metadata and data are the bytes written.
        manifests: the bytes of all manifests.
        planned: the cost of reading one key.
    """

    files: int
    spent: Spent
    metadata: int
    data: int
    manifests: int
    planned: Spent


def run(options: Options) -> list[Report]:
    """One report: three tables, each with four times (with --quick: twice) the files of the one before."""
    partitions = (25, 50, 100) if options.quick else (50, 200, 800)
    sizes = []
    with started(named("Paimon, upsert"), ROOT / "projects" / "parts", options.scratch / "scale") as workers:
        (worker,) = workers.values()
        # The first run costs more, whatever the size, so it is not counted.
        _measure(worker, partitions[0], options.batches)
        for parts in partitions:
            options.say(f"scale: {parts * BUCKETS} files")
            sizes.append(_measure(worker, parts, options.batches))
    return [_report(sizes)]


def _measure(worker: Worker, parts: int, batches: int) -> _Size:
    variables = {"parts": parts, "buckets": BUCKETS, "size": BATCH}
    table = worker.warehouse / "bench.db" / "facts"
    worker.dbt("run", "--full-refresh", variables={**variables, "batch": 0})
    # Remove the files of the previous build from the manifests.
    worker.sql("call paimon.sys.expire_snapshots(table => '{table}', retain_max => 1)")
    spent, metadata, data = [], [], []
    for batch in range(batches):
        before = files_under(table)
        ran = worker.dbt("run", variables={**variables, "batch": batch})
        spent.append(Spent(**ran["nodes"]["facts"]))
        after = files_under(table)
        of_it = {path: size for path, size in after.items() if _is_metadata(Path(path), table)}
        metadata.append(bytes_written(before, of_it))
        data.append(bytes_written(before, after) - metadata[-1])
    files = int(worker.sql("select count(*) from paimon.bench.`facts$files`")[0][0][0])
    listed = worker.sql("select sum(file_size) from paimon.bench.`facts$manifests`")[0][0][0]
    planned = [worker.sql("select count(*) from {table} where part = 1 and id = 1")[1] for _ in range(5)]
    return _Size(
        files,
        medians(spent),
        int(statistics.median(metadata)),
        int(statistics.median(data)),
        int(listed),
        medians(planned[1:]),
    )


def _is_metadata(path: Path, table: Path) -> bool:
    return path.relative_to(table).parts[0] in METADATA


def _report(sizes: list[_Size]) -> Report:
    rows = [
        [
            f"{size.files:,} files",
            size.spent.wall,
            size.spent.cpu,
            size.metadata / 1024,
            size.data / 1024,
            size.manifests / 1024,
            size.manifests / size.files,
            size.planned.wall,
        ]
        for size in sizes
    ]
    return Report(
        "scale",
        f"A batch of {BATCH:,} rows into one partition of {BUCKETS} buckets, by the files of the table",
        [
            "table",
            "wall s",
            "CPU s",
            "metadata KiB a batch",
            "data KiB a batch",
            "manifests KiB",
            "manifest bytes a file",
            "read one key s",
        ],
        rows,
        ["CPU s", "read one key s"],
        [
            f"Reckoned from the two smaller tables for the largest, and found: {_checked(sizes)}.",
            "Medians; the time of dbt's model, its commit and compactions in it.",
        ],
        {"batch": BATCH, "buckets": BUCKETS},
    )


def _checked(sizes: list[_Size]) -> str:
    """Compare the third table with a straight line through the first two."""
    *known, last = sizes
    figures: Mapping[str, list[float]] = {
        "CPU s": [size.spent.cpu for size in sizes],
        "manifests KiB": [size.manifests / 1024 for size in sizes],
        "read one key s": [size.planned.wall for size in sizes],
    }
    said = []
    for name, found in figures.items():
        line = statistics.linear_regression([size.files for size in known], found[:-1])
        said.append(f"{name} {line.slope * last.files + line.intercept:.2f}, found {found[-1]:.2f}")
    return "; ".join(said)
