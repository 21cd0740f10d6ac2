"""Paimon's data types in Spark's words, as `$schemas` writes the former and DDL takes the latter."""

from __future__ import annotations

import re
from typing import Any

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
_PARAMETRIC = re.compile(r"^(?P<name>[A-Z]+)\s*\((?P<args>[\d, ]+)\)(?P<rest>.*)$")


def to_spark_type(paimon_type: str | dict[str, Any]) -> str:
    """Spark's type text for a Paimon type.

    Args:
        paimon_type: as it stands in the JSON of `$schemas`: `DECIMAL(10, 2) NOT NULL`, or an object for
            ARRAY, MAP, MULTISET and ROW.

    Returns:
        Spark's simple string in lower case, without nullability (`decimal(10,2)`, `array<struct<a:int>>`).

    Source: org.apache.paimon.spark.SparkTypeUtils.fromPaimonType.
    """
    if isinstance(paimon_type, dict):
        return _nested(paimon_type)
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
        return "timestamp" if "LOCAL TIME ZONE" in rest or name == "TIMESTAMP_LTZ" else "timestamp_ntz"
    if name.startswith("TIME"):
        return "int"
    return text.lower()


def is_nullable(paimon_type: str | dict[str, Any]) -> bool:
    """Whether a type of `$schemas` takes NULL."""
    text = paimon_type["type"] if isinstance(paimon_type, dict) else paimon_type
    return "NOT NULL" not in text.upper()


def _nested(paimon_type: dict[str, Any]) -> str:
    kind = paimon_type["type"].upper().replace(" NOT NULL", "").strip()
    if kind == "ARRAY":
        return f"array<{to_spark_type(paimon_type['element'])}>"
    if kind == "MAP":
        return f"map<{to_spark_type(paimon_type['key'])},{to_spark_type(paimon_type['value'])}>"
    if kind == "MULTISET":
        return f"map<{to_spark_type(paimon_type['element'])},int>"
    fields = ",".join(f"{field['name']}:{to_spark_type(field['type'])}" for field in paimon_type["fields"])
    return f"struct<{fields}>"
