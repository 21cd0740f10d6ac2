"""`dbt-paimon plan`: compiles the selected nodes as `dbt compile` does, and says what a run would do with each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from dbt.adapters.paimon.plan.steps import Action
from dbt_paimon import selected_nodes
from dbt_paimon.plan.findings import Preview
from dbt_paimon.plan.previews import Previewer

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


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

    def question(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Preview:
        return Previewer(adapter).of(node, full_refresh)

    refresh = ["--full-refresh"] if full_refresh else []
    answers = selected_nodes.ask(question, [*refresh, *arguments], compiled=True)
    found = [answer.value or _failed(answer) for answer in answers]
    for preview in found:
        if as_json:
            click.echo(json.dumps(preview.as_dict(), default=str))
        else:
            click.echo("\n".join(preview.lines()))
    return found


def summary(found: Sequence[Preview]) -> str:
    """The last line: how many nodes, what they would lose, and that nothing was written."""
    lose = sum(preview.loses for preview in found)
    fail = sum(preview.does is Action.FAIL or preview.asks for preview in found)
    parts = [f"{len(found)} node{'s' if len(found) != 1 else ''}"]
    if lose:
        parts.append(f"{lose} would lose history")
    if fail:
        parts.append(f"{fail} would fail")
    return f"{', '.join(parts)}. Nothing was written."


def _failed(answer: selected_nodes.Answer[Preview]) -> Preview:
    """The preview of a node that could not be compiled."""
    node = answer.node
    name = f"{node.schema}.{node.alias}"
    return Preview(node.unique_id, name, str(node.config.materialized), Action.FAIL, problem=answer.problem)
