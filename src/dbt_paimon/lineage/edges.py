"""The edges between the columns of a project, up and down from one column, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import click

from dbt_paimon.lineage.project import FOREIGN, Project
from dbt_paimon.lineage.queries import ANY, Field, Output, Result

# A column is computed from the value of another.
VALUE: Final = "value"
# A column decides which rows there are: in WHERE, JOIN, GROUP BY, DISTINCT, a window or a subquery.
ROW: Final = "row"
# Resource types whose columns are those of a query.
WITH_QUERY: Final = ("model", "snapshot")


@dataclass(frozen=True)
class Edge:
    """`target` depends on `source`. If `source` decides which rows a whole node has, the column of `target` is ANY."""

    source: Field
    target: Field
    kind: str


@dataclass(frozen=True)
class Lineage:
    """What a column is computed from, and what is computed from it.

    Attributes:
        up: edges to it, and to the columns that they come from, each with its distance from the column.
        down: edges from it, and from the columns that they lead to.
        problems: why columns of a node cannot be resolved, by node.
    """

    project: Project
    column: Field
    up: Mapping[Edge, int]
    down: Mapping[Edge, int]
    problems: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "column": self._names(self.column),
            "up": [self._edge(edge) for edge in self.up],
            "down": [self._edge(edge) for edge in self.down],
            "unresolved": [
                {"unique_id": self._id(node_id), "reason": reason} for node_id, reason in self.problems.items()
            ],
        }

    def lines(self) -> Iterator[str]:
        """As text: a tree of the columns that values come from and go to, each with those that decide its rows."""
        yield self._shown(self.column)
        if self.up:
            yield "  computed from"
        for edge, distance in self.up.items():
            yield f"    {'  ' * distance}{edge.kind} {self._shown(edge.source)}"
        if self.down:
            yield "  read by"
        for edge, distance in self.down.items():
            yield f"    {'  ' * distance}{edge.kind} {self._shown(edge.target)}"
        for node_id, reason in self.problems.items():
            yield f"  {shown_name(self.project, node_id)} cannot be resolved: {reason}"

    def _edge(self, edge: Edge) -> dict[str, Any]:
        return {"from": self._names(edge.source), "to": self._names(edge.target), "kind": edge.kind}

    def _names(self, field: Field) -> dict[str, str]:
        return {"unique_id": self._id(field[0]), "column": field[1]}

    def _id(self, node_id: str) -> str:
        return str(self.project.nodes[node_id]["unique_id"]) if node_id in self.project.nodes else node_id

    def _shown(self, field: Field) -> str:
        name = shown_name(self.project, field[0])
        return name if field[1] == ANY else f"{name}.{field[1]}"


def find(project: Project, given: str) -> tuple[str, tuple[str, ...]]:
    """The id of the node that `node` or `node.column` names, and the columns; raises ClickException."""
    nodes = _by_name(project)
    name, column = given.lower(), ""
    if name not in nodes:
        name, _, column = name.rpartition(".")
    if name not in nodes:
        raise click.ClickException(
            f"{given} is not a column: name a model, seed, snapshot or source of the project, or one of its columns, "
            "such as orders.amount or raw.orders.amount."
        )
    columns = tuple(project.columns(nodes[name]))
    if columns and column and column not in columns:
        raise click.ClickException(f"{given}: {name} has no column {column}, but {', '.join(columns)}.")
    if not columns and not column:
        problem = project.query(nodes[name]).problem or "they are not known"
        raise click.ClickException(
            f"{given}: its columns cannot be resolved: {problem}. Name one of them: {name}.<column>."
        )
    return nodes[name], (column,) if column else columns


def _by_name(project: Project) -> dict[str, str]:
    return {_name(node).lower(): node_id for node_id, node in project.nodes.items() if node["resource_type"] != "test"}


def shown_name(project: Project, node_id: str) -> str:
    """The name to show for a node: `source.table` for a source, the name in the query for a foreign relation."""
    node = project.nodes.get(node_id)
    return node_id.removeprefix(FOREIGN) if node is None else _name(node)


def _name(node: Mapping[str, Any]) -> str:
    name = f"{node['source_name']}.{node['name']}" if node["resource_type"] == "source" else node["name"]
    return f"{name}.v{node['version']}" if node.get("version") else str(name)


def of(project: Project, node_id: str, column: str, *, up: bool = True, down: bool = True) -> Lineage:
    """The lineage of a column. Value edges are followed to the end; row edges are listed, but not followed."""
    into: dict[Field, list[Edge]] = {}
    out_of: dict[Field, list[Edge]] = {}
    for edge in edges(project):
        into.setdefault(edge.target, []).append(edge)
        out_of.setdefault(edge.source, []).append(edge)
    start = (node_id, column)
    above: dict[Edge, int] = {}
    below: dict[Edge, int] = {}
    if up:
        _follow(into, start, "source", above, 0)
    if down:
        _follow(out_of, start, "target", below, 0)
    reached = {node_id, *(field[0] for edge in (*above, *below) for field in (edge.source, edge.target))}
    return Lineage(project, start, above, below, _problems(project, reached, with_readers=down))


def edges(project: Project) -> Iterator[Edge]:
    """Every edge of the models and snapshots of a project."""
    for node_id in project.nodes:
        yield from edges_to(project, node_id)


def edges_to(project: Project, node_id: str) -> Iterator[Edge]:
    """The edges that lead to the columns of a model or snapshot; no edges if its query cannot be resolved."""
    result = project.query(node_id).result if project.nodes[node_id]["resource_type"] in WITH_QUERY else None
    if result is not None:
        for name, output in _outputs(project, result).items():
            yield from (Edge(source, (node_id, name), VALUE) for source in sorted(output.values))
            yield from (Edge(source, (node_id, name), ROW) for source in sorted(output.rows))
        yield from (Edge(source, (node_id, ANY), ROW) for source in sorted(result.rows))


def _outputs(project: Project, result: Result) -> Mapping[str, Output]:
    """The columns of a query, with those that it passes on by `*`."""
    if not result.star:
        return result.columns
    passed = {name: Output("", frozenset({(result.star, name)})) for name in project.columns(result.star) or (ANY,)}
    return {**result.columns, **passed}


def _follow(edges_at: Mapping[Field, list[Edge]], at: Field, end: str, found: dict[Edge, int], distance: int) -> None:
    """Add the edges at a column, and follow value edges to their `end` (source or target)."""
    of_all_columns = edges_at.get((at[0], ANY), []) if distance == 0 or end == "target" else []
    for edge in [*edges_at.get(at, []), *of_all_columns]:
        if edge not in found:
            found[edge] = distance
            if edge.kind == VALUE:
                _follow(edges_at, getattr(edge, end), end, found, distance + 1)


def _problems(project: Project, reached: set[str], *, with_readers: bool) -> dict[str, str]:
    """Why columns of these nodes cannot be followed. With `with_readers`, also columns of the nodes that read them."""
    found: dict[str, str] = {}
    for node_id, node in project.nodes.items():
        query = project.query(node_id)
        reads = query.relations or project.parents(node_id) if with_readers else ()
        if node["resource_type"] in WITH_QUERY and query.problem and reached.intersection((node_id, *reads)):
            found[node_id] = query.problem
    return found
