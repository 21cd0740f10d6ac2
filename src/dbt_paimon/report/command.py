"""`dbt-paimon report`: reads the metadata of the selected tables with dbt's threads."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.__version__ import version
from dbt.adapters.paimon.kept_results import KEPT_RESULTS, RESULTS
from dbt_paimon import selected_nodes
from dbt_paimon.report import columns, lineage, runs
from dbt_paimon.report.figures import Cost, Report, Table, connected
from dbt_paimon.report.tables import CLASSES, SOURCE, SQL, TableReader

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


@dataclass
class _Collector:
    """Collects what dbt's threads read."""

    at: float
    tables: dict[str, Table] = field(default_factory=dict)
    selected: set[str] = field(default_factory=set)
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    # dbt's RuntimeConfig.
    config: Any = None
    versions: dict[str, str] = field(default_factory=dict)
    statements: int = 0

    def take_project(self, task: Any) -> None:
        """Take the selection, the nodes and the config from dbt's task."""
        self.selected = {node.unique_id for node in task._flattened_nodes or ()}
        every = (*task.manifest.nodes.values(), *task.manifest.sources.values())
        self.nodes = {node.unique_id: node.to_dict(omit_none=True) for node in every}
        self.config = task.config

    def count_statement(self, event: Any) -> None:
        """Count an event if it is a statement that dbt sends."""
        self.statements += event.info.name == "SQLQuery"

    def duplicate_sources(self) -> set[str]:
        """The unique ids of sources whose table is also the table of a selected node."""
        built = {table.name for table in self.tables.values() if table.kind != SOURCE}
        return {node for node, each in self.tables.items() if each.kind == SOURCE and each.name in built}

    def table_of(self, adapter: PaimonAdapter, node: Mapping[str, Any]) -> None:
        if (table := TableReader(adapter).of(node, self.at)) is not None:
            self.tables[node["unique_id"]] = table
        self.versions = {"Paimon": str(adapter.versions.paimon), "Spark": str(adapter.versions.spark)}


def run(arguments: Sequence[str], results: Sequence[str] = ()) -> Report:
    """Read the metadata of the selected nodes and sources. `results`: `run_results.json` files or their folders."""
    begun, read = time.perf_counter(), _Collector(time.time())
    selected_nodes.for_each(
        read.table_of,
        arguments,
        compiled=False,
        resources=(*selected_nodes.BUILT, SOURCE),
        on_begin=read.take_project,
        on_event=read.count_statement,
    )
    twice, config = read.duplicate_sources(), read.config
    target = Path(config.project_root, config.target_path)
    tables = [each for node, each in read.tables.items() if node not in twice]
    found = connected(sorted(tables, key=lambda table: table.name))
    found = columns.with_lineage(found, target / "manifest.json", read.nodes)
    return Report(
        project=config.project_name,
        target=config.target_name,
        at=read.at,
        versions={"dbt-paimon": version, **read.versions},
        tables=found,
        runs=runs.read([*map(Path, results), target / KEPT_RESULTS, target / RESULTS], read.nodes),
        lineage=lineage.of(read.nodes.values(), frozenset(read.selected - twice)),
        cost=Cost(
            statements=read.statements,
            by_classes=sum(table.by == CLASSES for table in found),
            by_sql=sum(table.by == SQL for table in found),
            reading_seconds=sum(table.seconds for table in found),
            seconds=time.perf_counter() - begun,
            threads=config.threads,
        ),
    )
