"""Unit tests with every type of Spark, with given and expected rows in YAML."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# Type -> (value in SQL, the same value in YAML, another value in YAML that must fail the unit test)
TYPES = {
    "boolean": ("true", "true", "false"),
    "tinyint": ("cast(-128 as tinyint)", "-128", "127"),
    "smallint": ("cast(-32768 as smallint)", "-32768", "1"),
    "int": ("-2147483648", "-2147483648", "1"),
    "bigint": ("9223372036854775807", "9223372036854775807", "9223372036854775806"),
    "float": ("cast(1.5 as float)", "1.5", "2.5"),
    "double": ("1.1e300D", "1.1e300", "1.2e300"),
    "decimal(38,10)": (
        "1234567890123456789012345678.0123456789BD",
        "'1234567890123456789012345678.0123456789'",
        "'1234567890123456789012345678.0123456788'",
    ),
    "string": ("'it\\'s a \\\\ \\t tab\\n日本'", '"it\'s a \\\\ \\t tab\\n日本"', "its"),
    "varchar(5)": ("cast('short' as varchar(5))", "short", "long"),
    "char(3)": ("cast('abc' as char(3))", "abc", "abd"),
    "binary": ("cast('ab' as binary)", "ab", "abc"),
    "date": ("date '0001-01-01'", "'0001-01-01'", "'0001-01-02'"),
    "timestamp": ("timestamp '2024-02-29 23:59:59.123456'", "'2024-02-29 23:59:59.123456'", "'2024-02-29'"),
    "timestamp_ntz": (
        "timestamp_ntz '2024-02-29 23:59:59.123456'",
        "2024-02-29 23:59:59.123456",
        "2024-02-29 23:59:59.123457",
    ),
    "interval day to second": ("interval '1 02:03:04.5' day to second", "'1 02:03:04.5'", "'1 02:03:04.6'"),
    "interval year to month": ("interval '1-2' year to month", "'1-2'", "'1-3'"),
    "array<int>": ("array(1, null, 3)", "[1, null, 3]", "[3, null, 1]"),
    "array<string>": ("array('a', 'it\\'s')", '[a, "it\'s"]', "[a]"),
    "map<string,decimal(10,2)>": ("map('a', 1.50BD, 'b', null)", "{a: 1.5, b: null}", "{a: 1.6, b: null}"),
    "map<int,string>": ("map(1, 'x')", "{1: x}", "{}"),
    "struct<a:int,b:array<struct<c:date>>>": (
        "named_struct('a', 1, 'b', array(named_struct('c', date '2024-01-01')))",
        "{a: 1, b: [{c: '2024-01-01'}]}",
        "{a: 1, b: []}",
    ),
}
COLUMNS = {data_type: f"c{number}" for number, data_type in enumerate(TYPES)}
HEAD = """
  - name: {name}
    model: seen
    given:
      - input: ref('given')
        rows:
          - {given}
          - {{c0: null}}
    expect:
      rows:
"""


def row(values):
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"


def unit_tests():
    """Two tests that all values arrive unchanged, and one per type that expects another value and must fail."""
    given = row({COLUMNS[data_type]: value for data_type, (_, value, _) in TYPES.items()})
    nothing = row(dict.fromkeys(COLUMNS.values(), "null"))
    same = row({f"same_{name}": "true" for name in COLUMNS.values()})
    lines = [HEAD.format(name="all", given=given) + f"        - {given}\n        - {nothing}"]
    lines.append(HEAD.format(name="same", given=given).replace("          - {c0: null}\n", "") + f"        - {same}")
    for data_type, (_, _, other) in TYPES.items():
        expected = row({COLUMNS[data_type]: other})
        lines.append(
            HEAD.format(name=COLUMNS[data_type], given=given)
            + f"        - {expected}\n        - {row({COLUMNS[data_type]: 'null'})}"
        )
    return "unit_tests:" + "".join(lines)


class TestTypes:
    @pytest.fixture(scope="class")
    def models(self):
        given = [f"cast({sql} as {data_type}) as {COLUMNS[data_type]}" for data_type, (sql, _, _) in TYPES.items()]
        # The model compares its values in SQL, as text, because maps cannot be compared.
        same = [
            f"cast({name} as string) <=> cast(cast({TYPES[data_type][0]} as {data_type}) as string) as same_{name}"
            for data_type, name in COLUMNS.items()
        ]
        return {
            "given.sql": f"select {', '.join(given)}",
            "seen.sql": f"select *, {', '.join(same)} from {{{{ ref('given') }}}}",
            "unit.yml": unit_tests(),
        }

    def test_types(self, project):
        run_dbt(["run", "--select", "given"])
        results = run_dbt(["test", "--select", "seen"], expect_pass=False)
        statuses = {r.node.name: str(r.status) for r in results}
        assert statuses == {"all": "pass", "same": "pass"} | dict.fromkeys(COLUMNS.values(), "fail")
