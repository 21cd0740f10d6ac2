"""The column types that each aggregate function accepts, as in Paimon's FieldAggregators."""

import pytest
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.names import AGGREGATE_FUNCTIONS
from dbt.adapters.paimon.options.table_options import check_aggregate_function
from dbt.adapters.paimon.spec.column_rules import check_columns
from dbt.adapters.paimon.spec.problems import ConfigErrors

NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)"}
ORDERED = NUMBERS | {"string", "varchar(5)", "char(5)", "binary", "date", "timestamp", "timestamp_ntz"}
ROWS = {"array<struct<k:int,x:string>>"}
TIMED_MAPS = {"map<string,struct<x:int,at:bigint>>"}
MAPS = {"map<string,int>"} | TIMED_MAPS
TYPES = ORDERED | ROWS | MAPS | {"boolean", "array<int>", "struct<a:int>"}

TAKES = {
    "sum": NUMBERS,
    "product": NUMBERS,
    "max": ORDERED,
    "min": ORDERED,
    "last_value": TYPES,
    "last_non_null_value": TYPES,
    "first_value": TYPES,
    "first_non_null_value": TYPES,
    "first_not_null_value": TYPES,
    "listagg": {"string", "varchar(5)"},
    "bool_and": {"boolean"},
    "bool_or": {"boolean"},
    "collect": {"array<int>"} | ROWS,
    "merge_map": MAPS,
    "nested_update": ROWS,
    "theta_sketch": {"binary"},
    "hll_sketch": {"binary"},
    "rbm32": {"binary"},
    "rbm64": {"binary"},
    "merge_map_with_keytime": TIMED_MAPS,
    "nested_partial_update": ROWS,
}


def test_every_function_is_here():
    assert set(TAKES) == set(AGGREGATE_FUNCTIONS)


@pytest.mark.parametrize("version", ["0.9.0", "1.4.2", "2.0.0"])
@pytest.mark.parametrize("function", TAKES)
def test_types(function, version):
    if check_aggregate_function(function, version):
        assert version == "0.9.0"
        assert AGGREGATE_FUNCTIONS[function] == "1.4"
        return
    expected = set(TAKES[function])
    if function == "listagg" and version != "0.9.0":
        expected.remove("varchar(5)")
    assert {kind for kind in TYPES if taken(function, kind, version)} == expected


def taken(function: str, kind: str, version: str) -> bool:
    """Whether a column of this type may have the function, checked without SQL."""
    settings = {"aggregate_function": function}
    if function == "nested_partial_update":
        settings["nested_key"] = "k"
    config = {"primary_key": "id", "merge_engine": "aggregation", "fields": {"v": settings}}
    versions = Versions.of(version)
    spec = table_spec(config, model="m", versions=versions)
    try:
        check_columns(spec, (("id", "int"), ("v", kind)), config=config, model="m", versions=versions)
    except ConfigErrors:
        return False
    return True
