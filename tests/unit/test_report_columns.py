"""The columns of the report's tables: direct lineage from a manifest, and the sentence for a table without lineage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_paimon.lineage import edges
from dbt_paimon.lineage.project import Project
from dbt_paimon.report import columns, page
from dbt_paimon.report.figures import Column, Table
from synthetic_report import report
from unit.lineage.manifests import base, node

NODES = [
    base("orders"),
    node("paid", "select id, amount * 2 as twice from s.orders where state = 'paid'"),
    node("shown", "select twice from s.paid", kind="view"),
    node("inlined", "select twice from s.paid", kind="ephemeral"),
    node("total", "with i as (select twice from s.paid) select sum(twice) as total from i"),
    node("odd", "select * from s.paid pivot (sum(id) for twice in (1))"),
]
READS = {"paid": ["orders"], "shown": ["paid"], "inlined": ["paid"], "total": ["inlined"], "odd": ["paid"]}


def table(name: str, *names: str) -> Table:
    return Table(f"model.p.{name}", f"s.{name}", "table", name, columns=tuple(map(Column, names)))


@pytest.fixture
def nodes() -> dict[str, dict[str, Any]]:
    for each in NODES:
        each["depends_on"]["nodes"] = [f"model.p.{parent}" for parent in READS.get(each["name"], ())]
    found: dict[str, dict[str, Any]] = json.loads(json.dumps({each["unique_id"]: each for each in NODES}))
    return found


@pytest.fixture
def read(tmp_path: Path, nodes: dict[str, dict[str, Any]]):
    def of(*tables: Table, now: dict[str, dict[str, Any]] | None = None) -> dict[str, Table]:
        (tmp_path / "manifest.json").write_text(json.dumps({"nodes": nodes, "sources": {}}))
        found = columns.with_lineage(tables, tmp_path / "manifest.json", now or nodes)
        return {each.said: each for each in found}

    return of


def ends(column: Column) -> tuple[list[str], list[str]]:
    """What a column is computed from, and what reads it, as `kind node.column`."""
    reads, readers = (
        [f"{each.kind} {each.name}.{each.column}" for each in of] for of in (column.reads, column.readers)
    )
    return reads, readers


def test_direct_edges(read) -> None:
    paid = read(table("paid", "Id", "twice"), table("total", "total"))["paid"]
    assert {each.name: ends(each) for each in paid.columns} == {
        "*": (["row orders.state"], []),
        "Id": (["value orders.id"], []),
        "twice": (["value orders.amount"], ["value shown.twice", "value total.total"]),
    }
    assert [each.name for each in paid.columns] == ["*", "Id", "twice"]
    assert {each.node for each in paid.columns[2].readers} == {"model.p.shown", "model.p.total"}


def test_a_reader_that_cannot_be_resolved_is_named(read) -> None:
    found = read(table("paid", "id"), table("odd", "a"))
    assert found["paid"].columns_unknown == ("Which columns odd reads is not known: it reads a relation with PIVOTS.",)
    assert found["odd"].columns_unknown == (
        "What its columns are computed from is not known: it reads a relation with PIVOTS.",
    )


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", json.dumps({"nodes": {"model.p.paid": {"raw_code": 1}}})])
def test_without_compiled_queries_the_columns_stay_and_dbt_compile_is_named(text: str | None, nodes, tmp_path) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    (paid,) = columns.with_lineage([table("paid", "id")], tmp_path / "manifest.json", nodes)
    assert [each.name for each in paid.columns] == ["id"]
    assert len(paid.columns_unknown) == 1 and "dbt compile" in paid.columns_unknown[0]


@pytest.mark.parametrize("change", [{"compiled_code": None}, {"raw_code": "select 1 as id"}])
def test_a_query_of_other_code_is_left_out(read, nodes, change) -> None:
    now = {key: dict(each) for key, each in nodes.items()}
    nodes["model.p.paid"] |= change
    found = read(table("orders", "amount"), table("paid", "id", "twice"), table("total", "total"), now=now)
    assert ends(found["paid"].columns[0]) == ([], [])
    assert found["paid"].columns_unknown[0].endswith("missing or older than its code; run dbt compile.")
    assert found["orders"].columns_unknown[0].startswith("Which columns paid reads is not known")
    assert ends(found["total"].columns[0]) == (["value paid.twice"], [])


def test_a_node_that_is_gone_is_no_reader(read, nodes) -> None:
    now = {key: each for key, each in nodes.items() if key != "model.p.shown"}
    paid = read(table("paid", "twice"), now=now)["paid"]
    assert ends(paid.columns[1])[1] == ["value total.total"]


def test_a_fault_while_parsing_costs_one_node(read, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = edges.edges_to

    def failing(project: Project, node_id: str):
        if node_id == "model.p.total":
            raise AttributeError("unexpected")
        return whole(project, node_id)

    monkeypatch.setattr(edges, "edges_to", failing)
    found = read(table("paid", "twice"), table("total", "total"))
    assert ends(found["paid"].columns[1]) == (["value orders.amount"], ["value shown.twice"])
    assert "AttributeError: unexpected" in found["total"].columns_unknown[0]


def test_only_queries_next_to_the_tables_are_parsed(read, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    whole = Project._read
    monkeypatch.setattr(Project, "_read", lambda self, each: parsed.append(each["name"]) or whole(self, each))
    read(table("orders", "id"))
    assert sorted(parsed) == ["orders", "paid"]


def test_the_page_links_columns(read) -> None:
    tables = read(table("orders", "amount", "a b"), table("paid", "twice"))
    made = page.html(replace(report(0), tables=tuple(tables.values())))
    assert 'href="#t-model-p-orders::amount">orders.amount</a>' in made
    assert 'id="t-model-p-orders::amount"' in made
    # The view has no details.
    assert "shown.twice" in made and "t-model-p-shown" not in made
    paid = json.loads(page.as_json(replace(report(0), tables=tuple(tables.values()))))["tables"][1]
    assert paid["columns"][1]["reads"] == [
        {"node": "model.p.orders", "name": "orders", "column": "amount", "kind": "value"}
    ]
