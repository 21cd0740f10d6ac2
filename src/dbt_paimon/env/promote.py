"""`dbt-paimon env promote`: publishes the tables of an environment, one after another, each by one commit.

The environment keeps all new rows until it is dropped, so a promotion that was killed can be finished: the journal
lists the published nodes, and `env promote` publishes the others. A commit user of its own, which Paimon stores in
each commit, distinguishes the promotion's commits from other writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted
from dbt_paimon import commands
from dbt_paimon.env import journal, modified
from dbt_paimon.env.journal import Journal, Node, State
from dbt_paimon.env.project import Project, parse, ran_all, with_adapter

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation


def promote(project: Project) -> None:
    """Publish all tables of an environment, or finish a promotion that was interrupted.

    Raises:
        DbtRuntimeError: the environment is incomplete or failed a test, its code has changed, or production has
            changed a table that would be overwritten. In these cases nothing is written.
    """
    with project.in_environment() as arguments:
        found = read(project, arguments)
        if found.state is State.PROMOTED:
            click.echo(f"{project.name} is already promoted.")
            return
        publish_remaining(project, arguments, found)


def read(project: Project, arguments: Sequence[str]) -> Journal:
    """Read an environment's journal. Raises DbtRuntimeError if there is no such environment."""
    found = with_adapter(arguments, journal.read)
    if found is None:
        raise DbtRuntimeError(
            f"There is no environment {project.name}. Create it: dbt-paimon env create {project.name} --state PATH"
        )
    return found


def publish_remaining(project: Project, arguments: Sequence[str], found: Journal) -> None:
    """Publish the tables of an environment that are not published yet.

    Args:
        arguments: dbt's options for the environment's target.
    """
    if found.state is State.BUILDING:
        raise DbtRuntimeError(
            f"env promote {found.name}: a node or data test of the environment failed, or its creation was "
            "interrupted. Nothing was written. Correct the code, and create the environment again: "
            f"dbt-paimon env create {found.name} --state PATH"
        )
    _refuse_other_code(project, found)
    missing = with_adapter(project.in_production(), lambda adapter: _unpublished(adapter, found))
    if found.state is State.BUILT:
        with_adapter(arguments, lambda adapter: _refuse_missing_tables(adapter, found))
    found = replace(found, state=State.PROMOTING)
    with_adapter(arguments, lambda adapter: journal.write(adapter, found))
    if missing:
        chosen = ["--select", *(node.selector for node in missing)]
        with _publishing(found, {node.unique_id: node for node in missing}):
            ran = commands.run(["build", *project.in_production(), *chosen, "--full-refresh", "--threads", "1"])
        if not ran_all(ran, (node.unique_id for node in missing)):
            raise DbtRuntimeError(
                f"env promote {found.name}: not all tables are published. dbt's messages above say why. Correct the "
                f"cause, and finish the promotion: dbt-paimon env promote {found.name}"
            )
    found = replace(found, state=State.PROMOTED, done=tuple(node.unique_id for node in found.nodes))
    with_adapter(arguments, lambda adapter: journal.write(adapter, found))
    click.echo(f"{found.name} is promoted: {counted(len(found.nodes), 'node')}.")


def _refuse_other_code(project: Project, found: Journal) -> None:
    """Refuse a checkout whose code differs from the code that the environment was built and tested with."""
    # Imported here, because importing sqlglot takes a second.
    from dbt_paimon.lineage import changes
    from dbt_paimon.lineage import project as lineage

    manifest = parse(project.in_production())
    nodes: Mapping[str, Any] = manifest.nodes
    code = lineage.Project(lineage.as_json(manifest))
    changed = [
        node.unique_id
        for node in found.nodes
        if node.unique_id not in nodes
        or changes.fingerprint(code, node.unique_id.lower()) != node.checksum
        or modified.place_of(nodes[node.unique_id]) != node.production
    ]
    if changed:
        remedy = f"create the environment again: dbt-paimon env create {found.name} --state PATH"
        # `env create` does not replace an environment whose promotion has begun.
        if found.state is State.PROMOTING:
            remedy = _abandoning(found)
        raise DbtRuntimeError(
            f"env promote {found.name}: in this checkout, these nodes differ from the code that the environment was "
            f"built with: {', '.join(changed)}. They were not written. Check out that code, or "
            f"{remedy}"
        )


def _refuse_missing_tables(adapter: PaimonAdapter, found: Journal) -> None:
    """Refuse an environment whose tables somebody has dropped, before production has any of the others."""
    stored = [node for node in found.nodes if node.materialized not in ("view", "seed")]
    if gone := [".".join(node.here[1:]) for node in stored if adapter.get_relation(*node.here) is None]:
        raise DbtRuntimeError(
            f"env promote {found.name}: these tables of the environment do not exist any more: {', '.join(gone)}. "
            f"Nothing was written. Create the environment again: dbt-paimon env create {found.name} --state PATH"
        )


def _unpublished(adapter: PaimonAdapter, found: Journal) -> list[Node]:
    """The nodes that are still to be published. Refuses if production has changed one of their tables."""
    left = [node for node in found.nodes if node.unique_id not in found.done]
    changes = ((node, journal.change_of(adapter, found, node)) for node in left)
    if changed := [f"{node.shown}: {change}" for node, change in changes if change]:
        raise DbtRuntimeError(_changed_message(found, changed))
    return [node for node in left if not journal.is_superseded(found, journal.commits_of(adapter, node))]


def _abandoning(found: Journal) -> str:
    """How to end a promotion that cannot be finished."""
    return (
        "run `dbt build` in production, which builds all tables with the new code, and drop the environment: "
        f"dbt-paimon env drop {found.name} --force"
    )


def _changed_message(found: Journal, changed: Sequence[str]) -> str:
    listed = "".join(f"\n  {line}" for line in changed)
    if found.state is State.PROMOTING:
        remedy = f"Other tables of this promotion may be published already. To end it, {_abandoning(found)}"
    else:
        remedy = (
            f"Create the environment again from the current production: dbt-paimon env create {found.name} --state PATH"
        )
    return (
        f"env promote {found.name}: production has changed since the environment was created, and these changes would "
        f"be lost:{listed}\nThe listed tables were not written. {remedy}"
    )


@contextmanager
def _publishing(found: Journal, missing: Mapping[str, Node]) -> Iterator[None]:
    """Inside the block, `dbt build` writes the environment's rows instead of running the models' queries.

    A promotion therefore runs the same adapter code as `--full-refresh`: hooks, locks, changed columns and options, one
    commit per table, and a swap if the primary key changed.
    """
    from dbt.task import build as task
    from dbt.task.run import ModelRunner
    from dbt.task.seed import SeedRunner

    promotion = _Promotion(found, missing)

    class Seed(SeedRunner):
        """Loads the seed's file: the checkout contains the file that was tested."""

        def execute(self, model: Any, manifest: Any) -> Any:
            promotion.begin(self.adapter, model)
            return promotion.end(self.adapter, super().execute(model, manifest))

    class Model(ModelRunner):
        def compile(self, manifest: Any) -> Any:
            # A view stores no rows, so the promotion publishes its query.
            return super().compile(manifest) if _is_view(self.node) else promotion.compiled(self.adapter, self.node)

        def execute(self, model: Any, manifest: Any) -> Any:
            promotion.begin(self.adapter, model)
            return promotion.end(self.adapter, super().execute(model, manifest))

    class Task(task.BuildTask):
        def get_node_selector(self, no_unit_tests: bool = False) -> Any:
            selector: Any = super().get_node_selector(no_unit_tests)
            # dbt's selection also matches data tests, and folders named like a node: run only the nodes themselves.
            selector.node_is_match = lambda node: node.unique_id in missing
            return selector

        def get_runner_type(self, node: Any) -> Any:
            return Seed if node.resource_type == "seed" else Model

    with commands.replaced(task, BuildTask=Task):
        yield


class _Promotion:
    """Publishes the nodes of one promotion, one at a time."""

    def __init__(self, found: Journal, missing: Mapping[str, Node]) -> None:
        self._journal = found
        self._missing = missing

    def compiled(self, adapter: Any, model: Any) -> Any:
        """Replace the node's query by one that reads the node's rows from the environment, and return the node."""
        node = self._missing[model.unique_id]
        original: PaimonRelation | None = adapter.get_relation(*node.here)
        if original is None:
            raise DbtRuntimeError(f"env promote: {'.'.join(node.here)} does not exist. Create the environment again.")
        branch = adapter.clones.behind(original)
        # A swap drops the branch that had the rows. If it was killed before its hooks, the new table has the rows.
        if branch is not None and journal.is_published(self._journal, journal.commits_of(adapter, node)):
            branch = journal.relation(node.production)
        arguments = {"original": branch or original}
        resolver = adapter.get_macro_resolver()
        sql = str(adapter.execute_macro("paimon__promoted_rows", kwargs=arguments, macro_resolver=resolver))
        model.compiled, model.extra_ctes_injected, model.language, model.compiled_code = True, True, "sql", sql
        # The rows have passed their tests, so they need no audit. `full_refresh: false` would add them to the old rows.
        model.config["full_refresh"], model.config["wap"] = True, False
        return model

    def begin(self, adapter: Any, model: Any) -> None:
        """Lock the node's production table until the node ends, refuse a changed table, and mark the next commits."""
        node, builds = self._missing[model.unique_id], adapter.plans.builds
        if _is_view(model):
            return
        builds.hold(journal.relation(node.production).incorporate(type="table"))
        if change := journal.change_of(adapter, self._journal, node):
            builds.release()
            raise DbtRuntimeError(_changed_message(self._journal, [f"{node.shown}: {change}"]))
        adapter.plans.promotions[node.unique_id] = self._journal.mark

    def end(self, adapter: Any, result: Any) -> Any:
        """Record in the journal that a node is published, and return the node's result."""
        self._journal = replace(self._journal, done=(*self._journal.done, result.node.unique_id))
        journal.write(adapter, self._journal)
        return result


def _is_view(model: Any) -> bool:
    return bool(model.config.materialized == "view")
