"""Every aggregate function with the types it takes, in one table."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities.names import AGGREGATE_FUNCTIONS, names_at
from functional.conftest import CONNECTOR

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)")

# type -> (two values as SQL, the second of which is greater; the same values in Python)
ORDERED: dict[str, tuple[tuple[str, str], tuple[Any, Any]]] = {
    **dict.fromkeys(NUMBERS, (("2", "3"), (2, 3))),
    "string": (("'a'", "'b'"), ("a", "b")),
    "varchar(5)": (("'a'", "'b'"), ("a", "b")),
    "binary": (("x'01'", "x'02'"), (b"\x01", b"\x02")),
    "date": (
        ("date '2024-01-01'", "date '2024-01-02'"),
        (datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)),
    ),
    "timestamp": (
        ("timestamp '2024-01-01 00:00:00'", "timestamp '2024-01-02 00:00:00'"),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)),
    ),
    # These two differ by a microsecond.
    "timestamp_ntz": (
        ("timestamp_ntz '2024-01-01 00:00:00'", "timestamp_ntz '2024-01-01 00:00:00.000001'"),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, microsecond=1)),
    ),
}
NESTED = {
    "boolean": (("true", "false"), (True, False)),
    "array<int>": (("array(1)", "array(2)"), ([1], [2])),
    "map<string,int>": (("map('a', 1)", "map('b', 2)"), ({"a": 1}, {"b": 2})),
    "struct<a:int>": (("named_struct('a', 1)", "named_struct('a', 2)"), ((1,), (2,))),
}
ROWS = "array<struct<k:int,x:string>>"


@dataclass(frozen=True)
class Column:
    """A column with its function, the SQL of its values in the two messages, and the merged value."""

    function: str
    type: str
    values: tuple[str, str]
    left: Any
    settings: tuple[tuple[str, object], ...] = ()


def columns() -> list[Column]:
    """The columns for any version of Paimon; a column is named after its position."""
    found = [Column(f, kind, ("2", "3"), left) for f, left in (("sum", 5), ("product", 6)) for kind in NUMBERS]
    for kind, (sql, python) in ORDERED.items():
        found.append(Column("max", kind, (sql[1], sql[0]), python[1]))
        found.append(Column("min", kind, sql, python[0]))
    for kind, (sql, python) in ({"string": ORDERED["string"]} | NESTED).items():
        found.append(Column("last_value", kind, sql, python[1]))
        found.append(Column("last_non_null_value", kind, (sql[0], "null"), python[0]))
        found.append(Column("first_value", kind, sql, python[0]))
        found.append(Column("first_non_null_value", kind, ("null", sql[1]), python[1]))
    return [
        *found,
        Column("last_value", "int", ("1", "null"), None),
        Column("first_value", "int", ("null", "1"), None),
        Column("first_not_null_value", "int", ("null", "1"), 1),
        Column("listagg", "string", ("'a'", "'b'"), "a,b"),
        Column("listagg", "string", ("'a'", "'b'"), "a;b", (("list_agg_delimiter", ";"),)),
        Column("bool_and", "boolean", ("true", "false"), False),
        Column("bool_or", "boolean", ("false", "true"), True),
        Column("collect", "array<int>", ("array(1, 2)", "array(2, 3)"), [1, 2, 2, 3]),
        Column("collect", "array<int>", ("array(1, 2)", "array(2, 3)"), [1, 2, 3], (("distinct", True),)),
        Column("merge_map", "map<string,int>", ("map('a', 1, 'b', 1)", "map('b', 2)"), {"a": 1, "b": 2}),
        Column("nested_update", ROWS, (row(1, "a"), row(1, "b")), [(1, "a"), (1, "b")]),
        Column("nested_update", ROWS, (row(1, "a"), row(1, "b")), [(1, "b")], (("nested_key", "k"),)),
        *(Column(f, "binary", (hexed(a), hexed(b)), bytes.fromhex(left)) for f, (a, b, left) in SKETCHES.items()),
    ]


def row(key: int, text: str) -> str:
    return f"array(named_struct('k', {key}, 'x', '{text}'))"


def hexed(digits: str) -> str:
    return f"x'{digits}'"


# {1, 2} and {2, 3}, or {1, 2, 3} and {3, 4}, and their union, serialized by the libraries that Paimon uses: 32- and
# 64-bit org.roaringbitmap, and HLL (as Spark's hll_sketch_agg) and theta sketches of org.apache.datasketches.
BITS64 = "01010000000000000004000000000000000000000000000000000001000000fe010000000102"
END64 = "01" + "0" * 30
SKETCHES = {
    "rbm32": (
        "3a30000001000000000001001000000001000200",
        "3a30000001000000000001001000000002000300",
        "3a300000010000000000020010000000010002000300",
    ),
    "rbm64": (
        f"{BITS64}0200000001000200{END64}",
        f"{BITS64}0200000002000300{END64}",
        f"{BITS64}03000000010002000300{END64}",
    ),
    "hll_sketch": (
        "0201070c030003082bf2fb06862ff90d75816607",
        "0201070c030002087581660781bc5d06",
        "0201070c030804007581660781bc5d062bf2fb06862ff90d",
    ),
    "theta_sketch": (
        "02030300001acc93030000000000803f15f97dcbbd86a105c397fc1281709d1eba40b3c1da06695d",
        "02030300001acc93020000000000803f40de2ee1c9db3d08ba40b3c1da06695d",
        "02030300001acc93040000000000803f15f97dcbbd86a10540de2ee1c9db3d08c397fc1281709d1eba40b3c1da06695d",
    ),
}

# Since Paimon 1.4.
NEWER = [
    Column(
        "merge_map_with_keytime",
        "map<string,struct<v:int,t:string>>",
        (
            "map('a', named_struct('v', 1, 't', '2'))",
            "map('a', named_struct('v', 9, 't', '1'), 'b', named_struct('v', 2, 't', '1'))",
        ),
        {"a": (1, "2"), "b": (2, "1")},
        (("ts_field", "t"),),
    ),
    Column(
        "nested_partial_update",
        "array<struct<k:int,x:string,y:string>>",
        (
            "array(named_struct('k', 1, 'x', 'a', 'y', null))",
            "array(named_struct('k', 1, 'x', null, 'y', 'b'))",
        ),
        [(1, "a", "b")],
        (("nested_key", "k"),),
    ),
]
KNOWN = names_at(AGGREGATE_FUNCTIONS, CONNECTOR)
COLUMNS = {f"c{number}": column for number, column in enumerate(columns() + NEWER) if column.function in KNOWN}


def model() -> str:
    """The table's model, which writes both messages in one run, in order."""
    fields = {
        name: {"aggregate_function": column.function, **dict(column.settings)} for name, column in COLUMNS.items()
    }
    messages = " union all ".join(
        f"select 1 as id, {number} as message_no, "
        + ", ".join(f"cast({column.values[number]} as {column.type}) as {name}" for name, column in COLUMNS.items())
        for number in (0, 1)
    )
    return (
        "{{ config(materialized='table', primary_key='id', bucket=1, merge_engine='aggregation', "
        f"sequence_field='message_no', fields={fields!r}) }}}}\n{messages}"
    )


class TestFunctions:
    @pytest.fixture(scope="class")
    def models(self):
        return {"aggregated.sql": model()}

    @pytest.fixture(scope="class")
    def left(self, project, rows):
        run_dbt(["run"])
        (found,) = rows(f"select {', '.join(COLUMNS)} from {{schema}}.aggregated")
        return dict(zip(COLUMNS, found, strict=True))

    def test_every_function_is_here(self):
        assert {column.function for column in COLUMNS.values()} == set(KNOWN)

    @pytest.mark.parametrize("name", COLUMNS, ids=lambda name: f"{COLUMNS[name].function}-{COLUMNS[name].type}-{name}")
    def test_value(self, left, name):
        expected = COLUMNS[name].left
        value = left[name]
        if COLUMNS[name].type.startswith("decimal"):
            expected = Decimal(expected).quantize(Decimal("1.00"))
        assert (bytes(value) if isinstance(value, bytearray) else value) == expected

    def test_a_sketch_is_read_by_spark(self, left, rows):
        name = next(name for name, column in COLUMNS.items() if column.function == "hll_sketch")
        assert rows(f"select hll_sketch_estimate({name}) from {{schema}}.aggregated") == [(4,)]
