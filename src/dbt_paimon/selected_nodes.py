"""Calls a function for each node that dbt selects, in a patched `dbt compile` without output or JSON artifacts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from dbt_common.exceptions import DbtRuntimeError

from dbt_paimon import commands

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

T = TypeVar("T")

_SEPARATORS: Final = re.compile(r"[\s,]")
BUILT: Final = ("model", "seed", "snapshot")
# The manifest, if this process (a shell) has loaded it.
LOADED: ContextVar[Manifest | None] = ContextVar("LOADED", default=None)


def selector(fqn: str, resource_type: str) -> str:
    """dbt's selector for exactly this node.

    Without a wildcard, `fqn:` also selects nodes in a folder of that name. dbt splits selectors at blanks and commas.

    Args:
        fqn: the node's full name, as in `shop.marts.orders`.
    """
    return f"fqn:[{fqn[0]}]{_SEPARATORS.sub('?', fqn[1:])},resource_type:{resource_type}"


@dataclass(frozen=True)
class NodeResult(Generic[T]):
    """The result for one node: `value`, or the `problem` that prevented the call."""

    node: Any
    value: T | None
    problem: str = ""


def for_each(
    function: Callable[[Any, dict[str, Any]], T],
    arguments: Sequence[str],
    *,
    compiled: bool,
    resources: Sequence[str] = BUILT,
    on_begin: Callable[[Any], None] = lambda task: None,
    on_event: Callable[[Any], None] = lambda event: None,
) -> list[NodeResult[T]]:
    """Call a function for each selected node, on the target's threads; results are in the order of a run.

    Args:
        function: takes the adapter and the node, as in the manifest.
        arguments: dbt's options for selection, project and target.
        compiled: whether to compile the nodes first; their queries may then send statements to Spark.
        resources: the resource types to select.
        on_begin: called before the first node with dbt's task, which has manifest and selection.
        on_event: called with each of dbt's events.
    """
    found: dict[str, T] = {}
    unknown: list[str] = []

    def see(event: Any) -> None:
        if event.info.name == "NoNodesForSelectionCriteria":
            unknown.append(event.data.spec_raw)
        on_event(event)

    with _patched_compile(found, function, compiled, resources, on_begin):
        # JSON would overwrite the results of the last run, and the log would print each error twice. These options
        # come after the command because dbt refuses an option that is given both before and after it.
        words = ["compile", *arguments, "--log-level", "none", "--no-write-json"]
        ran = commands.run(words, manifest=LOADED.get(), callbacks=[see])
    # A selection by method, such as state:modified, may be empty.
    if named := [name for name in unknown if ":" not in name]:
        raise DbtRuntimeError(f"No node is selected by {', '.join(named)}.")
    results = getattr(ran.result, "results", ())
    return [NodeResult(result.node, found.get(result.node.unique_id), str(result.message or "")) for result in results]


@contextmanager
def _patched_compile(
    found: dict[str, T],
    function: Callable[[Any, dict[str, Any]], T],
    compiled: bool,
    resources: Sequence[str],
    on_begin: Callable[[Any], None],
) -> Iterator[None]:
    """Patch `dbt compile` to call `function` for each node, even if an upstream node has failed."""
    from dbt.artifacts.resources.types import NodeType
    from dbt.graph.selector import ResourceTypeSelector
    from dbt.task import compile as task
    from dbt.task.runnable import GraphRunnableMode
    from networkx import lexicographical_topological_sort  # type: ignore[import-untyped]

    class Runner(task.CompileRunner):  # type: ignore[type-arg]
        def compile(self, manifest: Any) -> Any:
            return super().compile(manifest) if compiled else self.node

        def execute(self, compiled_node: Any, manifest: Any) -> Any:
            result = super().execute(compiled_node, manifest)
            found[compiled_node.unique_id] = function(self.adapter, compiled_node.to_dict(omit_none=True))
            return result

    class Task(task.CompileTask):
        def raise_on_first_error(self) -> bool:
            return False

        def get_run_mode(self) -> GraphRunnableMode:
            return GraphRunnableMode.Independent

        def get_node_selector(self) -> ResourceTypeSelector:
            selector = super().get_node_selector()
            selector.resource_types = {NodeType(name) for name in resources}
            return selector

        def _runtime_initialize(self) -> None:
            super()._runtime_initialize()  # type: ignore[no-untyped-call]
            on_begin(self)

        def get_runner_type(self, _: Any) -> type[Runner]:
            return Runner

        def task_end_messages(self, results: Any) -> None:
            assert self.graph is not None
            order = {name: index for index, name in enumerate(lexicographical_topological_sort(self.graph.graph))}
            results.sort(key=lambda result: order[result.node.unique_id])

    with commands.replaced(task, CompileTask=Task):
        yield
