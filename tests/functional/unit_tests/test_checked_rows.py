"""Rows of unit tests: a value that its column cannot hold is an error, and columns are matched by name."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

GIVEN = """
select 1 as id, cast(1 as tinyint) as t, cast(1 as decimal(4,2)) as d, date'2024-01-01' as day,
  timestamp'2024-01-01' as ts, cast(1 as float) as f, true as b, 'x' as s,
  array(cast(1 as tinyint)) as a, named_struct('t', cast(1 as tinyint)) as st
"""
HELD = (
    "t: 127, d: 99.99, day: 2024-02-29, ts: 2024-02-29 23:59:59.123456, f: 1.1, b: 1, s: 300, a: [127, null], st: {t: 5}",
    "t: 2.0, d: '1e1', day: '2024-02-29 12:00', ts: '2024-02-29T23:59:59+02:00', f: 1e38, b: 'false', s: true,"
    " a: 'array(cast(-128 as tinyint))', st: {t: true}",
)
# (column, a YAML value that the column cannot hold)
REFUSED = (
    ("t", "300"), ("d", "1.005"), ("day", "'2024-02-30'"), ("ts", "noon"), ("f", "1e39"), ("a", "[300]"),
    ("a", "'array(300)'"), ("st", "{t: 300}"),
)  # fmt: skip

HEAD = """
  - name: {name}
    model: seen
    given:
      - input: ref('given')
        {given}
    expect:
      {expect}
"""


def rows(*texts: str) -> str:
    return f"rows: [{', '.join('{' + text + '}' for text in texts)}]"


# Name -> (given, expect, status, part of the message)
TESTS = {
    "held": (rows(*HELD), rows(*HELD), "pass", ""),
    **{
        f"given_{n}": (rows(f"{c}: {v}"), rows(f"{c}: null"), "error", f"'given': column {c}: ")
        for n, (c, v) in enumerate(REFUSED)
    },
    **{
        f"expect_{c}": (rows(f"{c}: null"), rows(f"{c}: {v}"), "error", f"expected output: column {c}: ")
        for c, v in REFUSED[:3]
    },
    "order": (rows("id: 1, t: 2", "t: 4, id: 3"), rows("id: 1, t: 2", "t: 4, id: 3"), "pass", ""),
    "other_order": (rows("id: 1, t: 2", "id: 3, t: 4"), rows("id: 1, t: 2", "t: 3, id: 4"), "fail", ""),
    "other_columns": (rows("id: 1"), rows("id: 1", "t: 2"), "error", "Give each row the same columns"),
}


def unit_tests() -> str:
    tests = [HEAD.format(name=name, given=given, expect=expect) for name, (given, expect, _, _) in TESTS.items()]
    in_csv = HEAD.format(
        name="csv",
        given='format: csv\n        rows: "t,day,s\\n300,2024-01-01,x"',
        expect='format: csv\n      rows: "t\\n44"',
    )
    good_csv = HEAD.format(
        name="good_csv",
        given='format: csv\n        rows: "t,day,s\\n3,2024-01-01,x\\n,,"',
        expect='format: csv\n      rows: "day,t\\n2024-01-01,3\\n,"',
    )
    in_sql = HEAD.format(
        name="sql",
        given='format: sql\n        rows: "select 300 as t"',
        expect='format: sql\n      rows: "select 300 as t"',
    )
    return "unit_tests:" + "".join([*tests, in_csv, good_csv, in_sql])


class TestCheckedRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "given.sql": GIVEN,
            "seen.sql": "select * from {{ ref('given') }}",
            "unit.yml": unit_tests(),
        }

    def test_rows(self, project):
        run_dbt(["run", "--select", "given"])
        results = {r.node.name: r for r in run_dbt(["test", "--select", "seen"], expect_pass=False)}
        expected = {name: status for name, (_, _, status, _) in TESTS.items()}
        statuses = {name: str(result.status) for name, result in results.items()}
        assert statuses == expected | {"csv": "error", "good_csv": "pass", "sql": "pass"}
        for name, (_, _, _, message) in TESTS.items():
            found = results[name].message or ""
            # Spark 4 itself refuses such a cast.
            assert message in found or (VERSIONS.spark.major >= 4 and "due to an overflow" in found), name
        assert "column t: '300' is not a valid tinyint" in results["csv"].message
