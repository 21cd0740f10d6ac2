"""Values are written so that Paimon finds, merges and reads them as Spark does."""

import pytest

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.sql.type_trees import type_tree
from dbt.adapters.paimon.writing.stored_values import null_around_struct, stored

V09 = Versions.of("0.9.0")
DISTINCT = {"fields.v.aggregate-function": "collect", "fields.v.distinct": "true"}


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("double", {}, "v + 0D"),
        ("float", {}, "v + 0F"),
        ("decimal(10,2)", {}, "v"),
        ("int", {}, "v"),
        ("array<int>", DISTINCT, "array_distinct(v)"),
        ("array<map<int,int>>", DISTINCT, "v"),
        ("array<int>", {"fields.v.aggregate-function": "collect"}, "v"),
        ("string", {"fields.v.aggregate-function": "listagg", "fields.v.distinct": "true"}, "v"),
    ],
)
def test_stored(kind, options, expected):
    assert stored("v", type_tree(kind), "v", options, V09) == expected


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("int", ""),
        ("struct<a:int,b:array<int>>", ""),
        ("array<struct<a:int>>", ""),
        ("struct<a:array<struct<x:int>>>", ""),
        ("struct<a:struct<x:int>>", "(v is null)"),
        ("array<struct<a:struct<x:int>>>", "exists(v, __dbt_0 -> (__dbt_0 is null))"),
        ("map<int,struct<a:struct<x:int>>>", "(exists(map_values(v), __dbt_0 -> (__dbt_0 is null)))"),
        ("struct<a:struct<b:struct<x:int>>>", "(v is null or (v.`a` is null))"),
    ],
)
def test_a_null_around_a_struct(kind, condition):
    assert null_around_struct("v", type_tree(kind)) == condition
