"""Which nodes a change affects: the changed ones, and those that read a changed column or rows that may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dbt_paimon.lineage import changes, macros
from dbt_paimon.lineage.changes import Change, Kind
from dbt_paimon.lineage.project import Project, Query
from dbt_paimon.lineage.queries import ANY, Field, Output, Result

# Nodes that `dbt build` builds or tests.
_BUILT = frozenset(("model", "seed", "snapshot", "test", "function"))


def affected(before: Project, after: Project, *, full_refresh: bool = False) -> dict[str, Change]:
    """The nodes to build after a change, by id.

    Args:
        before: the earlier manifest.
        after: the manifest with the change.
        full_refresh: whether the build replaces whole tables; then an incremental model may get other rows.
    """
    found = {node_id: changes.own(before, after, node_id) for node_id in after.nodes}
    if macros.changed_override(before, after):
        reason = Change(Kind.BREAKING, rows=True, builds=True, reasons=("a macro that overrides dbt's has changed",))
        found = {node_id: change.joined(reason) for node_id, change in found.items()}
    hidden = {node_id: macros.opaque(after, node_id) for node_id in after.nodes if _is_built(after, node_id)}
    waiting = True
    while waiting:
        waiting = False
        for node_id, why in hidden.items():
            change = found[node_id].joined(_from_parents(after, node_id, why, found))
            if full_refresh and change.builds and after.nodes[node_id]["config"].get("materialized") == "incremental":
                change = replace(change, rows=True)
            waiting = waiting or change != found[node_id]
            found[node_id] = change
    return {node_id: found[node_id] for node_id in hidden if found[node_id].builds and not after.is_ephemeral(node_id)}


def _is_built(project: Project, node_id: str) -> bool:
    return project.nodes[node_id]["resource_type"] in _BUILT


def _from_parents(project: Project, node_id: str, opaque: str, found: Mapping[str, Change]) -> Change:
    """How a node changes by what it reads."""
    query = project.query(node_id)
    named = {name.partition("$")[0] for name in query.relations or ()}
    parents = [name for name in dict.fromkeys([*project.parents(node_id), *sorted(named)]) if name in found]
    parents = [name for name in parents if found[name].builds or found[name].rows or found[name].columns]
    change = Change()
    for parent in parents:
        if not _reaches(found[parent], parent, query, unclear=bool(opaque) or query.result is None):
            continue
        change = change.joined(_from_parent(project, node_id, parent, opaque, found[parent], named))
    return change


def _reaches(change: Change, parent: str, query: Query, *, unclear: bool) -> bool:
    """Whether a reader may see a change: it sees another order of columns only by `*`, which its query shows."""
    return change.rows or bool(change.columns) or (change.builds and (unclear or (parent, ANY) in query.reads))


def _from_parent(project: Project, node_id: str, parent: str, opaque: str, change: Change, named: set[str]) -> Change:
    name = project.nodes[parent]["name"]
    query = project.query(node_id)
    is_function = project.nodes[parent]["resource_type"] == "function"
    if opaque and (parent != node_id or parent in named):
        return _rows(f"it reads {name}, and {opaque}")
    hidden = macros.hidden(project, node_id)
    if query.relations is not None and parent not in named and not is_function:
        return Change() if hidden is None else _rows(f"{changes.IN_SOME_RUNS} may read {name}")
    if query.result is None:
        return _rows(f"it reads {name}, and its columns cannot be resolved: {query.problem}")
    if change.rows or is_function:
        return _rows(f"{name} may have other rows")
    changed: set[Field] = {(parent, column) for column in change.columns} | {(parent, ANY)}
    if hit := sorted(query.result.rows & changed):
        return _rows(f"{_shown(name, hit)} decides which rows it has")
    if hidden is not None and (reason := _hidden_hit(hidden, query.result, change, changed)):
        return _rows(reason)
    columns = dict(_hit_columns(query.result.columns, changed))
    if query.result.star == parent:
        columns |= {column: {(parent, column)} for column in change.columns}
    reasons = [f"{column} is computed from {_shown(name, sorted(hit))}" for column, hit in sorted(columns.items())]
    own = Change(columns=frozenset(columns), builds=bool(columns), reasons=tuple(reasons))
    return changes.narrowed(project, node_id, own)


def _hidden_hit(hidden: str, result: Result, change: Change, changed: set[Field]) -> str:
    """Whether SQL that is not in the compiled query may read a changed column, under its name or another."""
    read = [name for name in changes.named_in(hidden, result.inner) if result.inner[name].reads & changed]
    read += sorted(change.columns & macros.words(hidden))
    return f"{changes.IN_SOME_RUNS} may read {read[0]}" if read else ""


def _rows(reason: str) -> Change:
    return Change(rows=True, builds=True, reasons=(reason,))


def _hit_columns(columns: Mapping[str, Output], changed: set[Field]) -> Iterator[tuple[str, set[Field]]]:
    for name, output in columns.items():
        if hit := set(output.reads & changed):
            yield name, hit


def _shown(name: str, fields: list[Field]) -> str:
    return ", ".join(f"{name}.{column}" if column != ANY else name for _, column in fields)
