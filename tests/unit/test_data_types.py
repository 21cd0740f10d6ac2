"""Paimon's types, as its schema files write them, in Spark's words."""

import pytest

from dbt.adapters.paimon.data_types import is_nullable, to_spark_type


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
    ],
)
def test_to_spark_type(paimon, spark):
    assert to_spark_type(paimon) == spark


def test_is_nullable():
    assert is_nullable("INT")
    assert not is_nullable("INT NOT NULL")
    assert not is_nullable({"type": "ARRAY NOT NULL", "element": "INT"})
