"""Value and row edges: the columns that a column is computed from, and the columns that decide a query's rows."""

from __future__ import annotations

import json

import click
import pytest

from dbt_paimon.lineage import edges, queries
from dbt_paimon.lineage.parsing import Unresolved
from unit.lineage.manifests import node, project

KNOWN = {"t": ["a", "b", "c", "s", "xs"], "u": ["a", "k", "v"]}


def read(sql: str) -> queries.Result:
    return queries.read(sql, lambda parts: parts[-1].lower(), KNOWN)


def shown(fields: frozenset[queries.Field]) -> str:
    return " ".join(sorted(f"{table}.{column}" for table, column in fields))


@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        ("select a + b as x from t where c > 1", "t.a t.b", "t.c"),
        ("select u.v as x from t join u on t.a = u.a", "u.v", "t.a u.a"),
        ("select v as x from t join u using (a)", "u.v", "t.a u.a"),
        ("select a as x from t left semi join u on t.a = u.k", "t.a", "t.a u.k"),
        ("select max(b) as x from t group by a having count(c) > 1", "t.b", "t.a t.c"),
        ("select count(*) as x from t group by 1, a", "", "t.a"),
        ("select distinct b as x from t", "t.b", "t.b"),
        ("select a as x from t union all select v from u", "t.a u.v", ""),
        ("select a as x from t union select v from u", "t.a u.v", "t.a u.v"),
        ("select a as x from t where b in (select k from u where v = t.c)", "t.a", "t.b t.c u.k u.v"),
        ("select explode(xs) as x from t", "t.xs", "t.xs"),
        ("select w as x from t lateral view explode(xs) v as w", "t.xs", "t.xs"),
        ("with q as (select a as z, b from t), r as (select z from q where b > 1) select z as x from r", "t.a", "t.b"),
        ("select s.inner.deep as x from t", "t.s", ""),
        ("select transform(xs, e -> e + a) as x from t", "t.a t.xs", ""),
        ("select struct(a as p, b as q).p as x from t", "t.a t.b", ""),
        ("select a as x from t order by b", "t.a", ""),
        ("select a as x from t order by b limit 3", "t.a", "t.b"),
        ("select a as b, b as x from t where b > 1", "t.b", "t.b"),
        ("select a + 1 as y, y + 1 as x from t", "t.a", ""),
        ("select dateadd(day, 1, a) as x from t", "t.a", ""),
        ("select x from (select a, b from t) as z(x, y)", "t.a", ""),
        ("select n as x from unknown where m > 1", "unknown.n", "unknown.m"),
        ("select a as x from t version as of 3", "t.a", "t.*"),
    ],
)
def test_edges_of_a_column(sql: str, values: str, rows: str) -> None:
    result = read(sql)
    assert shown(result.columns["x"].values) == values
    assert shown(result.rows) == rows


@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        ("select row_number() over (partition by a order by b) as x from t", "", "t.a t.b"),
        ("select sum(c) over (order by b) as x from t", "t.c", "t.b"),
        ("select (select max(v) from u where u.a = t.a) as x from t", "u.v", "t.a u.a"),
        ("select sum(a) filter (where b > 1) as x from t", "t.a", "t.b"),
    ],
)
def test_windows_and_subqueries_give_row_edges_to_their_column_only(sql: str, values: str, rows: str) -> None:
    result = read(sql)
    assert (shown(result.columns["x"].values), shown(result.columns["x"].rows)) == (values, rows)
    assert shown(result.rows) == ""


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("select * from t", "a b c s xs"),
        ("select *, 1 as one from u", "a k v one"),
        ("select * except (k) from u", "a v"),
        ("with q as (select * from u) select q.*, t.b from q join t on q.a = t.a", "a k v b"),
        ("select * from t left anti join u on t.a = u.a", "a b c s xs"),
        ("select r.*, day from (select from_json(value, 'p int, q string') as r, day from text.`/x`)", "p q day"),
    ],
)
def test_stars_are_expanded(sql: str, columns: str) -> None:
    assert " ".join(read(sql).columns) == columns


def test_a_star_over_unknown_columns_names_its_relation() -> None:
    assert read("select * from unknown").star == "unknown"
    assert read("with q as (select * from unknown) select * from q").star == "unknown"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select * from unknown join t on unknown.a = t.a", "columns that are not known"),
        ("select r.* from unknown", "columns that are not known"),
        ("select * except (b) from unknown", "columns that are not known"),
        ("select a from unknown where b in (select k from u)", "relation whose columns are not known"),
        ("select n + 1 as m, m as x from unknown", "m may be a column of a relation"),
        ("select nothing from t", "nothing"),
        ("select * from t pivot (sum(a) for b in (1, 2))", "PIVOTS"),
        ("select sum(a) over w as x from t window w as (order by b)", "WINDOWS"),
        ("with recursive r as (select 1 as a union all select a from r) select a from r", "recursive"),
        ("select a from files('x')", "files"),
        ("insert into t select 1", "not a SELECT"),
        ("with q as (`a`.`b`) select * from q", "COLUMN instead of a SELECT"),
        ("select from where", "cannot parse"),
    ],
)
def test_an_unresolved_query_has_a_reason(sql: str, reason: str) -> None:
    with pytest.raises(Unresolved, match=reason):
        read(sql)


class TestOfProject:
    @pytest.fixture
    def found(self):
        return project(
            node("paid", "select id, amount * 2 as twice, customer from s.orders where state = 'paid'"),
            node(
                "by_region",
                "select c.region, sum(p.twice) as total from s.paid p join s.customers c on p.customer = c.id group by 1",
            ),
            node("odd", "select * from s.paid pivot (sum(id) for customer in (1))"),
        )

    def test_up(self, found):
        lineage = edges.of(found, *edges_of(found, "by_region.total"), down=False)
        assert list(lineage.lines()) == [
            "by_region.total",
            "  computed from",
            "    value paid.twice",
            "      value orders.amount",
            "    row customers.id",
            "    row customers.region",
            "    row paid.customer",
        ]

    def test_down_lists_unresolved_models(self, found):
        lineage = edges.of(found, *edges_of(found, "orders.amount"), up=False)
        assert list(lineage.lines()) == [
            "orders.amount",
            "  read by",
            "    value paid.twice",
            "      value by_region.total",
            "  odd cannot be resolved: it reads a relation with PIVOTS",
        ]
        assert json.loads(json.dumps(lineage.as_dict()))["down"][0] == {
            "from": {"unique_id": "model.p.orders", "column": "amount"},
            "to": {"unique_id": "model.p.paid", "column": "twice"},
            "kind": "value",
        }

    def test_a_filter_is_a_row_edge_to_all_columns(self, found):
        lineage = edges.of(found, *edges_of(found, "orders.state"), up=False)
        assert "    row paid" in list(lineage.lines())

    @pytest.mark.parametrize(("kind", "read"), [("view", "model.p.paid"), ("table", "relation:elsewhere.s.paid")])
    def test_only_a_view_is_found_in_another_catalog(self, kind, read):
        found = project(
            node("paid", "select id from s.orders", kind=kind), node("ids", "select id from elsewhere.s.paid")
        )
        assert list(edges.edges_to(found, "model.p.ids")) == [edges.Edge((read, "id"), ("model.p.ids", "id"), "value")]

    @pytest.mark.parametrize(
        ("sql", "columns"),
        [
            ("select id, max(amount) from s.orders group by id", ()),
            ("with q as (select id, max(amount) from s.orders group by id) select * from q", ()),
            ("select id, max(amount) as _col_1 from s.orders group by id", ("id", "_col_1")),
            ("select cast(id as int), amount from s.orders", ("id", "amount")),
            ("select id from s.orders where amount > (select max(amount) from s.orders)", ("id",)),
        ],
    )
    def test_a_column_that_only_spark_can_name_is_not_invented(self, sql, columns):
        found = project(node("m", sql))
        assert tuple(found.columns("model.p.m")) == columns
        assert bool(found.query("model.p.m").problem) == (not columns)

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ("nothing.a", "nothing.a is not a column"),
            ("paid.amount", "paid has no column amount, but id, twice, customer"),
            ("odd", "its columns cannot be resolved: it reads a relation with PIVOTS"),
        ],
    )
    def test_unknown_columns_are_refused(self, found, column, message):
        with pytest.raises(click.ClickException, match=message):
            edges.find(found, column)


def edges_of(found, column: str) -> tuple[str, str]:
    node_id, columns = edges.find(found, column)
    return node_id, columns[0]
