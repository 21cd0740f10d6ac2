"""Paimon's data types in Spark's words, as `$schemas` writes the former and DDL takes the latter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.sql.text import is_plain, quoted

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_ATOMIC = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "DATE": "date",
    "STRING": "string",
    "BYTES": "binary",
    "VARIANT": "variant",
}
_DIGITS_OF_A_SECOND = 6
# The type, not a field of that name.
_VOID = re.compile(r"`(?:[^`]|``)*`|(?P<void>\bvoid\b(?!:))")
_FIELD = re.compile(r"(`(?:[^`]|``)*`|\w+):")
_PARAMETRIC = re.compile(r"^(?P<name>[A-Z]+)\s*\((?P<args>[\d, ]+)\)(?P<rest>.*)$")


def kept_type(paimon_type: str | dict[str, Any]) -> str:
    """Spark's type text for a Paimon type whose times have fewer digits than Spark's, with those digits; else empty.

    Spark declares `TIMESTAMP(6)` only, and writes into others without a word [ran, 0.9.0]: a `TIMESTAMP(3)` loses the
    microseconds. What is longer than a `BINARY(n)` is kept whole.
    """
    text = to_spark_type(paimon_type, digits=True)
    return text if text != to_spark_type(paimon_type) else ""


def to_spark_type(paimon_type: str | dict[str, Any], digits: bool = False) -> str:
    """Spark's type text for a Paimon type.

    Args:
        paimon_type: as it stands in the JSON of `$schemas`: `DECIMAL(10, 2) NOT NULL`, or an object for
            ARRAY, MAP, MULTISET and ROW.
        digits: whether times have a number of digits, as Spark's have not, where it is less than Spark's six.

    Returns:
        Spark's simple string in lower case, without nullability (`decimal(10,2)`, `array<struct<a:int>>`).

    Source: org.apache.paimon.spark.SparkTypeUtils.fromPaimonType.
    """
    if isinstance(paimon_type, dict):
        return _nested(paimon_type, digits)
    text = paimon_type.upper().replace(" NOT NULL", "").strip()
    if text in _ATOMIC:
        return _ATOMIC[text]
    found = _PARAMETRIC.match(text)
    name, args, rest = (
        (found["name"], found["args"].replace(" ", ""), found["rest"]) if found else (text, "", text)
    )
    if name == "DECIMAL":
        return f"decimal({args})"
    if name in ("CHAR", "VARCHAR"):
        return f"{name.lower()}({args})"
    if name in ("BINARY", "VARBINARY"):
        return "binary"
    if name.startswith("TIMESTAMP"):
        kind = "timestamp" if "LOCAL TIME ZONE" in rest or name == "TIMESTAMP_LTZ" else "timestamp_ntz"
        return f"{kind}({args})" if digits and args and int(args) < _DIGITS_OF_A_SECOND else kind
    if name.startswith("TIME"):
        return "int"
    return text.lower()


def is_nullable(paimon_type: str | dict[str, Any]) -> bool:
    """Whether a type of `$schemas` takes NULL."""
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
    return _struct((field["name"], to_spark_type(field["type"], digits)) for field in paimon_type["fields"])


def type_text(data_type: DataType) -> str:
    """Spark's type text of a type, as DDL takes it.

    As `DataType.simpleString`, which writes the names of a struct's fields bare, whatever they are.
    """
    from pyspark.sql import types

    if isinstance(data_type, types.ArrayType):
        return f"array<{type_text(data_type.elementType)}>"
    if isinstance(data_type, types.MapType):
        return f"map<{type_text(data_type.keyType)},{type_text(data_type.valueType)}>"
    if isinstance(data_type, types.StructType):
        return _struct((field.name, type_text(field.dataType)) for field in data_type.fields)
    return data_type.simpleString()


def _struct(fields: Iterable[tuple[str, str]]) -> str:
    listed = (f"{name if is_plain(name) else quoted(name)}:{data_type}" for name, data_type in fields)
    return f"struct<{','.join(listed)}>"


def field_names(data_type: str) -> list[str]:
    """The names of all fields of all structs in Spark's type text."""
    return [
        found[1:-1].replace("``", "`") if found.startswith("`") else found
        for found in _FIELD.findall(data_type)
    ]


def is_whole(described: str) -> bool:
    """Whether a type as DESCRIBE shows it is sure to be one that DDL takes.

    Fields of a wide struct are left out (spark.sql.debug.maxToStringFields), and names that need quotes have none.
    """
    return "struct<" not in described


def typed_nulls(data_type: str) -> str:
    """A type in which `string` stands for every untyped NULL (`void`), also inside of arrays, maps and structs.

    `string`, because every later type of the column can be read from it.
    """
    return _VOID.sub(lambda found: "string" if found["void"] else found[0], data_type)
