"""Which nodes a change affects: the changed ones, and those that read a changed column or rows that may change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbt_paimon.lineage import changes, macros
from dbt_paimon.lineage.changes import Change
from dbt_paimon.lineage.project import Project
from dbt_paimon.lineage.queries import ANY, Field, Result

# Nodes that `dbt build` builds or tests.
_BUILT = frozenset(("model", "seed", "snapshot", "test", "function"))


def affected(before: Project, after: Project, *, full_refresh: bool = False) -> dict[str, Change]:
    """The nodes to build after a change, by id.

    Args:
        before: the earlier manifest.
        after: the manifest with the change.
        full_refresh: whether the build replaces whole tables, which may change any row of an incremental model.
    """
    found = {node_id: changes.own(before, after, node_id) for node_id in after.nodes}
    readers = [_Reader(after, node_id) for node_id, node in after.nodes.items() if node["resource_type"] in _BUILT]
    earlier: dict[str, Change] = {}
    while found != earlier:
        earlier = dict(found)
        for reader in readers:
            found[reader.node_id] = reader.change(found, full_refresh=full_refresh)
    built = [reader.node_id for reader in readers if found[reader.node_id].builds]
    return {node_id: found[node_id] for node_id in built if not after.is_ephemeral(node_id)}


class _Reader:
    """A node that `dbt build` builds or tests, and what it reads."""

    def __init__(self, project: Project, node_id: str) -> None:
        self.node_id = node_id
        self._is_incremental = project.nodes[node_id]["config"].get("materialized") == "incremental"
        self._project = project
        self._query = project.query(node_id)
        self._named = {name.partition("$")[0] for name in self._query.relations or ()}
        self._parents = dict.fromkeys([*project.parents(node_id), *sorted(self._named)])
        self._opaque = macros.opaque(project, node_id)
        self._hidden = macros.hidden(project, node_id)

    def change(self, found: Mapping[str, Change], *, full_refresh: bool) -> Change:
        """The node's own change, joined with the changes that its parents cause in it."""
        change = found[self.node_id]
        for parent in self._parents:
            if parent in found and self._may_see(parent, found[parent]):
                change = change.joined(self._from_parent(parent, found[parent]))
        other_rows = full_refresh and self._is_incremental and change.builds
        return replace(change, rows=change.rows or other_rows)

    def _may_see(self, parent: str, change: Change) -> bool:
        """Whether a change can affect the node. Reordered columns affect it only if it may read them by `*`."""
        if change.rows or change.columns:
            return True
        result = self._query.result
        return change.builds and (bool(self._opaque) or result is None or (parent, ANY) in result.reads)

    def _from_parent(self, parent: str, change: Change) -> Change:
        node = self._project.nodes[parent]
        name, is_function = node["name"], node["resource_type"] == "function"
        result = self._query.result
        if self._opaque:
            return Change.of_rows(f"it reads {name}, and {self._opaque}")
        if self._query.relations is not None and parent not in self._named and not is_function:
            may_read = Change.of_rows(f"{changes.IN_SOME_RUNS} may read {name}")
            return Change() if self._hidden is None else may_read
        if result is None:
            return Change.of_rows(f"it reads {name}, and its columns cannot be resolved: {self._query.problem}")
        if change.rows or is_function:
            return Change.of_rows(f"{name} may have changed rows")
        return self._from_columns(name, parent, change.columns, result)

    def _from_columns(self, name: str, parent: str, columns: frozenset[str], result: Result) -> Change:
        """How changed columns of one parent change the node."""
        changed: set[Field] = {(parent, column) for column in (*columns, ANY)}
        if hit := result.rows & changed:
            return Change.of_rows(f"{_shown(name, hit)} decides which rows it has")
        # SQL that is not in the compiled query may read a column under its own name or an alias.
        read = [each for each in changes.named_in(self._hidden, result.inner) if result.inner[each].reads & changed]
        if read := [*read, *sorted(columns & macros.words(self._hidden or ""))]:
            return Change.of_rows(f"{changes.IN_SOME_RUNS} may read {read[0]}")
        hits = _hits(result, parent, columns)
        reasons = tuple(f"{column} is computed from {_shown(name, hit)}" for column, hit in hits.items())
        own = Change(columns=frozenset(hits), builds=bool(hits), reasons=reasons)
        return changes.widened(self._project, self.node_id, own)


def _hits(result: Result, parent: str, columns: frozenset[str]) -> dict[str, frozenset[Field]]:
    """The columns that read changed columns of a parent, with what they read."""
    changed = {(parent, column) for column in (*columns, ANY)}
    reads = {column: output.reads & changed for column, output in result.columns.items()}
    if result.star == parent:
        reads |= {column: frozenset({(parent, column)}) for column in columns}
    return {column: hit for column, hit in sorted(reads.items()) if hit}


def _shown(name: str, fields: Iterable[Field]) -> str:
    return ", ".join(f"{name}.{column}" if column != ANY else name for _, column in sorted(fields))
