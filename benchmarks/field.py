"""Runs several contestants, each in its own process, on a project that is written for the benchmark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from benchmarks.contestants import Contestant, Worker


def write_project(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a dbt project with the profile `bench`; `files`: path -> text."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = {"name": "bench", "version": "1.0", "profile": "bench"}
    for path, text in {"dbt_project.yml": yaml.safe_dump(project), **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@contextmanager
def started(
    contestants: Sequence[Contestant], project: Path, folder: Path, threads: int = 1
) -> Iterator[dict[str, Worker]]:
    """Yield a worker per contestant, by name; at the end, delete the warehouses. Raises FailedError."""
    shutil.rmtree(folder, ignore_errors=True)
    workers: dict[str, Worker] = {}
    try:
        for number, one in enumerate(contestants):
            workers[one.name] = worker = Worker(one, project, folder / str(number), threads)
            if "spark.jars.packages" in one.conf:
                # Ivy corrupts a file that two processes download at once.
                worker.sql("select 1")
        yield workers
    finally:
        for worker in workers.values():
            worker.close()
        shutil.rmtree(folder, ignore_errors=True)
