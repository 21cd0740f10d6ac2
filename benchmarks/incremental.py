"""The cost of a batch of changes by the table's size: dbt-paimon, and dbt-spark's merge into other formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from benchmarks.contestants import CONTESTANTS, ROOT, FailedError, Worker
from benchmarks.field import started
from benchmarks.measure import Spent, bytes_written, files_under, means, medians, orders
from benchmarks.options import Options
from benchmarks.report import Report

READ = "select count(*), sum(amount), max(updated_at), count(distinct status) from {table}"
# The table is read after this many batches, that is, in its state after a day of runs.
READ_AFTER = 10
_LEFT_OUT: Final = "Left out"

NOTHING: Final = Spent(0.0, 0.0)


@dataclass
class Course:
    """The measurements of one contestant."""

    load: Spent = NOTHING
    batches: list[Spent] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    scan: Spent | None = None
    compaction: Spent | None = None
    scan_after: Spent | None = None
    rows: str = ""
    failed: str = ""


def run(options: Options) -> Iterator[Report]:
    """One report per size of table and batch, and one on how the cost of a batch grows with its table.

    Raises:
        RuntimeError: after the reports, if a contestant has failed.
    """
    reports = []
    for base in options.bases:
        for size in options.batch_sizes:
            conditions = {"base": base, "batch": size, "batches": options.batches}
            report = options.kept(f"incremental-{base}-{size}", conditions)
            report = report or _report(_compare(options, base, size), conditions)
            reports.append(report)
            yield report
    if len(options.bases) > 1:
        yield _growth(reports)
    left_out = [note for report in reports for note in report.notes if note.startswith(_LEFT_OUT)]
    if left_out:
        raise RuntimeError(" ".join(left_out))


def _compare(options: Options, base: int, size: int) -> dict[str, Course]:
    chosen = [one for one in CONTESTANTS if options.takes_part(one.name)]
    courses = {one.name: Course() for one in chosen}
    with started(chosen, ROOT / "projects" / "upserts", options.scratch / "incremental") as workers:

        def each(step: Callable[[Worker, Course], None], order: slice = slice(None)) -> None:
            """Run a step for every contestant, except those that failed."""
            for name in list(workers)[order]:
                course = courses[name]
                if course.failed:
                    continue
                try:
                    step(workers[name], course)
                except FailedError as exc:
                    options.say(f"left out from here on: {exc}")
                    course.failed = exc.why

        def load(worker: Worker, course: Course) -> None:
            options.say(f"{worker.contestant.name}: {base} rows")
            # A smaller table of the same name warms the JVM.
            for batch in (0, 1):
                worker.dbt("run", variables={"base": size * 10, "size": size, "batch": batch})
            # A rebuild would keep the number of buckets that suited the smaller table.
            worker.sql("drop table {table}")
            variables = {"base": base, "size": size, "batch": 0}
            course.load = Spent(**worker.dbt("run", variables=variables)["nodes"]["facts"])

        def batch(number: int, worker: Worker, course: Course) -> None:
            before = files_under(worker.warehouse)
            ran = worker.dbt("run", variables={"base": base, "size": size, "batch": number + 1})
            course.written.append(bytes_written(before, files_under(worker.warehouse)))
            course.batches.append(Spent(**ran["nodes"]["facts"]))
            if number + 1 == min(READ_AFTER, options.batches):
                course.scan = _read(worker)

        def end(worker: Worker, course: Course) -> None:
            if worker.contestant.compaction:
                _, course.compaction = worker.sql(worker.contestant.compaction)
            course.scan_after = _read(worker)
            course.rows = str(worker.sql(READ)[0])

        each(load)
        for number, order in enumerate(orders(options.batches)):
            each(partial(batch, number), order)
        each(end)
    _same_rows({name: course for name, course in courses.items() if not course.failed})
    return courses


def _read(worker: Worker) -> Spent:
    return medians([worker.sql(READ)[1] for _ in range(4)][1:])


def _same_rows(courses: dict[str, Course]) -> None:
    """Fail if the tables of the contestants differ."""
    found = {course.rows for course in courses.values()}
    if len(found) > 1:
        raise RuntimeError(f"the tables differ: { {name: course.rows for name, course in courses.items()} }")


def _report(courses: dict[str, Course], conditions: dict[str, int]) -> Report:
    base, size = conditions["base"], conditions["batch"]
    whole = {name: course for name, course in courses.items() if not course.failed}
    # Ratios are relative to the first contestant.
    first = next(iter(courses.values()))
    if first.failed:
        raise RuntimeError(f"{next(iter(courses))}: {first.failed}")
    ours = medians(first.batches), means(first.batches)
    rows = []
    for name, course in whole.items():
        middle, mean = medians(course.batches), means(course.batches)
        rows.append(
            [
                name,
                middle.wall,
                middle.cpu,
                mean.wall,
                mean.cpu,
                middle.cpu / ours[0].cpu,
                mean.cpu / ours[1].cpu,
                mean.wall / ours[1].wall,
                sum(course.written) / len(course.written) / 2**20,
                course.scan.wall if course.scan else None,
                course.compaction.wall if course.compaction else None,
                course.scan_after.wall if course.scan_after else None,
                course.load.wall,
                course.load.cpu,
            ]
        )
    columns = [
        "contestant",
        "wall s, median",
        "CPU s, median",
        "wall s, mean",
        "CPU s, mean",
        "CPU median: times ours",
        "CPU mean: times ours",
        "wall mean: times ours",
        "MiB a batch",
        "scan s after batches",
        "compaction s",
        "scan s after compaction",
        "first load s",
        "first load CPU s",
    ]
    return Report(
        f"incremental-{base}-{size}",
        f"{conditions['batches']} batches of {size:,} rows into a table of {base:,}",
        columns,
        rows,
        ["CPU s, median", "CPU s, mean"],
        [
            "A batch: half updates all over the table, half new rows; the time of dbt's model, its compactions in it.",
            f"Contestants take turns, one batch each; `scan` is the median of three reads after {READ_AFTER} batches.",
            "At the end all tables hold the same rows.",
            *(f"{_LEFT_OUT}: {name}. {course.failed}" for name, course in courses.items() if course.failed),
        ],
        conditions,
    )


def _growth(reports: list[Report]) -> Report:
    """How a batch's median CPU grows from the smallest table to the largest."""
    by_size: dict[int, list[Report]] = {}
    for report in reports:
        by_size.setdefault(report.conditions["batch"], []).append(report)
    rows = []
    for size, found in by_size.items():
        ordered = sorted(found, key=lambda report: report.conditions["base"])
        small, large = ordered[0], ordered[-1]
        larger = {row[0]: row for row in large.rows}
        for row in small.rows:
            if (other := larger.get(row[0])) is None:
                continue
            rows.append([row[0], f"{size:,}", row[2], other[2], other[2] / row[2]])
    least, most = (fit(report.conditions["base"] for report in reports) for fit in (min, max))
    return Report(
        "incremental-growth",
        f"A batch by the size of its table: {least:,} rows and {most:,}",
        ["contestant", "batch", f"CPU s at {least:,}", f"CPU s at {most:,}", "growth"],
        rows,
        ["growth"],
    )
