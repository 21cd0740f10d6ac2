"""YAML values as typed SQL."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.literals import safe_cast, some_value, typed_value


@pytest.mark.parametrize(
    ("field", "data_type", "sql"),
    [
        ("1", "int", "try_cast(1 as int)"),
        ("null", "array<int>", "try_cast(null as array<int>)"),
        ("a.b", "struct<c:int>", "try_cast(a.b as struct<c:int>)"),
        (r"'it\'s'", "string", r"try_cast('it\'s' as string)"),
        ("'array(1, 2)'", "array<int>", "try_cast(array(1, 2) as array<int>)"),
        (r"'array(\'it\\\'s\')'", "array<string>", r"try_cast(array('it\'s') as array<string>)"),
        ("array('x', 'y')", "array<string>", "try_cast(array('x', 'y') as array<string>)"),
        (7, "decimal(10,2)", "try_cast(7 as decimal(10,2))"),
        (True, "boolean", "try_cast(true as boolean)"),
        (None, "int", "cast(null as int)"),
        ("x", "varchar(3)", "if(length(cast(x as string)) <= 3, try_cast(x as varchar(3)), null)"),
        ("x", "CHAR (3)", "if(length(rtrim(cast(x as string))) <= 3, try_cast(x as CHAR (3)), null)"),
        ("x", "character(3)", "if(length(rtrim(cast(x as string))) <= 3, try_cast(x as character(3)), null)"),
    ],
)
def test_safe_cast(field: Any, data_type: str, sql: str) -> None:
    assert safe_cast(field, data_type) == sql


@pytest.mark.parametrize(
    ("value", "data_type", "sql"),
    [
        (None, "map<int,int>", "cast(null as map<int,int>)"),
        (float("nan"), "double", "cast('nan' as double)"),
        (dt.date(2024, 2, 29), "date", "cast('2024-02-29' as date)"),
        ("it's", "string", r"cast('it\'s' as string)"),
        ([], "array<int>", "cast(array() as array<int>)"),
        ({"a:b, c": 1}, "struct<`a:b, c`:int>", "named_struct('a:b, c', cast(1 as int))"),
        ([1, None], "array<int>", "array(cast(1 as int), cast(null as int))"),
        ([[1]], "array<array<int>>", "array(array(cast(1 as int)))"),
        ({}, "map<int,string>", "cast(map() as map<int,string>)"),
        (
            {1: ["x"]},
            "map<int,array<decimal(10,2)>>",
            "map(cast(1 as int), array(cast('x' as decimal(10,2))))",
        ),
        (
            {"B": {"c": 1.5}},
            "struct<a:map<int,int>,b:struct<c:decimal(10,2)>>",
            "named_struct('a', cast(null as map<int,int>), 'b', named_struct('c', cast(1.5 as decimal(10,2))))",
        ),
        (["array(1)"], "array<array<int>>", "array(cast(array(1) as array<int>))"),
    ],
)
def test_typed_value(value: Any, data_type: str, sql: str) -> None:
    assert typed_value(value, data_type) == sql


@pytest.mark.parametrize(
    ("value", "data_type", "said"),
    [
        ([1], "int", "[1] does not have the shape of int"),
        ({"a": 1}, "array<int>", "does not have the shape of array<int>"),
        ([1], "map<int,int>", "does not have the shape of map<int,int>"),
        (1, "array<int>", "does not have the shape of array<int>"),
        ({"z": 1, "a": 2}, "struct<a:int>", "struct<a:int> has no field z"),
    ],
)
def test_refused(value: Any, data_type: str, said: str) -> None:
    with pytest.raises(DbtRuntimeError, match=said.replace("[", r"\[")):
        typed_value(value, data_type)


@pytest.mark.parametrize(
    ("data_type", "sql"),
    [
        ("string", "cast('' as string)"),
        ("varchar(3)", "cast('' as varchar(3))"),
        ("decimal(10,2)", "cast(0 as decimal(10,2))"),
        ("boolean", "cast(false as boolean)"),
        ("timestamp_ntz", "cast('1970-01-01' as timestamp_ntz)"),
        ("array<map<string,int>>", "cast(array() as array<map<string,int>>)"),
        ("map<string,int>", "cast(map() as map<string,int>)"),
        ("struct<a:int>", "named_struct('a', cast(null as int))"),
    ],
)
def test_some_value(data_type: str, sql: str) -> None:
    assert some_value(data_type) == sql
