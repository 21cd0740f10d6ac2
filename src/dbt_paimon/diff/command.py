"""`dbt-paimon diff`: compares the tables of the selected nodes, and prints the differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.profile import load_credentials
from dbt_paimon import commands, selected_nodes
from dbt_paimon.diff.comparison import Comparison
from dbt_paimon.diff.findings import Difference
from dbt_paimon.diff.sides import Kind, Side
from dbt_paimon.words import options

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter

TEXT, JSON, MARKDOWN = "text", "json", "markdown"


def run(
    arguments: Sequence[str],
    target: Mapping[str, str | None],
    before: Side,
    after: Side,
    *,
    state: str | None,
    key: Sequence[str],
    samples: int,
    output: str,
) -> list[Difference]:
    """Compare the tables of the selected nodes, and print the differences.

    Args:
        arguments: dbt's options for the selection.
        output: text, json (one line per node) or markdown.
    """

    def of_node(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Difference:
        return Comparison(adapter).of(node, before, after, key=key, samples=samples)

    with TemporaryDirectory() as folder:
        deferred = _deferred(target, before, after, state, folder)
        results = selected_nodes.for_each(of_node, [*options(target), *arguments, *deferred], compiled=False)
    return show(results, before, after, output)


def show(
    results: Sequence[selected_nodes.NodeResult[Difference]], before: Side, after: Side, output: str
) -> list[Difference]:
    """Print the differences of nodes, and return them; `before` and `after` name the sides of nodes that failed."""
    with_table = [result for result in results if str(result.node.config.materialized) != "ephemeral"]
    found = [result.value or _failed(result, before, after) for result in with_table]
    for difference in found:
        if output == JSON:
            click.echo(json.dumps(difference.as_dict(), default=str))
        else:
            lines = difference.markdown() if output == MARKDOWN else difference.lines()
            click.echo("\n".join(lines))
    if output == TEXT:
        click.echo(_summary(found))
    return found


def _deferred(target: Mapping[str, str | None], before: Side, after: Side, state: str | None, folder: str) -> list[str]:
    """dbt's options to defer to `--state`, or to another target, whose manifest is written to `folder`."""
    if before != after and {before.kind, after.kind} <= {Kind.STATE, Kind.TARGET}:
        raise DbtRuntimeError(
            f"{before} and {after}: only one of the two can be in another manifest. Compare one of them with --to now, "
            "in the project and target of the other."
        )
    kept = ["--state", state] if state else []
    other = next((side.value for side in (before, after) if side.kind is Kind.TARGET), None)
    if other:
        _write_manifest(target, other, folder)
        return ["--defer", "--defer-state", folder, *kept]
    if Kind.STATE in (before.kind, after.kind):
        if not state:
            raise DbtRuntimeError("state: set --state to the folder of the earlier manifest.json.")
        return ["--defer", *kept]
    return kept


def _summary(found: Sequence[Difference]) -> str:
    """The last line: the number of nodes, and how many differ."""
    differ = sum(not difference.is_empty and not difference.problem for difference in found)
    parts = [counted(len(found), "node"), f"{differ} differ"]
    if failed := sum(bool(difference.problem) for difference in found):
        parts.append(f"{failed} could not be compared")
    return f"{', '.join(parts)}. Nothing was written."


def _write_manifest(target: Mapping[str, str | None], other: str, folder: str) -> None:
    """Parse the project for another target of the same warehouse, and write its manifest to `folder`."""
    here, there = load_credentials(**target), load_credentials(**{**target, "target": other})
    if _warehouse(here) != _warehouse(there):
        raise DbtRuntimeError(
            f"target:{other}: its warehouse or metastore differs from this target's. Define it as a catalog in "
            "catalogs.yml, and compare with table:catalog.schema.name."
        )
    places = options({**target, "target": other})
    commands.run(["--quiet", "parse", *places, "--target-path", folder, "--no-partial-parse"])


def _warehouse(credentials: Any) -> tuple[Any, ...]:
    return credentials.database, credentials.metastore, credentials.warehouse, credentials.uri


def _failed(result: selected_nodes.NodeResult[Difference], before: Side, after: Side) -> Difference:
    node = result.node
    name = f"{node.schema}.{node.alias}"
    return Difference(node.unique_id, name, str(before), str(after), problem=result.problem or "not compared")
