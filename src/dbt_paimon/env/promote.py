"""`dbt-paimon env promote`: publishes the tables of an environment, one after another, each by one commit.

The environment keeps all new rows until it is dropped. So a promotion that was killed is finished: each of production's
tables that has no commit of this promotion yet is written. The commit user of the promotion's commits says which these
are, in the same commit as the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.spark.formatting import counted
from dbt_paimon.env import affected, journal
from dbt_paimon.env.journal import Journal, Node, State
from dbt_paimon.env.project import Project, call, dbt, parse

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation

# These are published by their own code, from the same checkout: a view has no rows, and a seed's rows are in its file.
_BY_OWN_CODE: Final = ("view", "seed")


def promote(project: Project) -> None:
    """Publish all tables of an environment, or finish a promotion that was interrupted.

    Raises:
        DbtRuntimeError: the environment is not complete and tested, its code has changed, or production has changed in
            a table that would be overwritten. Nothing is written then.
    """
    with project.in_environment() as arguments:
        found = read(project, arguments)
        if found.state is State.PROMOTED:
            click.echo(f"{project.name} is promoted already.")
            return
        finish(project, arguments, found)


def read(project: Project, arguments: Sequence[str]) -> Journal:
    """The journal of an environment; raises DbtRuntimeError if there is no such environment."""
    found = call(arguments, journal.read)
    if found is None:
        raise DbtRuntimeError(
            f"There is no environment {project.name}. Create it: dbt-paimon env create {project.name} --state PATH"
        )
    return found


def finish(project: Project, arguments: Sequence[str], found: Journal) -> None:
    """Publish the tables of an environment that are not published yet.

    Args:
        arguments: dbt's options for the environment's target.
    """
    if found.state is State.BUILDING:
        raise DbtRuntimeError(
            f"env promote {found.name}: it is not complete, or a data test failed in it. Nothing was written. Correct "
            f"the code, and create it again: dbt-paimon env create {found.name} --state PATH"
        )
    _refuse_other_code(project, found)
    missing = call(project.in_production(), lambda adapter: _unpublished(adapter, found))
    call(arguments, lambda adapter: journal.write(adapter, replace(found, state=State.PROMOTING)))
    if missing:
        chosen = ["--select", *(node.selector for node in missing)]
        only = ["--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
        with _publishing(found, {node.unique_id: node for node in missing}):
            ran = dbt(["build", *project.in_production(), *chosen, *only, "--full-refresh", "--threads", "1"])
        if not ran.success:
            raise DbtRuntimeError(
                f"env promote {found.name}: some tables are published, and some are not. dbt's messages above say why. "
                f"Correct the cause, and finish it: dbt-paimon env promote {found.name}"
            )
    call(arguments, lambda adapter: journal.write(adapter, replace(found, state=State.PROMOTED)))
    click.echo(f"{found.name} is promoted: {counted(len(found.nodes), 'node')}.")


def _refuse_other_code(project: Project, found: Journal) -> None:
    """Refuse if the checkout is not the code that the environment was built and tested with."""
    nodes: Mapping[str, Any] = parse(project.in_production()).nodes
    changed = [
        node.unique_id
        for node in found.nodes
        if node.unique_id not in nodes
        or str(nodes[node.unique_id].checksum.checksum) != node.checksum
        or affected.place_of(nodes[node.unique_id]) != node.production
    ]
    if changed:
        raise DbtRuntimeError(
            f"env promote {found.name}: this checkout has other code or names than the environment was built with: "
            f"{', '.join(changed)}. Nothing was written. Check out that code, or create the environment again: "
            f"dbt-paimon env create {found.name} --state PATH"
        )


def _unpublished(adapter: PaimonAdapter, found: Journal) -> list[Node]:
    """The nodes that are not published yet; refuses if production has changed in one of them."""
    changes = ((node, journal.change_of(adapter, found, node)) for node in found.nodes)
    if changed := [f"{node.shown}: {change}" for node, change in changes if change]:
        raise DbtRuntimeError(_changed(found, changed))
    return [node for node in found.nodes if not journal.is_published(found, journal.commits_of(adapter, node))]


def _changed(found: Journal, changed: Sequence[str]) -> str:
    listed = "".join(f"\n  {line}" for line in changed)
    if found.state is State.PROMOTING:
        remedy = (
            "The other tables of this promotion are published already. Run `dbt build` in production, which builds these "
            f"with the new code, and drop the environment: dbt-paimon env drop {found.name} --force"
        )
    else:
        remedy = f"Create the environment again from production as it is: dbt-paimon env create {found.name} --state PATH"
    return (
        f"env promote {found.name}: production has changed since the environment was created, and these changes would be "
        f"lost:{listed}\nNothing was written. {remedy}"
    )


@contextmanager
def _publishing(found: Journal, missing: Mapping[str, Node]) -> Iterator[None]:
    """Inside the block, `dbt build` writes the environment's rows instead of running the models' queries.

    So a promotion does what a run with --full-refresh does, by the adapter's own code: hooks, locks, altered columns and
    options, one commit, a swap if the primary key changed.
    """
    from dbt.task import build as task
    from dbt.task.run import ModelRunner
    from dbt.task.seed import SeedRunner

    class Guarded(SeedRunner):
        def execute(self, model: Any, manifest: Any) -> Any:
            _hold_unchanged(self.adapter, found, missing[model.unique_id])
            return super().execute(model, manifest)

    class Publisher(ModelRunner):
        def compile(self, manifest: Any) -> Any:
            node = self.node
            node.compiled, node.extra_ctes_injected, node.language = True, True, "sql"
            node.compiled_code = _rows(self.adapter, manifest, missing[node.unique_id])
            # The rows have passed their tests. A model with `full_refresh: false` would add them to its old rows.
            node.config["full_refresh"], node.config["wap"] = True, False
            return node

        def execute(self, model: Any, manifest: Any) -> Any:
            _hold_unchanged(self.adapter, found, missing[model.unique_id])
            return super().execute(model, manifest)

    class Task(task.BuildTask):
        def get_runner_type(self, node: Any) -> Any:
            if node.unique_id not in missing or node.config.materialized == "view":
                return super().get_runner_type(node)
            return Guarded if node.resource_type == "seed" else Publisher

    before = task.BuildTask
    task.BuildTask = Task  # type: ignore[misc]
    try:
        yield
    finally:
        task.BuildTask = before  # type: ignore[misc]


def _rows(adapter: Any, manifest: Any, node: Node) -> str:
    """The query of a node's rows in the environment."""
    original: PaimonRelation | None = adapter.get_relation(*node.here)
    if original is None:
        raise DbtRuntimeError(f"env promote: {'.'.join(node.here)} does not exist. Create the environment again.")
    branch = adapter.clones.behind(original)
    arguments = {"original": branch or original}
    return str(adapter.execute_macro("paimon__promoted_rows", kwargs=arguments, macro_resolver=manifest))


def _hold_unchanged(adapter: Any, found: Journal, node: Node) -> None:
    """Lock production's table until its node ends, refuse if it has changed, and mark the commits that follow."""
    builds = adapter.plans.builds
    builds.hold(journal.relation(node.production).incorporate(type="table"))
    if change := journal.change_of(adapter, found, node):
        builds.release()
        raise DbtRuntimeError(_changed(replace(found, state=State.PROMOTING), [f"{node.shown}: {change}"]))
    adapter.changes.mark_promotion(node.unique_id, found.mark)
