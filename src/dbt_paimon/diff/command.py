"""`dbt-paimon diff`: compares the tables of the selected nodes, and prints how they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtBaseException, DbtRuntimeError

from dbt.adapters.paimon.profile import load_credentials
from dbt_paimon import selected_nodes
from dbt_paimon.diff.comparison import Comparison
from dbt_paimon.diff.findings import Difference
from dbt_paimon.diff.sides import Kind, Side

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
    """Compare the selected models, seeds and snapshots, and print what differs; nothing is written.

    Args:
        arguments: dbt's options of selection.
        target: dbt's options of project and target.
        before, after: the two sides.
        state: folder of an earlier manifest.
        key: columns by which rows are matched.
        samples: rows of each kind that are shown.
        output: text, json (a line a node) or markdown.

    Raises:
        DbtBaseException: the project or the profile cannot be read, the selection is wrong, or two sides cannot be
            compared at all.
    """

    def question(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Difference:
        return Comparison(adapter).of(node, before, after, key=key, samples=samples)

    places = [
        part for name, value in target.items() if value for part in (f"--{name.replace('_', '-')}", value)
    ]
    with TemporaryDirectory() as folder:
        other = next((side.value for side in (before, after) if side.kind is Kind.TARGET), None)
        deferred: list[str] = []
        if other:
            _write_manifest(target, other, folder)
            deferred = ["--defer", "--defer-state", folder]
        elif Kind.STATE in (before.kind, after.kind):
            if not state:
                raise DbtRuntimeError("state: --state is needed, the folder of the earlier manifest.json.")
            deferred = ["--defer"]
        if state:
            deferred += ["--state", state]
        answers = selected_nodes.ask(question, [*places, *arguments, *deferred], compiled=False)
    found = [answer.value or _failed(answer, before, after) for answer in answers if _has_table(answer.node)]
    for difference in found:
        if output == JSON:
            click.echo(json.dumps(difference.as_dict(), default=str))
        else:
            lines = difference.markdown() if output == MARKDOWN else difference.lines()
            click.echo("\n".join(lines))
    return found


def summary(found: Sequence[Difference]) -> str:
    """The last line: how many nodes differ."""
    differ = sum(not difference.is_none and not difference.problem for difference in found)
    parts = [f"{len(found)} node{'s' if len(found) != 1 else ''}", f"{differ} differ"]
    if failed := sum(bool(difference.problem) for difference in found):
        parts.append(f"{failed} could not be compared")
    return f"{', '.join(parts)}. Nothing was written."


def _write_manifest(target: Mapping[str, str | None], other: str, folder: str) -> None:
    """The manifest of the project in another target, into a folder.

    Raises:
        DbtRuntimeError: that target has another warehouse, whose tables this one does not see.
    """
    from dbt.cli.main import dbtRunner

    here, there = load_credentials(**target), load_credentials(**{**target, "target": other})
    if _warehouse(here) != _warehouse(there):
        raise DbtRuntimeError(
            f"target:{other}: it has another warehouse or metastore than this target. Give it as a catalog in "
            "catalogs.yml, and compare with table:catalog.schema.name."
        )
    places = [
        part
        for name, value in {**target, "target": other}.items()
        if value
        for part in (f"--{name.replace('_', '-')}", value)
    ]
    ran = dbtRunner().invoke(["--quiet", "parse", *places, "--target-path", folder, "--no-partial-parse"])
    if isinstance(ran.exception, DbtBaseException):
        raise ran.exception
    if ran.exception is not None or not (Path(folder) / "manifest.json").exists():
        raise click.ClickException(f"target:{other}: the project cannot be read: {ran.exception}")


def _warehouse(credentials: Any) -> tuple[Any, ...]:
    return credentials.database, credentials.metastore, credentials.warehouse, credentials.uri


def _has_table(node: Any) -> bool:
    return str(node.config.materialized) != "ephemeral"


def _failed(answer: selected_nodes.Answer[Difference], before: Side, after: Side) -> Difference:
    node = answer.node
    name = f"{node.schema}.{node.alias}"
    return Difference(node.unique_id, name, str(before), str(after), problem=answer.problem or "not compared")
