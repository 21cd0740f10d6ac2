"""After each run, a materialized view has exactly the rows of its query, and says how it was refreshed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from dbt.tests.util import run_dbt

# name -> query
VIEWS = {
    "filtered": "select id, carrier, delay * 2 as twice from {f} where delay > 10",
    "star": """
        with flights as (select * from {f}), carriers as (select carrier, name as carrier_name from {c})
        select f.*, c.carrier_name, s.status
        from flights as f
        inner join carriers as c on c.carrier = f.carrier
        left join {s} as s on s.id = f.id
    """,
    "renamed": "select f.id as flight_id, c.name from {f} f left join {c} c using (carrier)",
    "by_carrier": """
        select c.name, count(*) as flights, sum(f.delay) as delay, count(distinct f.day) as days
        from {f} f left join {c} c on c.carrier = f.carrier group by c.name
    """,
    "by_key": "select id, max(delay) as delay from {f} group by id",
    "busy": "select carrier, day, count(*) as n from {f} group by 1, 2 having count(*) > 1 order by 1",
    "distinct_carriers": "select distinct carrier, day from {f}",
    "both": "select 'f' as kind, id, carrier from {f} union all select 's', id, status from {s}",
    "log": "select id, upper(text) as text from {a} where text is not null",
    "log_by_text": "select text, count(*) as n from {a} group by text",
    "in_words": """
        select id, text as word from {a} union all
        select f.id, w.word from {f} as f left join {w} as w on w.text = f.carrier
    """,
}
SOURCES = {"f": "flights", "c": "carriers", "s": "status", "a": "log_lines", "w": "words"}
CREATE = (
    "create table {f} (id int, carrier string, day date, delay int) tblproperties ('primary-key' = 'id', 'bucket' = '2')",
    "create table {c} (carrier string, name string) tblproperties ('primary-key' = 'carrier', 'bucket' = '1')",
    "create table {s} (id int, status string) tblproperties ('primary-key' = 'id', 'bucket' = '1')",
    "create table {a} (id int, text string)",
    "create table {w} (text string, word string) tblproperties ('primary-key' = 'text', 'bucket' = '1')",
    """insert into {f} select cast(id as int), concat('c', id % 5), date_add(date'2024-01-01', cast(id % 7 as int)),
       cast(id % 40 as int) from range(200)""",
    "insert into {c} values ('c0', 'Zero'), ('c1', 'One'), ('c2', null), ('c3', 'One')",
    "insert into {s} select cast(id as int), concat('s', id % 3) from range(0, 200, 2)",
    "insert into {a} values (1, 'a'), (2, null), (3, 'b')",
)
# Step -> (its statements, view -> how the message of its refresh begins)
STEPS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "nothing": ((), dict.fromkeys(VIEWS, "none, no source has changed")),
    "updates": (
        ("insert into {f} values (1, 'c2', date'2024-01-02', 99), (300, 'c4', date'2024-02-01', 1)",),
        {
            "star": "incremental, 2 of about 202 keys",
            "by_key": "incremental, 2 of about 200 groups",
            "log": "none, no source has changed",
        },
    ),
    "deletes": (("delete from {f} where id in (5, 6)",), {"star": "incremental, 2 of"}),
    "carriers are added, deleted and changed": (
        ("insert into {c} values ('c4', 'Four'), ('c0', 'Nil')", "delete from {c} where carrier = 'c3'"),
        {"star": "incremental, 120 of", "filtered": "none, no source has changed"},
    ),
    "both sides": (
        (
            "insert into {f} values (7, 'c0', null, null), (8, null, date'2024-01-02', 20)",
            "delete from {s} where id = 8",
            "insert into {s} values (7, 'new')",
            "insert into {c} values ('c0', 'Again')",
        ),
        {},
    ),
    "log lines": (
        ("insert into {a} values (4, 'a'), (5, null), (6, 'c')",),
        {"log": "incremental, 3 rows added"},
    ),
    "the first words": (("insert into {w} values ('c1', 'one')",), {"in_words": "full: the driving table"}),
    "an overwrite": (
        ("insert overwrite {f} select id, carrier, day, if(id < 50, delay + 1, delay) from {f} where id <> 9",),
        {"star": "incremental, 47 of about"},
    ),
    "a deleted log line": (
        ("delete from {a} where id = 1",),
        {"log": "full: the driving table", "log_by_text": "incremental"},
    ),
}


def said(results: Any) -> dict[str, str]:
    return {each.node.name: each.adapter_response.get("refresh") for each in results}


class TestRefresh:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        places = {key: f"{{{{ source('raw', '{name}') }}}}" for key, name in SOURCES.items()}
        sources = "\n".join(f"          - name: {name}" for name in SOURCES.values())
        return {
            **{
                f"{name}.sql": "{{ config(materialized='materialized_view') }}\n" + sql.format(**places)
                for name, sql in VIEWS.items()
            },
            "sources.yml": f"""
sources:
  - name: raw
    schema: "{{{{ target.schema }}}}"
    tables:
{sources}
""",
        }

    def test_each_view_is_its_query_after_each_step(self, project: Any, rows: Any) -> None:
        tables = {key: f"paimon.{project.test_schema}.{name}" for key, name in SOURCES.items()}
        rows(f"create database if not exists paimon.{project.test_schema}")
        for statement in CREATE:
            rows(statement.format(**tables).replace("{", "{{").replace("}", "}}"))
        self.check(rows, tables, run_dbt(["run"]), dict.fromkeys(VIEWS, "full: first run"), "first")
        for step, (statements, expected) in STEPS.items():
            for statement in statements:
                rows(statement.format(**tables))
            self.check(rows, tables, run_dbt(["run"]), expected, step)

    def check(self, rows: Any, tables: dict[str, str], results: Any, expected: dict[str, str], step: str) -> None:
        words = said(results)
        print(step, words)
        for name, sql in VIEWS.items():
            wanted = Counter(rows(sql.format(**tables)))
            assert Counter(rows(f"select * from {{schema}}.{name}")) == wanted, f"{step}: {name}: {words[name]}"
        for name, start in expected.items():
            assert (words[name] or "").startswith(start), f"{step}: {name}: {words[name]}"
