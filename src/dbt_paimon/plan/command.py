"""`dbt-paimon plan`: compiles the selected nodes, and prints what a run would do with each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.plan.steps import Action
from dbt_paimon import selected_nodes
from dbt_paimon.plan.previews import Preview, Previewer

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


# With these, a run changes no rows that other nodes read. A view that is replaced usually keeps its query.
_WRITES_NOTHING: Final = (Action.NOTHING, Action.REPLACE_VIEW)


def run(arguments: Sequence[str], full_refresh: bool, as_json: bool) -> list[Preview]:
    """Print what a run would do with the selected nodes, in the order of a run."""
    from dbt.context.providers import generate_runtime_model_context

    tasks: list[Any] = []

    def of_node(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Preview:
        manifest = tasks[0].manifest
        context = generate_runtime_model_context(manifest.nodes[node["unique_id"]], tasks[0].config, manifest)
        return Previewer(adapter).of(context)

    refresh = ["--full-refresh"] if full_refresh else []
    results = selected_nodes.for_each(of_node, [*refresh, *arguments], compiled=True, on_begin=tasks.append)
    found: list[Preview] = []
    written: set[str] = set()
    for result in results:
        preview = result.value or _failed(result)
        if preview.unchanged and not written & tasks[0].graph.ancestors(preview.unique_id):
            preview = preview.skipped()
        if preview.does not in _WRITES_NOTHING:
            written.add(preview.unique_id)
        found.append(preview)
    for preview in found:
        click.echo(json.dumps(preview.as_dict(), default=str) if as_json else "\n".join(preview.lines()))
    if not as_json:
        click.echo(_summary(found))
    return found


def _summary(found: Sequence[Preview]) -> str:
    """The last line: the number of nodes, and how many would lose history or fail."""
    lose = sum(preview.loses for preview in found)
    fail = sum(preview.does is Action.FAIL or preview.asks for preview in found)
    parts = [counted(len(found), "node")]
    if lose:
        parts.append(f"{lose} would lose history")
    if fail:
        parts.append(f"{fail} would fail")
    return f"{', '.join(parts)}. Nothing was written."


def _failed(result: selected_nodes.NodeResult[Preview]) -> Preview:
    node = result.node
    name = f"{node.schema}.{node.alias}"
    return Preview(node.unique_id, name, str(node.config.materialized), Action.FAIL, problem=result.problem)
