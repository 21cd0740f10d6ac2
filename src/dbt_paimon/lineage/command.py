"""Reads the manifests of a project and of an earlier state, and prints column lineage and affected nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.overrides import OURS
from dbt_paimon import selected_nodes
from dbt_paimon.lineage import changes, edges, macros, mermaid
from dbt_paimon.lineage.affected import affected
from dbt_paimon.lineage.changes import Change, Kind
from dbt_paimon.lineage.project import Project, as_json, documented_columns

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter

_COMPILED: Final = ("model", "seed", "snapshot", "test")


def lineage(arguments: Sequence[str], column: str, *, up: bool, down: bool, output: str) -> None:
    """Print the lineage of `model.column`, or of all columns of `model`. `output`: text, json or mermaid.

    Raises ClickException if there is no such model or column.
    """
    project, _ = _project(arguments)
    node_id, columns = edges.find(project, column)
    found = [edges.of(project, node_id, name, up=up, down=down) for name in columns]
    if output == "json":
        click.echo(json.dumps([each.as_dict() for each in found], indent=2))
    else:
        lines = mermaid.flowchart(found) if output == "mermaid" else (line for each in found for line in each.lines())
        click.echo("\n".join(lines))


def changed(arguments: Sequence[str], state: str, *, full_refresh: bool, as_json: bool) -> list[str]:
    """Print the nodes that the changes since a state affect, in run order; returns dbt's selectors for them."""
    refresh = ["--full-refresh"] if full_refresh else []
    project, found = _changes([*refresh, *arguments], state, full_refresh=full_refresh)
    for node_id, change in found.items():
        click.echo(_json(project, node_id, change) if as_json else "\n".join(_lines(project, node_id, change)))
    if not as_json:
        click.echo(_summary(project, found))
    return [_selector(project.nodes[node_id]) for node_id in found]


def changed_tables(arguments: Sequence[str], state: str) -> list[str]:
    """dbt's selectors for the models, seeds and snapshots that the changes since a state affect."""
    project, found = _changes(arguments, state, full_refresh=False)
    nodes = [project.nodes[node_id] for node_id in found]
    return [_selector(node) for node in nodes if node["resource_type"] in selected_nodes.BUILT]


def _changes(arguments: Sequence[str], state: str, *, full_refresh: bool) -> tuple[Project, dict[str, Change]]:
    """The project, and the nodes that the changes since a state affect, in run order."""
    before = _state(state)
    project, order = _project(arguments, before)
    earlier = Project(_with_files_of(project, before), project.given)
    project = _in_the_mode_of(earlier, project, arguments)
    found = affected(earlier, project, full_refresh=full_refresh)
    return project, {node_id: found[node_id] for node_id in sorted(found, key=lambda each: order.get(each, len(order)))}


def _with_files_of(project: Project, before: Mapping[str, Any]) -> dict[str, Any]:
    """An earlier manifest whose seeds are read from this checkout: the earlier run may have been on another machine."""
    seeds = {key: node for key, node in before["nodes"].items() if node["resource_type"] == "seed"}
    here = {
        key: node | {"root_path": project.nodes.get(key.lower(), node).get("root_path")} for key, node in seeds.items()
    }
    return {**before, "nodes": {**before["nodes"], **here}}


def _selector(node: Mapping[str, Any]) -> str:
    """dbt's selector for exactly this node."""
    return selected_nodes.selector(".".join(node["fqn"]), node["resource_type"])


# -- text ------------------------------------------------------------------------------------------------------------


def _lines(project: Project, node_id: str, change: Change) -> list[str]:
    node = project.nodes[node_id]
    what = "affected" if change.kind is Kind.NOTHING else change.kind.value
    where = "all rows" if change.rows else ", ".join(sorted(change.columns)) or "no rows"
    return [f"{node['resource_type']} {node['name']}: {what} ({where})", *(f"  {each}" for each in change.reasons)]


def _json(project: Project, node_id: str, change: Change) -> str:
    node = project.nodes[node_id]
    return json.dumps(
        {
            **{key: node[key] for key in ("unique_id", "name", "resource_type")},
            "change": change.kind.value,
            "rows": change.rows,
            "columns": sorted(change.columns),
            "reasons": list(change.reasons),
        }
    )


def _summary(project: Project, found: Mapping[str, Change]) -> str:
    def kinds(ids: Sequence[str]) -> int:
        return sum(project.nodes[each]["resource_type"] != "test" for each in ids)

    every = [each for each, node in project.nodes.items() if node["resource_type"] in _COMPILED]
    every = [each for each in every if not project.is_ephemeral(each)]
    tests = len(found) - kinds(list(found))
    return f"{kinds(list(found))} of {counted(kinds(every), 'node')} and {counted(tests, 'test')} affected."


# -- manifests -------------------------------------------------------------------------------------------------------


def _state(folder: str) -> dict[str, Any]:
    path = Path(folder, "manifest.json")
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise click.ClickException(
            f"--state {folder}: {path} cannot be read ({exc}). Give the folder of a manifest.json that `dbt compile` "
            "or `dbt build` has written."
        ) from None
    if not any(node.get("compiled_code") for node in found.get("nodes", {}).values()):
        raise click.ClickException(
            f"--state {folder}: {path} has no compiled code, so no query can be compared. `dbt parse` and `dbt ls` "
            "leave it out. Run `dbt compile` or `dbt build` on that version of the project, and keep its manifest.json."
        )
    return found


def _project(arguments: Sequence[str], before: Mapping[str, Any] | None = None) -> tuple[Project, dict[str, int]]:
    """Compile the project; returns it with the columns that Spark knows, and the position of each node in a run."""
    tasks: list[Any] = []
    adapters: list[PaimonAdapter] = []

    def of_node(adapter: PaimonAdapter, node: Mapping[str, Any]) -> str:
        adapters.append(adapter)
        return str(node.get("compiled_code") or "")

    found = selected_nodes.for_each(of_node, arguments, compiled=True, resources=_COMPILED, on_begin=tasks.append)
    if not tasks:
        raise click.ClickException("The project has no models, seeds, snapshots or tests.")
    manifest = as_json(tasks[0].manifest)
    for result in found:
        manifest["nodes"][result.node.unique_id]["compiled_code"] = result.value
    documented = documented_columns([*manifest["sources"].values(), *manifest["nodes"].values()])
    unknown = _unknown([Project(each) for each in (manifest, before) if each])
    given = _columns(adapters[0], Project(manifest), unknown) if adapters and unknown else {}
    order = {result.node.unique_id.lower(): at for at, result in enumerate(found)}
    return Project(manifest, {**({} if before else documented), **given}), order


def _in_the_mode_of(before: Project, project: Project, arguments: Sequence[str]) -> Project:
    """The project with each incremental model compiled for a first or a later run, whichever the earlier manifest has.

    In the schema of a pull request an incremental model has no table yet, so its query is that of a first run.
    """
    for is_later in (True, False):
        differing = [node_id for node_id in before.nodes if _depends_on_mode(before, project, node_id)]
        for name, sql in _compiled(project, differing, arguments, is_later).items():
            nodes = project.manifest["nodes"]
            other = {**project.manifest, "nodes": {**nodes, name: {**nodes[name], "compiled_code": sql}}}
            tried = Project(other, project.given)
            project = project if changes.own(before, tried, name.lower()).rows else tried
    return project


def _depends_on_mode(before: Project, project: Project, node_id: str) -> bool:
    """Whether a node has changed, and has different queries for a first run and a later run."""
    node = project.nodes.get(node_id, {"config": {}})
    if node["config"].get("materialized") != "incremental" or macros.hidden(project, node_id) is None:
        return False
    return changes.own(before, project, node_id).rows


def _compiled(project: Project, ids: Sequence[str], arguments: Sequence[str], is_later: bool) -> dict[str, str]:
    """The queries of these models for a first or a later run: `is_incremental()` returns a constant meanwhile."""
    replaced: list[tuple[Any, str]] = []

    def force(task: Any) -> None:
        for macro in task.manifest.macros.values():
            if macro.name == "is_incremental" and macro.package_name in OURS:
                replaced.append((macro, macro.macro_sql))
                macro.macro_sql = f"{{% macro is_incremental() %}}{{% do return({is_later}) %}}{{% endmacro %}}"

    if not ids:
        return {}
    selected = ["--select", *(_selector(project.nodes[node_id]) for node_id in ids)]
    try:
        results = selected_nodes.for_each(
            lambda _, node: str(node.get("compiled_code") or ""),
            [*arguments, *selected],
            compiled=True,
            resources=("model",),
            on_begin=force,
        )
    finally:
        for macro, text in replaced:
            macro.macro_sql = text
    return {result.node.unique_id: result.value or "" for result in results}


def _unknown(projects: Sequence[Project]) -> set[str]:
    """The relations whose columns a query needs, but no manifest has."""
    queries = [project.query(node_id) for project in projects for node_id in project.nodes]
    needed = {name.partition("$")[0] for query in queries for name in query.relations or ()}
    return {name for name in needed if not any(project.columns(name) for project in projects)}


def _columns(adapter: PaimonAdapter, project: Project, names: set[str]) -> dict[str, tuple[str, ...]]:
    """The columns of relations in Spark, by id; relations that do not exist, and files, are left out."""
    found: dict[str, tuple[str, ...]] = {}
    with adapter.connection_named("lineage"):
        for name in sorted(names & project.nodes.keys()):
            node = project.nodes[name]
            try:
                relation = adapter.get_relation(
                    node["database"], node["schema"], node.get("identifier") or node["alias"]
                )
                columns = adapter.get_columns_in_relation(relation) if relation is not None else []
            except DbtRuntimeError:
                continue
            found[name] = tuple(column.name.lower() for column in columns)
    return found
