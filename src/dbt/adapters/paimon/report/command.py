"""`dbt-paimon report`: reads the metadata of the selected tables with dbt's threads, and makes one page of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.paimon.__version__ import version
from dbt.adapters.paimon.report import lineage, runs
from dbt.adapters.paimon.report.door import CLASSES, SOURCE, SQL
from dbt.adapters.paimon.report.figures import Cost, Report, Table, connected

_RESOURCES: Final = ("model", "seed", "snapshot", "source")


@dataclass
class _Read:
    """What the threads of dbt's task bring together."""

    at: float
    tables: dict[str, Table] = field(default_factory=dict)
    selected: set[str] = field(default_factory=set)
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    project: str = ""
    target: str = ""
    results: Path = Path(runs.RESULTS)
    threads: int = 1
    versions: dict[str, str] = field(default_factory=dict)


def run(arguments: Sequence[str], results: Sequence[str] = ()) -> Report:
    """Read the metadata of the selected models, seeds, snapshots and sources; nothing is written, no data file is read.

    Args:
        arguments: dbt's options: selection, project, target.
        results: files of `run_results.json` of earlier runs, or their folders.

    Raises:
        DbtBaseException: the project or the profile cannot be read, or the selection is wrong.
    """
    from dbt.cli.main import dbtRunner

    begun, read, statements = time.perf_counter(), _Read(time.time()), _Statements()
    with _reading(read):
        # Without JSON, or dbt would write over the results of the last run.
        ran = dbtRunner(callbacks=[statements.seen]).invoke(
            ["--quiet", "--no-write-json", "compile", *arguments]
        )
    if ran.exception is not None:
        if isinstance(ran.exception, DbtBaseException):
            raise ran.exception
        raise click.ClickException(str(ran.exception))
    # A source may be a table of a model here, as another project sees it.
    built = {table.name for table in read.tables.values() if table.kind != SOURCE}
    twice = {node for node, each in read.tables.items() if each.kind == SOURCE and each.name in built}
    tables = [each for node, each in read.tables.items() if node not in twice]
    found = connected(sorted(tables, key=lambda table: table.name))
    return Report(
        project=read.project,
        target=read.target,
        at=read.at,
        versions={"dbt-paimon": version, **read.versions},
        tables=found,
        runs=runs.read([*map(Path, results), read.results], read.nodes),
        lineage=lineage.of(read.nodes.values(), frozenset(read.selected - twice)),
        cost=Cost(
            statements=statements.count,
            by_classes=sum(table.by == CLASSES for table in found),
            by_sql=sum(table.by == SQL for table in found),
            reading_seconds=sum(table.seconds for table in found),
            seconds=time.perf_counter() - begun,
            threads=read.threads,
        ),
    )


class _Statements:
    """Counts the statements that dbt sends."""

    def __init__(self) -> None:
        self.count = 0

    def seen(self, event: Any) -> None:
        """Called with each of dbt's events."""
        self.count += event.info.name == "SQLQuery"


@contextmanager
def _reading(read: _Read) -> Iterator[None]:
    """`dbt compile` reads the table of each node with the adapter, and compiles nothing."""
    from dbt.artifacts.resources.types import NodeType
    from dbt.graph.selector import ResourceTypeSelector
    from dbt.task import compile as task
    from dbt.task.runnable import GraphRunnableMode

    class ReportRunner(task.CompileRunner):  # type: ignore[type-arg]
        def compile(self, manifest: Any) -> Any:
            # Its queries could read data.
            return self.node

        def execute(self, compiled_node: Any, manifest: Any) -> Any:
            adapter: Any = self.adapter
            table = adapter.reports.of(compiled_node.to_dict(omit_none=True), read.at)
            if table is not None:
                read.tables[compiled_node.unique_id] = table
            if not read.versions:
                read.versions.update(adapter.reports.versions())
            return super().execute(compiled_node, manifest)

    class ReportTask(task.CompileTask):
        def raise_on_first_error(self) -> bool:
            return False

        def get_run_mode(self) -> GraphRunnableMode:
            return GraphRunnableMode.Independent

        def get_node_selector(self) -> ResourceTypeSelector:
            assert self.graph is not None
            assert self.manifest is not None
            return ResourceTypeSelector(
                graph=self.graph,
                manifest=self.manifest,
                previous_state=self.previous_state,
                resource_types=[NodeType(name) for name in _RESOURCES],
                selectors=self.config.selectors,
            )

        def get_runner_type(self, _: Any) -> type[ReportRunner]:
            return ReportRunner

        def _runtime_initialize(self) -> None:
            super()._runtime_initialize()  # type: ignore[no-untyped-call]
            assert self.manifest is not None
            read.selected = {node.unique_id for node in self._flattened_nodes or ()}
            every = (*self.manifest.nodes.values(), *self.manifest.sources.values())
            read.nodes = {node.unique_id: node.to_dict(omit_none=True) for node in every}
            read.project, read.target = self.config.project_name, self.config.target_name
            read.results = Path(self.config.project_root) / self.config.target_path / runs.RESULTS
            read.threads = self.config.threads

        def task_end_messages(self, results: Any) -> None:
            pass

    before = task.CompileTask
    task.CompileTask = ReportTask  # type: ignore[misc]
    try:
        yield
    finally:
        task.CompileTask = before  # type: ignore[misc]
