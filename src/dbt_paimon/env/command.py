"""The functions behind `dbt-paimon env`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt_paimon import selected_nodes
from dbt_paimon.diff import command as diffs
from dbt_paimon.diff.comparison import Comparison
from dbt_paimon.diff.sides import Kind, Side
from dbt_paimon.env import journal
from dbt_paimon.env.drop import drop_environment, drop_schemas, refuse_foreign
from dbt_paimon.env.journal import State
from dbt_paimon.env.project import Project, with_adapter
from dbt_paimon.env.promote import publish_remaining, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt_paimon.diff.findings import Difference

_NOW = Side(Kind.NOW)


def diff(project: Project, *, samples: int, output: str) -> list[Difference]:
    """Compare each node that was built in the environment with production's table, and print the differences."""
    with project.in_environment() as arguments:
        found = read(project, arguments)
        nodes = {node.unique_id: node for node in found.nodes}

        def of_node(adapter: PaimonAdapter, node: Mapping[str, Any]) -> Difference:
            before = Side(Kind.TABLE, ".".join(nodes[node["unique_id"]].production))
            return Comparison(adapter).of(node, before, _NOW, key=(), samples=samples)

        chosen = ["--select", *(node.selector for node in found.nodes)]
        results = selected_nodes.for_each(of_node, [*arguments, *chosen], compiled=False) if nodes else []
    return diffs.show(results, Side(Kind.TABLE, "production"), _NOW, output)


def drop(project: Project, *, force: bool) -> None:
    """Drop an environment. Finishes an interrupted promotion first, unless `force` is set."""
    with project.in_environment() as arguments:
        found = with_adapter(arguments, journal.read)
        if found is not None and found.state is State.PROMOTING:
            if force:
                click.echo(f"The promotion of {found.name} is left incomplete:")
                for line in with_adapter(project.in_production(), lambda adapter: _published(adapter, found)):
                    click.echo(f"  {line}")
            else:
                click.echo(f"The promotion of {found.name} was interrupted. Finishing it before the drop.")
                publish_remaining(project, arguments, found)

        def drop_all(adapter: PaimonAdapter) -> bool:
            own = journal.home_of(adapter)
            if found is None and own[1] not in adapter.list_schemas(own[0]):
                return False
            if found is None:
                refuse_foreign(adapter, project.name, [own])
                drop_schemas(adapter, [own])
            else:
                drop_environment(adapter, found)
            return True

        if not with_adapter(arguments, drop_all):
            raise DbtRuntimeError(f"There is no environment {project.name}. Nothing was done.")
    click.echo(f"{project.name} is dropped.")


def _published(adapter: PaimonAdapter, found: journal.Journal) -> list[str]:
    """One line for each node, which says whether production has the new or the old rows."""
    published = ((node, journal.is_published(found, journal.commits_of(adapter, node))) for node in found.nodes)
    return [f"{node.shown}: {'new' if is_new else 'old'}" for node, is_new in published]
