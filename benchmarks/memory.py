"""The time to parse, compile and run a project of many models, and the memory of dbt and of the JVM."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.cold import Project
from benchmarks.options import Options
from benchmarks.overhead import models
from benchmarks.report import Report

LOAD = """{{ config(materialized='incremental', primary_key='id') }}

select id, concat('name ', id) as name, id %% 100 as n, id / 7 as share
from range(%d)
"""
ROWS = 10_000_000
HEAP = "1g"
_MIB = 2**20
_IDLE_MINUTES = 5
# Runs dbt as a shell does, and prints the memory of Java after the run and after some idle minutes.
_SHELL = """
import sys, time, psutil
from pathlib import Path
from dbt_paimon.shell.project import Project

folder, minutes = sys.argv[1:]
project = Project(Path(folder), {"project_dir": folder, "profiles_dir": folder})
assert project.run(["--quiet", "run", "--full-refresh"]).success
java = next(each for each in psutil.Process().children(recursive=True) if each.name() == "java")
for seconds in (0, 60 * int(minutes)):
    time.sleep(seconds)
    print(java.memory_info().rss >> 20)
"""
_EVERY = 0.1


class _Peaks:
    """The peak resident memory of a tree of processes in MiB: the largest Java process, and all others together."""

    def __init__(self, pid: int) -> None:
        self.java = self.others = 0
        self._root = psutil.Process(pid)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measure while the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_EVERY):
            java = others = 0
            with suppress(psutil.NoSuchProcess):
                for process in (self._root, *self._root.children(recursive=True)):
                    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                        used = process.memory_info().rss
                        # A fork of Java has Java's memory and a thread's name until it runs another program.
                        if Path(process.exe()).name == "java":
                            java = max(java, used)
                        else:
                            others += used
            self.java, self.others = max(self.java, java // _MIB), max(self.others, others // _MIB)


def run(options: Options) -> list[Report]:
    """One report."""
    rows = []
    for count in (1, options.models, 5 * options.models):
        for adapter in ("paimon", "spark"):
            options.say(f"memory: {count} models, dbt-{adapter}")
            project = Project(adapter, options.scratch / f"memory-{adapter}-{count}")
            made = models(count, adapter) if count > 1 else _one(adapter)
            project.write(made)
            parsed = _watched(project, "parse", "--no-partial-parse")
            compiled = _watched(project, "compile")
            built = _watched(project, "run")
            rows.append([f"{len(made)} models, dbt-{adapter}", parsed[0], compiled[0], *built])
    count = ROWS // (100 if options.quick else 1)
    options.say(f"memory: {count} rows")
    large = Project("paimon", options.scratch / "memory-large", settings={"spark.driver.memory": HEAP})
    large.write({"large.sql": LOAD % count})
    rows.append([f"{count:,} rows into a primary-key table, heap of {HEAP}", None, None, *_watched(large, "run")])
    options.say(f"memory: {_IDLE_MINUTES} idle minutes")
    busy, idle = _idle(large)
    return [
        Report(
            "memory",
            "Many models, and a large one: time and memory",
            ["", "parse s", "compile s", "first run s", "dbt MiB", "JVM MiB"],
            rows,
            ["dbt MiB", "JVM MiB"],
            [
                "Whole processes, one run each, one thread; memory is the most that was resident, looked at every "
                f"{_EVERY} s. Kinds of models as in `overhead`; no table is there before the run.",
                "dbt-spark's tables are Parquet.",
                f"A shell's JVM after the load of {count:,} rows: {busy} MiB; after {_IDLE_MINUTES} idle minutes: "
                f"{idle} MiB.",
            ],
        )
    ]


def _one(adapter: str) -> dict[str, str]:
    """A single table model."""
    return {"model_000.sql": models(100, adapter)["model_000.sql"]}


def _idle(project: Project) -> tuple[int, int]:
    """The memory of a shell's JVM in MiB, after a build and after some idle minutes."""
    done = subprocess.run(
        [sys.executable, "-c", _SHELL, str(project.folder), str(_IDLE_MINUTES)],
        cwd=project.lake,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The shell failed: {done.stdout}{done.stderr}")
    busy, idle = done.stdout.split()[-2:]
    return int(busy), int(idle)


def _watched(project: Project, *arguments: str) -> tuple[float, int, int]:
    """Run a dbt command; return its seconds, and the peak memory of dbt and of Java in MiB."""
    log = project.folder / f"{arguments[0]}.log"
    with log.open("w") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            project.dbt(*arguments),
            cwd=project.lake,
            env=project.environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        peaks = _Peaks(process.pid)
        with peaks.watched():
            code = process.wait()
        wall = time.perf_counter() - started
    if code:
        raise RuntimeError(f"dbt {' '.join(arguments)} failed: see {log}: {log.read_text()[-2000:]}")
    return wall, peaks.others, peaks.java
