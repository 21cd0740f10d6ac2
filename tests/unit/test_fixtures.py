"""Rows of dbt unit tests as SQL, and values that are refused before Spark runs."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.sql.plain_values import surely_fits
from dbt.adapters.paimon.writing import fixtures

TYPES = {"id": "bigint", "t": "tinyint", "name": "varchar(3)"}


def test_columns_have_the_order_of_the_relation() -> None:
    row = fixtures.row_sql({"NAME": "longer", "Id": 1}, TYPES, "'m'")
    assert list(row.items()) == [("id", "cast(1 as bigint)"), ("name", "cast('longer' as varchar(3))")]


def test_a_column_that_is_null_in_its_view() -> None:
    assert fixtures.row_sql({"legacy": "x"}, {"legacy": "void"}, "'m'") == {"legacy": "cast('x' as string)"}


def test_unknown_column() -> None:
    with pytest.raises(CompilationError, match="Invalid column name: 'x' in unit test fixture for 'm'"):
        fixtures.row_sql({"x": 1}, TYPES, "'m'")


def test_each_row_has_the_columns_of_the_first() -> None:
    fixtures.check_names({"ID": 1, "t": 2}, {"t": 1, "id": 0}, "u")
    with pytest.raises(CompilationError, match="unit test 'u': expect: one row has the columns t, a different one id"):
        fixtures.check_names({"t": 1}, {"id": 0}, "u")


@pytest.mark.parametrize(
    ("value", "data_type", "sql"),
    [
        (-128, "tinyint", "cast(-128 as tinyint)"),
        (2.0, "int", "cast(2 as int)"),
        (" 7 ", "smallint", "cast(7 as smallint)"),
        ("1e3", "bigint", "cast(1000 as bigint)"),
        (True, "int", "cast(1 as int)"),
        (1.5, "double", "cast('1.5' as double)"),
        ("99.99", "decimal(4,2)", "cast('99.99' as decimal(4,2))"),
        ("2024-02-29", "date", "cast('2024-02-29' as date)"),
        (None, "tinyint", "cast(null as tinyint)"),
        (" ", "date", "cast(null as date)"),
        ("null", "int", "cast(null as int)"),
        ("null", "string", "cast('null' as string)"),
        ([1, None], "array<tinyint>", "array(cast(1 as tinyint), cast(null as tinyint))"),
    ],
)
def test_values_that_surely_fit(value: Any, data_type: str, sql: str) -> None:
    assert fixtures.cell_sql(value, data_type, "here") == sql


@pytest.mark.parametrize("value", [300, -129, 1.5, "abc", "1_0", "1e99999999", "NaN", "Infinity", float("inf")])
@pytest.mark.parametrize("nested", [False, True])
def test_integers_that_do_not_fit(value: Any, nested: bool) -> None:
    with pytest.raises(CompilationError, match=r"here: '.*' is not a valid tinyint"):
        fixtures.cell_sql({"a": value} if nested else value, "struct<a:tinyint>" if nested else "tinyint", "here")


@pytest.mark.parametrize(
    ("value", "data_type"),
    [
        (100, "decimal(4,2)"),
        ("1.005", "decimal(4,2)"),
        ("1.005", "decimal(38,2)"),
        ("2024-02-30", "date"),
        (20240101, "date"),
        ("2024-02-29 24:00:00", "timestamp"),
        ("noon", "timestamp_ntz"),
        (16777217, "float"),
        (1e300, "double"),
        ("array(300)", "array<tinyint>"),
    ],
)
def test_other_values_are_checked_by_spark(value: Any, data_type: str) -> None:
    sql = fixtures.cell_sql(value, data_type, "here")
    assert "raise_error('here: " in sql


@pytest.mark.parametrize(
    ("text", "data_type", "fits"),
    [
        ("2024-02-29 23:59:59.123456", "timestamp_ntz", True),
        ("2023-02-29", "date", False),
        ("123456789012345", "double", True),
        ("1234567890123456", "double", False),
        ("9223372036854775807", "bigint", True),
        ("9223372036854775808", "bigint", False),
        ("0.1", "float", False),
    ],
)
def test_surely_fits(text: str, data_type: str, fits: bool) -> None:
    assert surely_fits(text, data_type) is fits
