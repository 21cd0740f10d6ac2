"""Each way in which a row of an outer join gets, changes or loses its match (Larson and Zhou, 2007), step by step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
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
    # Like by_name, but its group can be a primary key because it is never NULL.
    "by_text": f"select coalesce(d.name, 'none') as name, sum(f.v) as total, min(f.k) as first {JOINED} group by 1",
    "common": f"select d.name, count(*) as n {JOINED} group by d.name having count(*) > 1",
}
CONFIGS = {"by_text": ", primary_key='name'"}
CREATE = (
    "create table {f} (id int, k string, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1')",
    "create table {d} (k string, name string) tblproperties ('primary-key' = 'k', 'bucket' = '1')",
)
# A set of facts and their dimension; {w} is the number of the set, which is part of all its ids, keys and names.
FILL = (
    "insert into {f} values ({w}1, 'a{w}', 10), ({w}2, 'b{w}', 20), ({w}3, null, 30), ({w}4, 'x{w}', 40), ({w}5, 'a{w}', 50)",
    "insert into {d} values ('a{w}', 'Ann{w}'), ('b{w}', 'Bob{w}'), ('c{w}', 'Cid{w}')",
)
START: Names = {1: "Ann", 2: "Bob", 3: None, 4: None, 5: "Ann"}


@dataclass(frozen=True)
class Case:
    """What happens between two refreshes.

    Attributes:
        what: the name of the case.
        statements: the changes of the facts and of the dimension.
        names: the names that change, by fact; those of all other facts stay.
        gone: the facts that are deleted.
    """

    what: str
    statements: tuple[str, ...]
    names: Names = field(default_factory=dict)
    gone: tuple[int, ...] = ()


# Changes of the first set, while it is the only one. Each case continues from the previous case.
WHOLE_TABLES = (
    Case("all matches are deleted", ("delete from {d}",), {1: None, 2: None, 5: None}),
    Case("matches are inserted again", ("insert into {d} values ('a{w}', 'Abe{w}'), ('b{w}', 'Bea{w}')",), {1: "Abe", 2: "Bea", 5: "Abe"}),
    Case("no fact is without a match", ("insert into {f} values ({w}3, 'b{w}', 30), ({w}4, 'b{w}', 40)",), {3: "Bea", 4: "Bea"}),
    Case("all facts are deleted", ("delete from {f}",), {}, (1, 2, 3, 4, 5)),
    Case("facts are inserted again", ("insert into {f} values ({w}1, 'b{w}', 1), ({w}2, 'nothing', 2), ({w}3, null, 3)",), {1: "Bea", 2: None, 3: None}),
)  # fmt: skip
# Each inner tuple has its own set, which begins as START. One refresh tests the next case of every tuple.
CASES = (
    (
        Case("a match appears", ("insert into {d} values ('x{w}', 'Xen{w}')",), {4: "Xen"}),
        Case("a match gets the name of another match", ("insert into {d} values ('a{w}', 'Xen{w}')",), {1: "Xen", 5: "Xen"}),
        Case("a match changes to NULL", ("insert into {d} values ('a{w}', null)",), {1: None, 5: None}),
        Case("a match of NULL gets a name", ("insert into {d} values ('a{w}', 'Abe{w}')",), {1: "Abe", 5: "Abe"}),
    ),
    (
        Case("a match disappears", ("delete from {d} where k = 'b{w}'",), {2: None}),
        Case("a match changes", ("insert into {d} values ('a{w}', 'Amy{w}')",), {1: "Amy", 5: "Amy"}),
        Case("a row that matches no fact is inserted", ("insert into {d} values ('q{w}', 'Quy{w}')",)),
        Case("a foreign key becomes NULL", ("insert into {f} values ({w}1, null, 10)",), {1: None}),
    ),
    (
        Case("a foreign key is no longer NULL", ("insert into {f} values ({w}3, 'b{w}', 30)",), {3: "Bob"}),
        Case("a foreign key changes to one without a match", ("insert into {f} values ({w}2, 'y{w}', 20)",), {2: None}),
        Case("a foreign key changes from one without a match to another", ("insert into {f} values ({w}2, 'w{w}', 20)",)),
        Case("a match is inserted and deleted", ("insert into {d} values ('w{w}', 'Wil{w}')", "delete from {d} where k = 'w{w}'")),
    ),
    (
        Case("a foreign key changes to another match", ("insert into {f} values ({w}5, 'c{w}', 50)",), {5: "Cid"}),
        Case("both sides change at once", ("insert into {f} values ({w}5, 'a{w}', 51)", "insert into {d} values ('a{w}', 'Ada{w}'), ('c{w}', 'Cem{w}')"), {1: "Ada", 5: "Ada"}),
        Case("a fact moves to a match that is deleted", ("insert into {f} values ({w}2, 'c{w}', 20)", "delete from {d} where k = 'c{w}'"), {2: None}),
        Case("a fact moves away from a match that changes", ("insert into {f} values ({w}5, 'b{w}', 50)", "insert into {d} values ('a{w}', 'Ana{w}')"), {1: "Ana", 5: "Bob"}),
    ),
    (
        Case("both sides are inserted at once", ("insert into {f} values ({w}6, 'z{w}', 60)", "insert into {d} values ('z{w}', 'Zoe{w}')"), {6: "Zoe"}),
        Case("both sides are deleted at once", ("delete from {f} where id = {w}6", "delete from {d} where k = 'z{w}'"), {}, (6,)),
        Case("a fact is inserted and deleted", ("insert into {f} values ({w}7, 'a{w}', 70)", "delete from {f} where id = {w}7")),
        Case("a fact is deleted and inserted with another key", ("delete from {f} where id = {w}5", "insert into {f} values ({w}5, 'x{w}', 50)"), {5: None}),
    ),
    (
        Case("a match is deleted and inserted unchanged", ("delete from {d} where k = 'a{w}'", "insert into {d} values ('a{w}', 'Ann{w}')")),
        Case("a match is deleted and inserted with another name", ("delete from {d} where k = 'a{w}'", "insert into {d} values ('a{w}', 'Xia{w}')"), {1: "Xia", 5: "Xia"}),
        Case("a fact moves away from a match that is deleted", ("insert into {f} values ({w}5, 'b{w}', 50)", "delete from {d} where k = 'a{w}'"), {1: None, 5: "Bob"}),
    ),
)  # fmt: skip
Step = dict[int, Case]
STEPS: tuple[Step, ...] = (
    *({1: case} for case in WHOLE_TABLES),
    {number: Case("new facts and a new dimension", FILL, START) for number in range(2, len(CASES) + 2)},
    *({number: case for number, case in enumerate(cases, 2) if case} for cases in zip_longest(*CASES)),
)


@pytest.mark.full
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
        tables = {key: f"paimon.{project.test_schema}.{name}" for key, name in (("f", "facts"), ("d", "dimension"))}
        rows(f"create database if not exists paimon.{project.test_schema}")
        for statement in (*CREATE, *FILL):
            rows(statement.format(**tables, w=1))
        run_dbt(["run"])
        expected = numbered(1, START)
        assert rows("select * from {schema}.named order by id") == list(expected.items())
        for step in STEPS:
            for number, case in step.items():
                for statement in case.statements:
                    rows(statement.format(**tables, w=number))
                expected |= numbered(number, case.names)
                for gone in case.gone:
                    del expected[int(f"{number}{gone}")]
            results = run_dbt(["run"])
            what = {number: case.what for number, case in step.items()}
            found = rows("select * from {schema}.named order by id")
            assert found == sorted(expected.items()), what
            for result in results:
                name = result.node.name
                wanted = Counter(rows(VIEWS[name].format(**tables)))
                assert Counter(rows(f"select * from {{schema}}.{name}")) == wanted, f"{what}: {name}"
                # A full refresh would prove nothing.
                words = result.adapter_response["refresh"]
                assert words.startswith("incremental"), f"{what}: {name}: {words}"


def numbered(number: int, names: Names) -> Names:
    return {int(f"{number}{fact}"): name and f"{name}{number}" for fact, name in names.items()}
