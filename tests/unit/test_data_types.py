"""Paimon's types, as its schema files write them, converted to Spark's types."""

import pytest

from dbt.adapters.paimon.sql.data_types import (
    field_names,
    is_nullable,
    kept_type,
    to_spark_type,
    type_text,
    typed_nulls,
)


@pytest.mark.parametrize(
    ("paimon", "spark"),
    [
        ("INT NOT NULL", "int"),
        ("DECIMAL(10, 2)", "decimal(10,2)"),
        ("VARCHAR(5) NOT NULL", "varchar(5)"),
        ("STRING", "string"),
        ("BYTES", "binary"),
        ("BINARY(3)", "binary"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamp"),
        ("TIMESTAMP(3) NOT NULL", "timestamp_ntz"),
        ({"type": "ARRAY NOT NULL", "element": "INT"}, "array<int>"),
        ({"type": "MAP", "key": "STRING NOT NULL", "value": "DOUBLE"}, "map<string,double>"),
        ({"type": "ROW", "fields": [{"id": 1, "name": "a", "type": "BIGINT"}]}, "struct<a:bigint>"),
        ({"type": "ROW", "fields": [{"id": 1, "name": "a`:b", "type": "INT"}]}, "struct<`a``:b`:int>"),
    ],
)
def test_to_spark_type(paimon, spark):
    assert to_spark_type(paimon) == spark


@pytest.mark.parametrize(
    ("paimon", "kept"),
    [
        ("TIMESTAMP(6)", ""),
        ("TIMESTAMP(9) WITH LOCAL TIME ZONE", ""),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL", "timestamp(3)"),
        ({"type": "ROW", "fields": [{"name": "a", "type": "TIMESTAMP(0)"}]}, "struct<a:timestamp_ntz(0)>"),
        ({"type": "MAP", "key": "INT NOT NULL", "value": "TIMESTAMP(3)"}, "map<int,timestamp_ntz(3)>"),
        ("BINARY(3)", ""),
        ("DECIMAL(10, 2)", ""),
    ],
)
def test_kept_type(paimon, kept):
    assert kept_type(paimon) == kept


def test_is_nullable():
    assert is_nullable("INT")
    assert not is_nullable("INT NOT NULL")
    assert not is_nullable({"type": "ARRAY NOT NULL", "element": "INT"})


def test_fields_whose_names_need_backticks():
    from pyspark.sql import types

    inner = types.StructType([types.StructField("a b", types.IntegerType()), types.StructField("c", types.NullType())])
    whole = types.MapType(types.StringType(), types.ArrayType(inner))
    assert type_text(whole) == "map<string,array<struct<`a b`:int,c:void>>>"


@pytest.mark.parametrize(
    ("data_type", "typed"),
    [
        ("void", "string"),
        ("array<void>", "array<string>"),
        ("map<void,void>", "map<string,string>"),
        ("struct<avoid:int,void:int,v:void>", "struct<avoid:int,void:int,v:string>"),
        ("struct<`a void b`:void>", "struct<`a void b`:string>"),
    ],
)
def test_untyped_nulls(data_type, typed):
    assert typed_nulls(data_type) == typed


def test_names_of_fields():
    data_type = "map<int,array<struct<a:decimal(3,2),`b:``c`:struct<d:int>>>>"
    assert field_names(data_type) == ["a", "b:`c", "d"]
    assert field_names("decimal(10,2)") == []
