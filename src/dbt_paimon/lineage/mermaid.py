"""Draws column lineage as a Mermaid flowchart: a box per node with its columns, arrows in the direction of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dbt_paimon.lineage.edges import VALUE, Lineage, shown_name
from dbt_paimon.lineage.queries import ANY, Field

# What Mermaid might take for syntax, HTML or Markdown. Names like `raw.orders` stay readable.
_SPECIAL: Final = re.compile(r"[^\w ./]|\.(?!\w)|(?<![^\W_])_|_(?![^\W_])")


def flowchart(found: Sequence[Lineage]) -> Iterator[str]:
    """The lines of a flowchart of the lineage of some columns of one project."""
    edges = dict.fromkeys(edge for each in found for edge in (*each.up, *each.down))
    problems = {node_id: reason for each in found for node_id, reason in each.problems.items()}
    shown = [*(each.column for each in found), *(end for edge in edges for end in (edge.source, edge.target))]
    labels = {field: "all columns" if field[1] == ANY else field[1] for field in shown}
    labels |= {(node_id, ""): f"cannot be resolved: {reason}" for node_id, reason in problems.items()}
    boxes: dict[str, list[Field]] = {}
    for field in labels:
        boxes.setdefault(field[0], []).append(field)
    ids = {field: f"c{number}" for number, field in enumerate(labels)}
    yield "flowchart LR"
    for number, (node_id, fields) in enumerate(boxes.items()):
        yield f'  subgraph n{number}["{_escaped(shown_name(found[0].project, node_id))}"]'
        yield from (f'    {ids[field]}["{_escaped(labels[field])}"]' for field in fields)
        yield "  end"
    for edge in edges:
        yield f"  {ids[edge.source]} {'-->' if edge.kind == VALUE else '-.->'} {ids[edge.target]}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)
