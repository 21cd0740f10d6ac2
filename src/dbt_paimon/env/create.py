"""`dbt-paimon env create`: builds and tests changed nodes and their readers beside production."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted, size
from dbt.adapters.paimon.metadata import files
from dbt_paimon import commands
from dbt_paimon.env import journal, modified
from dbt_paimon.env.drop import drop_environment, refuse_foreign
from dbt_paimon.env.journal import Journal, Node, Place, State
from dbt_paimon.env.project import Project, parse, ran_all, with_adapter

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


@dataclass(frozen=True)
class _Planned:
    """What `create` will do, decided before the first statement.

    Attributes:
        views: pairs of a view and the production relation that it selects from.
        not_built: one message for each modified node that is not built.
    """

    journal: Journal
    views: Sequence[tuple[Place, Place]]
    not_built: Sequence[str]


def create(project: Project, state: str, *, full_refresh: bool) -> bool:
    """Create or replace an environment, build its nodes, run their data tests, and return whether everything passed.

    Args:
        state: the folder of production's manifest.json.
        full_refresh: build incremental models in full instead of starting from production's rows.
    """
    # dbt resolves a relative path against the project's folder, not the working directory.
    state = str(Path(state).absolute())
    with project.in_environment() as arguments:
        planned = _plan(project, arguments, state)
        for line in planned.not_built:
            click.echo(line)
        made = with_adapter(arguments, lambda adapter: _begin(adapter, planned))
        if not full_refresh:
            _start_from_production(project, arguments, made)
        views = with_adapter(arguments, lambda adapter: _create_views(adapter, planned.views))
        chosen = ["--select", *(node.selector for node in made.nodes)]
        refresh = ["--full-refresh"] if full_refresh else []
        deferred = ["--defer", "--favor-state", "--state", state]
        passed = not made.nodes or ran_all(
            commands.run(["build", *arguments, *chosen, *deferred, *refresh]), (node.unique_id for node in made.nodes)
        )
        if passed:
            with_adapter(arguments, lambda adapter: journal.write(adapter, replace(made, state=State.BUILT)))
    schemas = ", ".join(place[1] for place in made.schemas)
    click.echo(f"{schemas}: {counted(len(made.nodes), 'node')} built, {counted(views, 'view')} of production's tables.")
    if not passed:
        click.echo(
            f"A node or data test failed. Correct it, and run env create {project.name} again before env promote."
        )
    return passed


def _plan(project: Project, arguments: Sequence[str], state: str) -> _Planned:
    """Plan which nodes and views to create in which schemas. Writes nothing."""
    # Imported here, because importing sqlglot takes a second.
    from dbt_paimon.lineage import changes, macros
    from dbt_paimon.lineage import project as lineage

    known = modified.places_in_state(state)
    changed = modified.modified_nodes(project, state)
    production, here = parse(project.in_production()), parse(arguments)
    modified.refuse_other_target(known, production, changed)
    nodes: dict[str, Any] = {key: node for key, node in here.nodes.items() if modified.has_relation(node)}
    places = {key: modified.place_of(node) for key, node in nodes.items()}
    originals = {key: modified.place_of(production.nodes[key]) for key in nodes}
    code = lineage.Project(lineage.as_json(production))
    reasons = {
        key: modified.reason_not_built(nodes[key], macros.code(code, key.lower())) for key in changed if key in nodes
    }
    reasons |= with_adapter(
        project.in_production(),
        lambda adapter: {
            key: modified.hidden_rows(adapter, production.nodes[key]) for key, reason in reasons.items() if not reason
        },
    )
    built = [key for key, reason in reasons.items() if not reason]
    modified.refuse_same_relation(places, originals, built)
    made = tuple(
        Node(
            key,
            ".".join(nodes[key].fqn),
            places[key],
            originals[key],
            str(nodes[key].config.materialized),
            changes.fingerprint(code, key.lower()),
        )
        for key in built
    )
    others = [key for key in nodes if key not in built and key in known and places[key] != originals[key]]
    views = [(places[key], originals[key]) for key in others]
    schemas = {(place[0], place[1], "") for place in (*(places[key] for key in built), *(view for view, _ in views))}
    ident = uuid.uuid4().hex[:16]
    not_built = [
        f"{nodes[key].name} is not built in the environment: {reason}." for key, reason in reasons.items() if reason
    ]
    planned = Journal(project.name, ident, State.BUILDING, ("", "", ""), tuple(sorted(schemas)), made)
    return _Planned(planned, views, not_built)


def _begin(adapter: PaimonAdapter, planned: _Planned) -> Journal:
    """Drop an older environment of this name, create the schemas, and write the journal.

    The journal records the latest table snapshots of production.
    """
    old, home = journal.read(adapter), journal.home_of(adapter)
    schemas = tuple(sorted({*planned.journal.schemas, home}))
    refuse_foreign(adapter, planned.journal.name, {*schemas}.difference(old.schemas if old else ()))
    if old is not None:
        if old.state is State.PROMOTING:
            raise DbtRuntimeError(
                f"env create {old.name}: its promotion was interrupted. Finish it first: dbt-paimon env promote "
                f"{old.name}"
            )
        drop_environment(adapter, old)
    nodes = tuple(replace(node, base=journal.base_of(adapter, node.production)) for node in planned.journal.nodes)
    made = replace(planned.journal, nodes=nodes, home=home, schemas=schemas)
    for place in made.schemas:
        adapter.create_schema(journal.relation(place).without_identifier())
    journal.write(adapter, made)
    return made


def _start_from_production(project: Project, arguments: Sequence[str], made: Journal) -> None:
    """Clone production's incremental tables: as branches, or as copies if they cannot have a branch.

    They are the tables that the checkout's models have in production, which `promote` overwrites. In the manifest of
    --state, a model that was renamed has no table, or another one.
    """
    clones = [node for node in made.nodes if node.materialized == "incremental" and node.base.kind == "table"]
    if not clones:
        return
    chosen = ["--select", *(node.selector for node in clones)]
    with TemporaryDirectory() as folder:
        parse(project.in_production()).writable_manifest().write(str(Path(folder, "manifest.json")))
        cloned = commands.run(["clone", *arguments, *chosen, "--state", folder, "--full-refresh"])
    if not cloned.success:
        raise DbtRuntimeError("env create: production's rows could not be cloned. dbt's messages above say why.")
    for line in with_adapter(arguments, lambda adapter: _copies(adapter, clones)):
        click.echo(line)


def _copies(adapter: PaimonAdapter, clones: Sequence[Node]) -> list[str]:
    """One message for each clone that is a copy, with its rows and bytes."""
    found = ((node, adapter.get_relation(*node.here)) for node in clones)
    copies = [(node, relation) for node, relation in found if relation is not None and relation.is_table]
    totals = ((node, files.totals(adapter.query, relation)) for node, relation in copies)
    return [f"Copied {node.shown}: {counted(total.rows, 'row')}, {size(total.bytes)}." for node, total in totals]


def _create_views(adapter: PaimonAdapter, views: Sequence[tuple[Place, Place]]) -> int:
    """Create the views of production's relations, and return how many were created.

    Creates views only in the target's own catalog: other catalogs (catalogs.yml) may not support views.
    """
    made = 0
    for place, original in views:
        found = adapter.get_relation(*original) if place[0] == adapter.credentials.database else None
        if found is not None:
            view = journal.relation(place).incorporate(type="view")
            arguments = {"view": view, "original": found}
            adapter.views.ensure_schema(view)
            resolver = adapter.get_macro_resolver()
            adapter.execute_macro("paimon__environment_view", kwargs=arguments, macro_resolver=resolver)
            made += 1
    return made
