"""The lineage graph: nodes in columns, each to the right of its inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_paimon.report.figures import LineageNode

_Node = Mapping[str, Any]

_KINDS: Final = ("model", "seed", "snapshot", "source")


def of(nodes: Iterable[_Node], selected: frozenset[str]) -> tuple[LineageNode, ...]:
    """The selected nodes, each with the selected nodes that it reads directly or through unselected ones."""
    known = {str(node["unique_id"]): node for node in nodes if node["resource_type"] in _KINDS}
    shown = {name: node for name, node in known.items() if name in selected and _kind(node) != "ephemeral"}
    return tuple(
        LineageNode(unique_id, str(node["name"]), _kind(node), tuple(sorted(_read_by(node, known, shown))))
        for unique_id, node in sorted(shown.items())
    )


def _read_by(node: _Node, known: Mapping[str, _Node], shown: Collection[str]) -> set[str]:
    """The unique ids of the shown nodes that a node reads directly or through others."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        for parent in waiting.pop().get("depends_on", {}).get("nodes", ()):
            if parent in shown:
                found.add(parent)
            elif parent in known and parent not in seen:
                seen.add(parent)
                waiting.append(known[parent])
    return found


def _kind(node: _Node) -> str:
    if node["resource_type"] != "model":
        return str(node["resource_type"])
    return str(node.get("config", {}).get("materialized") or "model")


@dataclass(frozen=True)
class Placed:
    """A node and its place in the picture: column and row, from 0."""

    node: LineageNode
    column: int
    row: int


def placed(nodes: Sequence[LineageNode]) -> tuple[Placed, ...]:
    """Place each node one column right of its rightmost input, near the rows of its inputs."""
    import networkx  # type: ignore[import-untyped]

    graph = networkx.DiGraph()
    graph.add_nodes_from(node.node for node in nodes)
    graph.add_edges_from((parent, node.node) for node in nodes for parent in node.reads)
    by_id = {node.node: node for node in nodes}
    rows: dict[str, float] = {}
    found = []
    for column, generation in enumerate(networkx.topological_generations(graph)):

        def near(unique_id: str) -> tuple[bool, float, str]:
            above = [rows[parent] for parent in by_id[unique_id].reads]
            return (not graph.degree(unique_id), sum(above) / len(above) if above else 0, by_id[unique_id].name)

        for row, unique_id in enumerate(sorted(generation, key=near)):
            rows[unique_id] = row
            found.append(Placed(by_id[unique_id], column, row))
    return tuple(found)
