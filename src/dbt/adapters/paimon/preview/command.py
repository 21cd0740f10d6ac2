"""`dbt-paimon plan`: compiles the selected nodes as `dbt compile` does, and says what a run would do with each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.paimon.preview.findings import Does, Preview

_RESOURCES: Final = ("model", "seed", "snapshot")


def run(arguments: Sequence[str], full_refresh: bool, as_json: bool) -> list[Preview]:
    """Say what a run would do with the selected models, seeds and snapshots; nothing is written.

    Args:
        arguments: dbt's options: selection, project, target.
        full_refresh: whether the run would have `--full-refresh`.
        as_json: whether each node is a line of JSON rather than text.

    Returns:
        One preview for each node, in the order in which a run would build them.

    Raises:
        DbtBaseException: the project or the profile cannot be read, or the selection is wrong.
    """
    from dbt.cli.main import dbtRunner

    previews: dict[str, Preview] = {}
    with _previewed(previews, full_refresh):
        refresh = ["--full-refresh"] if full_refresh else []
        ran = dbtRunner().invoke(["--quiet", "compile", *refresh, *arguments])
    if ran.exception is not None:
        if isinstance(ran.exception, DbtBaseException):
            raise ran.exception
        raise click.ClickException(str(ran.exception))
    found = list(_in_order(getattr(ran.result, "results", ()), previews))
    for preview in found:
        if as_json:
            click.echo(json.dumps(preview.as_dict(), default=str))
        else:
            click.echo("\n".join(preview.lines()))
    return found


def summary(found: Sequence[Preview]) -> str:
    """The last line: how many nodes, what they would lose, and that nothing was written."""
    lose = sum(preview.loses for preview in found)
    fail = sum(preview.does is Does.FAIL or preview.asks for preview in found)
    parts = [f"{len(found)} node{'s' if len(found) != 1 else ''}"]
    if lose:
        parts.append(f"{lose} would lose history")
    if fail:
        parts.append(f"{fail} would fail")
    return f"{', '.join(parts)}. Nothing was written."


def _in_order(results: Sequence[Any], previews: Mapping[str, Preview]) -> Iterator[Preview]:
    """The previews, in the order of the graph, with those of nodes that could not be compiled."""
    for result in results:
        node = result.node
        yield previews.get(node.unique_id) or Preview(
            node.unique_id,
            f"{node.schema}.{node.alias}",
            str(node.config.materialized),
            Does.FAIL,
            problem=str(result.message or ""),
        )


@contextmanager
def _previewed(previews: dict[str, Preview], full_refresh: bool) -> Iterator[None]:
    """`dbt compile` looks at each compiled node with the adapter, whatever has become of those it reads."""
    from dbt.artifacts.resources.types import NodeType
    from dbt.graph.selector import ResourceTypeSelector
    from dbt.task import compile as task
    from dbt.task.runnable import GraphRunnableMode
    from networkx import lexicographical_topological_sort  # type: ignore[import-untyped]

    class PlanRunner(task.CompileRunner):  # type: ignore[type-arg]
        def execute(self, compiled_node: Any, manifest: Any) -> Any:
            result = super().execute(compiled_node, manifest)
            adapter: Any = self.adapter
            node = compiled_node.to_dict(omit_none=True)
            previews[compiled_node.unique_id] = adapter.previews.of(node, full_refresh)
            return result

    class PlanTask(task.CompileTask):
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

        def get_runner_type(self, _: Any) -> type[PlanRunner]:
            return PlanRunner

        def task_end_messages(self, results: Any) -> None:
            assert self.graph is not None
            order = {
                name: index for index, name in enumerate(lexicographical_topological_sort(self.graph.graph))
            }
            results.sort(key=lambda result: order[result.node.unique_id])

    before = task.CompileTask
    task.CompileTask = PlanTask  # type: ignore[misc]
    try:
        yield
    finally:
        task.CompileTask = before  # type: ignore[misc]
