"""Each way in which a row of an outer join gets, changes or loses its match (Larson and Zhou, 2007), step by step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from dbt.tests.util import run_dbt

Names = dict[int, str | None]

JOINED = "from {f} as f left join {d} as d on d.k = f.k"
VIEWS = {
    # The name of each fact's dimension row.
    "named": f"select f.id, d.name {JOINED}",
    # Facts without a match.
    "unmatched": f"select f.id, f.k {JOINED} where d.k is null",
    "by_name": f"select d.name, count(*) as n, count(d.k) as matched, sum(f.v) as total {JOINED} group by d.name",
    # The same, with a group that a key can hold.
    "by_text": f"select coalesce(d.name, 'none') as name, sum(f.v) as total, min(f.k) as first {JOINED} group by 1",
    "common": f"select d.name, count(*) as n {JOINED} group by d.name having count(*) > 1",
}
CONFIGS = {"by_text": ", primary_key='name'"}
CREATE = (
    "create table {f} (id int, k string, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1')",
    "create table {d} (k string, name string) tblproperties ('primary-key' = 'k', 'bucket' = '1')",
    "insert into {f} values (1, 'a', 10), (2, 'b', 20), (3, null, 30), (4, 'x', 40), (5, 'a', 50)",
    "insert into {d} values ('a', 'Ann'), ('b', 'Bob'), ('c', 'Cid')",
)
START: Names = {1: "Ann", 2: "Bob", 3: None, 4: None, 5: "Ann"}


@dataclass(frozen=True)
class Case:
    """What happens between two refreshes.

    Attributes:
        what: its name.
        statements: what is done to the facts and to the dimension.
        names: the names that change; those of all other facts stay.
        gone: the facts that are gone afterwards.
    """

    what: str
    statements: tuple[str, ...]
    names: Names = field(default_factory=dict)
    gone: tuple[int, ...] = ()


CASES = (
    Case("a match appears", ("insert into {d} values ('x', 'Xen')",), {4: "Xen"}),
    Case("a match disappears", ("delete from {d} where k = 'b'",), {2: None}),
    Case("a match changes", ("insert into {d} values ('a', 'Amy')",), {1: "Amy", 5: "Amy"}),
    Case("a match changes to a name of another one", ("insert into {d} values ('a', 'Xen')",), {1: "Xen", 5: "Xen"}),
    Case("a match changes to NULL", ("insert into {d} values ('a', null)",), {1: None, 5: None}),
    Case("a match of NULL gets a name", ("insert into {d} values ('a', 'Abe')",), {1: "Abe", 5: "Abe"}),
    Case("a row that matches no fact comes", ("insert into {d} values ('q', 'Quy')",)),
    Case("a foreign key becomes NULL", ("insert into {f} values (1, null, 10)",), {1: None}),
    Case("a foreign key is NULL no more", ("insert into {f} values (3, 'x', 30)",), {3: "Xen"}),
    Case("a foreign key changes to one without a match", ("insert into {f} values (4, 'y', 40)",), {4: None}),
    Case("a foreign key changes to another match", ("insert into {f} values (5, 'c', 50)",), {5: "Cid"}),
    Case("a foreign key changes from one without a match to another", ("insert into {f} values (4, 'w', 40)",)),
    Case("both sides come at once", ("insert into {f} values (6, 'z', 60)", "insert into {d} values ('z', 'Zoe')"), {6: "Zoe"}),
    Case("both sides go at once", ("delete from {f} where id = 6", "delete from {d} where k = 'z'"), {}, (6,)),
    Case("both sides change at once", ("insert into {f} values (5, 'a', 51)", "insert into {d} values ('a', 'Ada'), ('c', 'Cem')"), {5: "Ada"}),
    Case("a fact moves to a match that goes", ("insert into {f} values (3, 'c', 30)", "delete from {d} where k = 'c'"), {3: None}),
    Case("a fact moves away from a match that changes", ("insert into {f} values (5, 'q', 50)", "insert into {d} values ('a', 'Ana')"), {5: "Quy"}),
    Case("a fact moves away from a match that goes", ("insert into {f} values (5, 'x', 50)", "delete from {d} where k = 'q'"), {5: "Xen"}),
    Case("a match goes and comes back as it was", ("delete from {d} where k = 'x'", "insert into {d} values ('x', 'Xen')")),
    Case("a match goes and comes back as another", ("delete from {d} where k = 'x'", "insert into {d} values ('x', 'Xia')"), {5: "Xia"}),
    Case("a match comes and goes", ("insert into {d} values ('w', 'Wil')", "delete from {d} where k = 'w'")),
    Case("a fact comes and goes", ("insert into {f} values (7, 'x', 70)", "delete from {f} where id = 7")),
    Case("a fact goes and comes back with another key", ("delete from {f} where id = 5", "insert into {f} values (5, 'b', 50)"), {5: None}),
    Case("all matches go", ("delete from {d}",), {1: None, 2: None, 3: None, 4: None, 5: None}),
    Case("matches come back", ("insert into {d} values ('b', 'Bea'), ('c', 'Cy'), ('w', 'Wim')",), {2: "Bea", 3: "Cy", 4: "Wim", 5: "Bea"}),
    Case("no fact is without a match", ("insert into {f} values (1, 'w', 10)",), {1: "Wim"}),
    Case("all facts go", ("delete from {f}",), {}, (1, 2, 3, 4, 5)),
    Case("facts come back", ("insert into {f} values (1, 'b', 1), (2, 'nothing', 2), (3, null, 3)",), {1: "Bea", 2: None, 3: None}),
)  # fmt: skip


class TestOuterJoins:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        places = {"f": "{{ source('raw', 'facts') }}", "d": "{{ source('raw', 'dimension') }}"}
        config = "{{{{ config(materialized='materialized_view'{}) }}}}\n"
        return {
            **{f"{name}.sql": config.format(CONFIGS.get(name, "")) + sql.format(**places) for name, sql in VIEWS.items()},
            "sources.yml": """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [{name: facts}, {name: dimension}]
""",
        }  # fmt: skip

    def test_each_transition(self, project: Any, rows: Any) -> None:
        tables = {
            key: f"paimon.{project.test_schema}.{name}" for key, name in (("f", "facts"), ("d", "dimension"))
        }
        rows(f"create database if not exists paimon.{project.test_schema}")
        for statement in CREATE:
            rows(statement.format(**tables))
        run_dbt(["run"])
        expected = dict(START)
        assert rows("select * from {schema}.named order by id") == list(expected.items())
        for case in CASES:
            for statement in case.statements:
                rows(statement.format(**tables))
            results = run_dbt(["run"])
            expected = {key: name for key, name in (expected | case.names).items() if key not in case.gone}
            found = rows("select * from {schema}.named order by id")
            assert found == sorted(expected.items()), case.what
            for result in results:
                name = result.node.name
                wanted = Counter(rows(VIEWS[name].format(**tables)))
                assert Counter(rows(f"select * from {{schema}}.{name}")) == wanted, f"{case.what}: {name}"
                # A refresh of all rows would show nothing.
                words = result.adapter_response["refresh"]
                assert words.startswith("incremental"), f"{case.what}: {name}: {words}"
