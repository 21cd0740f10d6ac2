"""The edges between the columns of a project, up and down from one column, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import click

from dbt_paimon.lineage.project import FOREIGN, Project
from dbt_paimon.lineage.queries import ANY, Field

# A column is computed from the value of another.
VALUE: Final = "value"
# A column decides which rows there are: in WHERE, JOIN, GROUP BY, DISTINCT, a window or a subquery.
ROW: Final = "row"


@dataclass(frozen=True)
class Edge:
    """`target` depends on `source`; for a ROW edge of all rows, the column of `target` is ANY."""

    source: Field
    target: Field
    kind: str


@dataclass(frozen=True)
class Lineage:
    """What a column is computed from, and what is computed from it.

    Attributes:
        up: edges to it, and to the columns that they come from.
        down: edges from it, and from the columns that they lead to.
        problems: why columns of a node cannot be resolved, by node.
    """

    project: Project
    column: Field
    up: tuple[Edge, ...] = ()
    down: tuple[Edge, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "column": self._names(self.column),
            "up": [self._edge(edge) for edge in self.up],
            "down": [self._edge(edge) for edge in self.down],
            "unresolved": [{"unique_id": self._id(node_id), "reason": reason} for node_id, reason in self.problems],
        }

    def lines(self) -> Iterator[str]:
        """As text: a tree of the columns that values come from and go to, each with those that decide its rows."""
        yield self._shown(self.column)
        for title, edges, start, end in (
            ("computed from", self.up, "target", "source"),
            ("read by", self.down, "source", "target"),
        ):
            if edges:
                yield f"  {title}"
                yield from self._tree(edges, start, end, self.column, 2, set())
        for node_id, reason in self.problems:
            yield f"  {self._node(node_id)} cannot be resolved: {reason}"

    def _tree(
        self, edges: Iterable[Edge], start: str, end: str, at: Field, depth: int, seen: set[Field]
    ) -> Iterator[str]:
        if at in seen:
            return
        seen.add(at)
        for edge in edges:
            begin, far = getattr(edge, start), getattr(edge, end)
            if begin == at or (begin == (at[0], ANY) and depth == 2):
                yield f"{'  ' * depth}{edge.kind} {self._shown(far)}"
                if edge.kind == VALUE:
                    yield from self._tree(edges, start, end, far, depth + 1, seen)

    def _edge(self, edge: Edge) -> dict[str, Any]:
        return {"from": self._names(edge.source), "to": self._names(edge.target), "kind": edge.kind}

    def _names(self, field: Field) -> dict[str, str]:
        return {"unique_id": self._id(field[0]), "column": field[1]}

    def _id(self, node_id: str) -> str:
        return str(self.project.nodes[node_id]["unique_id"]) if node_id in self.project.nodes else node_id

    def _node(self, node_id: str) -> str:
        node = self.project.nodes.get(node_id)
        if node is None:
            return node_id.removeprefix(FOREIGN)
        return f"{node['source_name']}.{node['name']}" if node["resource_type"] == "source" else str(node["name"])

    def _shown(self, field: Field) -> str:
        return self._node(field[0]) if field[1] == ANY else f"{self._node(field[0])}.{field[1]}"


def find(project: Project, given: str) -> tuple[str, tuple[str, ...]]:
    """The id of the node that `node` or `node.column` names, and the columns; raises ClickException."""
    by_name = {_name(node): node_id for node_id, node in project.nodes.items() if node["resource_type"] != "test"}
    lowered = given.lower()
    name, column = (lowered, "") if lowered in by_name else (lowered.rpartition(".")[0], lowered.rpartition(".")[2])
    if name not in by_name:
        raise click.ClickException(
            f"{given} is not a column: name a model, seed, snapshot or source of the project, or one of its columns, "
            "such as orders.amount or raw.orders.amount."
        )
    node_id = by_name[name]
    columns = tuple(project.columns(node_id))
    if column and columns and column not in columns:
        raise click.ClickException(f"{given}: {name} has no column {column}, but {', '.join(columns)}.")
    if not column and not columns:
        raise click.ClickException(
            f"{given}: its columns cannot be resolved: {project.query(node_id).problem or 'they are not known'}. "
            f"Name one of them: {name}.<column>."
        )
    return node_id, (column,) if column else columns


def _name(node: Any) -> str:
    name = f"{node['source_name']}.{node['name']}" if node["resource_type"] == "source" else node["name"]
    version = node.get("version")
    return f"{name}.v{version}".lower() if version else str(name).lower()


def of(project: Project, node_id: str, column: str, *, up: bool = True, down: bool = True) -> Lineage:
    """The lineage of a column. Values are followed to the end; what decides rows is given for the column's own node."""
    every = list(edges(project))
    start = (node_id, column)
    above = _followed(every, start, upwards=True) if up else ()
    below = _followed(every, start, upwards=False) if down else ()
    reached = {node_id, *(field[0] for edge in (*above, *below) for field in (edge.source, edge.target))}
    if down:
        reached |= _readers(project, reached)
    problems = [(each, project.query(each).problem) for each in project.nodes if each in reached]
    shown = [(each, why) for each, why in problems if why and _has_query(project, each)]
    return Lineage(project, start, above, below, tuple(shown))


def edges(project: Project) -> Iterator[Edge]:
    """Every edge of the models and snapshots of a project."""
    for node_id, node in project.nodes.items():
        result = project.query(node_id).result if node["resource_type"] in ("model", "snapshot") else None
        if result is None:
            continue
        for name, output in result.columns.items():
            yield from (Edge(source, (node_id, name), VALUE) for source in sorted(output.values))
            yield from (Edge(source, (node_id, name), ROW) for source in sorted(output.rows))
        if result.star:
            yield from (
                Edge((result.star, name), (node_id, name), VALUE) for name in project.columns(result.star) or (ANY,)
            )
        yield from (Edge(source, (node_id, ANY), ROW) for source in sorted(result.rows))


def _followed(every: Iterable[Edge], start: Field, *, upwards: bool) -> tuple[Edge, ...]:
    found: dict[Edge, None] = {}
    by_end: dict[Field, list[Edge]] = {}
    for edge in every:
        by_end.setdefault(edge.target if upwards else edge.source, []).append(edge)
    waiting, seen = [start], {start}
    while waiting:
        at = waiting.pop(0)
        for edge in [*by_end.get(at, ()), *(by_end.get((at[0], ANY), ()) if at == start or not upwards else ())]:
            found[edge] = None
            far = edge.source if upwards else edge.target
            if edge.kind == VALUE and far not in seen:
                seen.add(far)
                waiting.append(far)
    return tuple(found)


def _readers(project: Project, reached: set[str]) -> set[str]:
    """The nodes that read one of these, and whose columns cannot be followed."""
    return {
        node_id
        for node_id in project.nodes
        if project.query(node_id).problem
        and reached.intersection(project.query(node_id).relations or project.parents(node_id))
    }


def _has_query(project: Project, node_id: str) -> bool:
    return project.nodes[node_id]["resource_type"] in ("model", "snapshot")
