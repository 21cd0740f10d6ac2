"""`dbt-paimon plan`: compiles the selected nodes, and prints what a run would do with each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.plan.steps import Action
from dbt_paimon import selected_nodes
from dbt_paimon.plan.previews import Preview, Previewer

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


def run(arguments: Sequence[str], full_refresh: bool, as_json: bool) -> list[Preview]:
    """Print what a run would do with the selected nodes, in the order of a run."""

    def of_node(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Preview:
        return Previewer(adapter).of(node, full_refresh)

    refresh = ["--full-refresh"] if full_refresh else []
    results = selected_nodes.for_each(of_node, [*refresh, *arguments], compiled=True)
    found = [result.value or _failed(result) for result in results]
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
