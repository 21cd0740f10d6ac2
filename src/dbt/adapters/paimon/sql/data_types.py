"""Converts Paimon's data types, as in `$schemas`, to Spark types for DDL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.sql.text import unquoted
from dbt.adapters.paimon.sql.type_trees import struct_text

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# Paimon's types without arguments that have a different name in Spark.
_RENAMED = {"INTEGER": "int", "BYTES": "binary"}
_DIGITS_OF_A_SECOND = 6
NESTED = ("array", "map", "struct")
TEXTS = ("string", "varchar", "char")
# `real` is another name of `float`.
FLOATS = ("float", "real", "double")
# The type `void`, but not a field of that name.
_VOID = re.compile(r"`(?:[^`]|``)*`|(?P<void>\bvoid\b(?!:))")
_FIELD = re.compile(r"(`(?:[^`]|``)*`|\w+):")
_PARAMETRIC = re.compile(r"^(?P<name>[A-Z]+)\s*\((?P<args>[\d, ]+)\)")


def kept_type(paimon_type: str | dict[str, Any]) -> str:
    """A Spark type that shows a lower timestamp precision, such as `timestamp(3)`; '' if no timestamp has one.

    Spark can only declare `TIMESTAMP(6)`, but writes to less precise columns without an error [ran, 0.9.0]: in a
    `TIMESTAMP(3)` the microseconds are lost. Values that are too long for a `BINARY(n)` are not truncated.
    """
    text = to_spark_type(paimon_type, digits=True)
    return text if text != to_spark_type(paimon_type) else ""


def to_spark_type(paimon_type: str | dict[str, Any], digits: bool = False) -> str:
    """The Spark type of a Paimon type, in lower case and without nullability: `array<struct<a:int>>`.

    `paimon_type` is JSON from `$schemas`: a string, or an object for nested types. With `digits`, timestamps with fewer
    than six fractional digits show their precision.
    Source: org.apache.paimon.spark.SparkTypeUtils.fromPaimonType.
    """
    if isinstance(paimon_type, dict):
        return _nested(paimon_type, digits)
    text = paimon_type.upper().replace(" NOT NULL", "").strip()
    name, args = text, ""
    if found := _PARAMETRIC.match(text):
        name, args = found["name"], found["args"].replace(" ", "")
    if name in ("DECIMAL", "CHAR", "VARCHAR"):
        return f"{name.lower()}({args})"
    if name in ("BINARY", "VARBINARY"):
        return "binary"
    if name.startswith("TIMESTAMP"):
        return _timestamp(text, args if digits else "")
    return "int" if name.startswith("TIME") else _RENAMED.get(text, text.lower())


def _timestamp(text: str, digits: str) -> str:
    is_local = "LOCAL TIME ZONE" in text or text.startswith("TIMESTAMP_LTZ")
    kind = "timestamp" if is_local else "timestamp_ntz"
    return f"{kind}({digits})" if digits and int(digits) < _DIGITS_OF_A_SECOND else kind


def is_nullable(paimon_type: str | dict[str, Any]) -> bool:
    """Whether a type from `$schemas` accepts NULL."""
    text = paimon_type["type"] if isinstance(paimon_type, dict) else paimon_type
    return "NOT NULL" not in text.upper()


def _nested(paimon_type: dict[str, Any], digits: bool) -> str:
    kind = paimon_type["type"].upper().replace(" NOT NULL", "").strip()
    if kind == "ARRAY":
        return f"array<{to_spark_type(paimon_type['element'], digits)}>"
    if kind == "MAP":
        key, value = (to_spark_type(paimon_type[part], digits) for part in ("key", "value"))
        return f"map<{key},{value}>"
    if kind == "MULTISET":
        return f"map<{to_spark_type(paimon_type['element'], digits)},int>"
    return struct_text((field["name"], to_spark_type(field["type"], digits)) for field in paimon_type["fields"])


def type_text(data_type: DataType) -> str:
    """A Spark type for DDL: `DataType.simpleString`, with struct fields' names in backticks if necessary."""
    from pyspark.sql import types

    if isinstance(data_type, types.ArrayType):
        return f"array<{type_text(data_type.elementType)}>"
    if isinstance(data_type, types.MapType):
        return f"map<{type_text(data_type.keyType)},{type_text(data_type.valueType)}>"
    if isinstance(data_type, types.StructType):
        return struct_text((field.name, type_text(field.dataType)) for field in data_type.fields)
    return data_type.simpleString()


def field_names(data_type: str) -> list[str]:
    """The names of all struct fields in a Spark type."""
    return [unquoted(found) for found in _FIELD.findall(data_type)]


def type_name(data_type: str) -> str:
    """A Spark type's name: 'decimal' for 'decimal(10,2)', 'array' for 'array<int>'."""
    return re.split(r"[(<\s]", data_type.strip().lower(), maxsplit=1)[0]


def is_text(data_type: str) -> bool:
    """Whether a Spark type is `string`, `varchar(n)` or `char(n)`."""
    return data_type.strip().lower().startswith(TEXTS)


def is_whole(described: str) -> bool:
    """Whether a type from DESCRIBE is certainly valid in DDL.

    DESCRIBE omits fields of a wide struct (spark.sql.debug.maxToStringFields), and does not quote names.
    """
    return "struct<" not in described


def typed_nulls(data_type: str) -> str:
    """Replace `void` (the type of NULL) in a type with `string`, which ALTER can later change to any type."""
    return _VOID.sub(lambda found: "string" if found["void"] else found[0], data_type)
