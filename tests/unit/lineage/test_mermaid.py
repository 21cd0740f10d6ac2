"""The Mermaid flowchart of a lineage: boxes, arrows, and names that Mermaid would take for syntax."""

from __future__ import annotations

import html
import re

import pytest
from click.testing import CliRunner

from dbt_paimon.cli import main
from dbt_paimon.lineage import edges, mermaid
from unit.lineage.manifests import node, project

_CELL = re.compile(r'(subgraph )?(\w+)\["([^"]*)"\]')
_ARROW = re.compile(r"(\w+) (-->|-\.->) (\w+)")


def drawn(found, *names: str) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """The cells of each box of a flowchart, and its arrows as (from, arrow, to)."""
    chosen = [
        (node_id, column) for name in names for node_id, columns in [edges.find(found, name)] for column in columns
    ]
    first, *lines = mermaid.flowchart([edges.of(found, node_id, column) for node_id, column in chosen])
    assert first == "flowchart LR"
    boxes: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    arrows = []
    for line in map(str.strip, lines):
        if cell := _CELL.fullmatch(line):
            text = html.unescape(re.sub(r"#(\d+);", r"&#\1;", cell[3]))
            if cell[1]:
                boxes[box := text] = []
            else:
                boxes[box].append(text)
                shown[cell[2]] = f"{box}.{text}"
        elif arrow := _ARROW.fullmatch(line):
            arrows.append((shown[arrow[1]], arrow[2], shown[arrow[3]]))
        else:
            assert line == "end"
    return boxes, arrows


def test_boxes_and_arrows() -> None:
    found = project(
        node("paid", "select id, amount * 2 as twice from s.orders where state = 'paid'"),
        node("odd", "select * from s.paid pivot (sum(id) for twice in (1))"),
    )
    boxes, arrows = drawn(found, "paid.twice")
    assert boxes == {
        "paid": ["twice", "all columns"],
        "orders": ["amount", "state"],
        "odd": ["cannot be resolved: it reads a relation with PIVOTS"],
    }
    assert arrows == [("orders.amount", "-->", "paid.twice"), ("orders.state", "-.->", "paid.all columns")]


def test_an_edge_of_several_columns_is_drawn_once() -> None:
    found = project(node("paid", "select id, amount as twice from s.orders where state = 'paid'"))
    _, arrows = drawn(found, "paid")
    assert sorted(arrows) == [
        ("orders.amount", "-->", "paid.twice"),
        ("orders.id", "-->", "paid.id"),
        ("orders.state", "-.->", "paid.all columns"),
    ]


NAMES = """
a b|x"y|p[q]|r{s}|naïve|日本|1. one|- two|# three|end|<b>x</b>|a;b|%%c|`tick|&amp;|it's|c:\\d|_e_|__index__|*f*|-->|#35;
"""


@pytest.mark.parametrize("name", [*NAMES.strip().split("|"), "a|b", "two\nlines"])
def test_a_name_is_shown_as_it_is(name: str) -> None:
    quoted = name.replace("`", "``")
    found = project(node(f"model {name}", f"select amount as `{quoted}` from s.orders"))
    boxes, arrows = drawn(found, "orders.amount")
    assert boxes == {"orders": ["amount"], f"model {name}": [name]}
    assert arrows == [("orders.amount", "-->", f"model {name}.{name}")]
    # What Mermaid reads as syntax, HTML or Markdown is escaped.
    labels = [
        cell[3]
        for line in mermaid.flowchart([edges.of(found, "model.p.orders", "amount")])
        if (cell := _CELL.search(line))
    ]
    assert all(re.fullmatch(r"(?:[^\W_]|#\d+;|[ ./]|(?<=\w)_(?=\w))*", label) for label in labels), labels


def test_one_format_at_a_time() -> None:
    done = CliRunner().invoke(main, ["lineage", "orders", "--json", "--mermaid"])
    assert done.exit_code == 1
    assert "--json and --mermaid print different formats. Leave one out." in done.output
