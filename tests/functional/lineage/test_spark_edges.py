"""The value edges of queries are the same as in Spark's analyzed plans."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import get_connection

from dbt_paimon.lineage import queries
from functional.lineage.spark_edges import Edges

COLUMNS = {
    "t": {"a": "int", "b": "int", "c": "int", "s": "struct<x: int, y: int>", "xs": "array<int>"},
    "u": {"a": "int", "k": "int", "v": "int"},
}
QUERIES = [
    "select *, a + b as d from {t}",
    "select t.*, u.v from {t} as t left join {u} as u on t.a = u.a",
    "select b, v from {t} join {u} using (a)",
    "select a, sum(b) as n, count(*) as m, max(c) filter (where b > 1) as l from {t} group by a having max(c) > 1",
    "with q as (select a as z, b from {t}), r as (select z, q.b + z as w from q) select r.*, q.b as e from r join q on r.z = q.z",
    "select a, row_number() over (partition by b order by c) as r, sum(c) over (order by b) as n from {t}",
    "select a as x, b as y from {t} union all select v, k from {u} union select c, a from {t}",
    "select a from {t} except select k from {u}",
    "select a from {t} intersect select k from {u}",
    "select t.a, (select max(u.v) from {u} as u where u.a = t.a) as m from {t} as t",
    "select a, e + b as f from {t} lateral view explode(xs) v as e",
    "select explode(xs) as e, c from {t}",
    "select s.x as x, s.y + a as y, struct(a, b as q).q as q from {t}",
    "select transform(xs, e -> e + a) as f, xs[b] as g from {t}",
    "select a + 1 as d, d + b as e from {t}",
    "select a, b from {t} where a in (select k from {u}) and exists (select 1 from {u} as u where u.v > b)",
    "select t.a, s.b from {t} as t join {t} as s on t.a = s.b",
    "select x, y from (select a, b from {t}) as z(x, y)",
    "select t.a from {t} as t left semi join {u} as u on t.a = u.a",
    "select case when a > 1 then b else c end as d, cast(a as string) as e, coalesce(b, c, 0) as f from {t}",
    "select a, count(*) as n from {t} group by grouping sets ((a), ())",
    "select distinct a, b from {t} order by a limit 3",
]


class TestSparkEdges:
    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project: Any, rows: Any) -> Any:
        rows("create schema if not exists {schema}")
        for name, columns in COLUMNS.items():
            rows(
                f"create table {{schema}}.{name} ({', '.join(f'{key} {kind}' for key, kind in columns.items())}) using paimon"
            )

    @pytest.mark.parametrize("query", QUERIES)
    def test_value_edges(self, project: Any, query: str) -> None:
        schema = project.test_schema
        sql = query.format(t=f"paimon.{schema}.t", u=f"paimon.{schema}.u")
        with get_connection(project.adapter):
            spark = project.adapter.connections.get_thread_connection().handle.embedded()._session
            expected = Edges().of(spark.sql(sql))
        found = queries.read(
            sql,
            lambda parts: ".".join(parts[-2:]).lower(),
            {f"{schema}.{name}": list(columns) for name, columns in COLUMNS.items()},
        )
        assert {name: set(output.values) for name, output in found.columns.items()} == expected
