"""Edge values of each type: as plans store them, as Spark SQL, and as keys for comparisons.

Plans store values as JSON: numbers that JSON would change (float, double, decimal), binary (hex) and times are strings;
structs are mappings.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

Value = Any

# type -> values; the plain ones come first, because a failure shrinks towards them.
POOLS: Final[Mapping[str, tuple[Value, ...]]] = {
    "boolean": (True, False),
    "tinyint": (1, 0, 127, -128),
    "smallint": (1, 0, 32767, -32768),
    "int": (1, 2, 0, -1, 2**31 - 1, -(2**31)),
    "bigint": (1, 2, 0, -1, 2**53 + 1, 2**63 - 1, -(2**63)),
    "float": ("1.5", "0.0", "-0.0", "NaN", "Infinity", "-Infinity", "3.4028235E38", "1.4E-45"),
    "double": (
        "1.5",
        "1.9",
        "0.0",
        "-0.0",
        "NaN",
        "Infinity",
        "-Infinity",
        "1.7976931348623157E308",
        "4.9E-324",
    ),
    "decimal(10,2)": ("1.50", "0.00", "-0.01", "99999999.99", "-99999999.99"),
    "decimal(38,18)": (
        "1.000000000000000000",
        "0.000000000000000001",
        "-99999999999999999999.999999999999999999",
    ),
    "string": ("a", "", " ", "b'c\\d", "ünï 表 🛫", "e\u0301", "A", "null", "\n"),
    "binary": ("00", "", "00FF80", "C328"),
    "date": ("2024-03-10", "0001-01-01", "1582-10-04", "1969-12-31", "9999-12-31"),
    "timestamp": (
        "2024-03-10 07:30:00.000000",
        "1969-12-31 23:59:59.999999",
        "2024-11-03 06:30:00.000001",
        "1582-10-04 23:59:59.999999",
    ),
    "timestamp_ntz": (
        "2024-03-10 02:30:00.000000",
        "1969-12-31 23:59:59.999999",
        "0001-01-01 00:00:00.000001",
        "9999-12-31 23:59:59.999999",
    ),
    "array<int>": ([1], [], [1, None, -1], [None]),
    "map<string,int>": ({"a": 1}, {}, {"": 1, "ü": None}),
    # No struct with only NULL fields: Paimon 0.9 reads it as NULL (docs/data-types.md).
    "struct<a:int,b:int>": ({"a": 1, "b": 2}, {"a": None, "b": 3}),
    "array<struct<a:int,b:int>>": ([{"a": 1, "b": 2}], [], [{"a": 3, "b": None}, {"a": 4, "b": 5}]),
}
# The same fields in another order, which are matched by name or refused.
REORDERED: Final = {
    "struct<a:int,b:int>": "struct<b:int,a:int>",
    "array<struct<a:int,b:int>>": "array<struct<b:int,a:int>>",
}
WIDER: Final = {
    "tinyint": "smallint",
    "smallint": "int",
    "int": "bigint",
    "float": "double",
    "decimal(10,2)": "decimal(12,2)",
}
# Further widenings by sync_all_columns.
ALTERED: Final = frozenset({("int", "double"), ("int", "decimal(12,2)"), ("int", "string"), ("bigint", "string")})
# type of the table -> types of the model that do not fit it without a loss.
LOSSY: Final = {
    "int": ("double", "bigint", "string"),
    "bigint": ("double", "string"),
    "date": ("timestamp_ntz",),
    "decimal(10,2)": ("decimal(38,18)",),
    "array<int>": ("array<bigint>",),
    "boolean": ("int",),
}
LOSSY_VALUES: Final[Mapping[str, tuple[Value, ...]]] = {
    "double": ("1.9", "-0.5"),
    "bigint": (2**31, 2**53 + 1),
    "string": ("1.9", "x"),
    "timestamp_ntz": ("2024-03-10 02:30:00.000000",),
    "decimal(38,18)": ("1.005000000000000000", "99999999999.000000000000000000"),
    "array<bigint>": ([2**31 + 7],),
    "int": (2, -1),
}


def literal(kind: str, value: Value) -> str:
    """A value as a Spark SQL expression."""
    if value is None:
        return f"cast(null as {kind})"
    if kind in ("float", "double"):
        return f"{kind}('{value}')"
    if kind == "string":
        return text_literal(value)
    if kind == "binary":
        return f"X'{value}'"
    if kind == "date":
        return f"date'{value}'"
    if kind == "timestamp":
        return f"timestamp'{value}+00:00'"
    if kind == "timestamp_ntz":
        return f"timestamp_ntz'{value}'"
    if kind.startswith("array<"):
        items = ", ".join(literal(kind[6:-1], item) for item in value)
        return f"cast(array({items}) as {kind})"
    if kind.startswith("map<"):
        items = ", ".join(f"{text_literal(key)}, {literal('int', item)}" for key, item in value.items())
        return f"cast(map({items}) as {kind})"
    if kind.startswith("struct<"):
        named = ", ".join(f"'{name}', {literal(of, value[name])}" for name, of in fields(kind))
        return f"named_struct({named})"
    return f"cast({text_literal(str(value))} as {kind})"


def fields(kind: str) -> list[tuple[str, str]]:
    """(name, type) of each field of a struct whose fields have simple types."""
    return [(part.split(":")[0], part.split(":")[1]) for part in kind[7:-1].split(",")]


def text_literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def shown(kind: str, column: str) -> str:
    """An expression for a column as text, which `read` turns back into a value."""
    if kind == "binary":
        return f"hex({column})"
    if "<" in kind:
        return f"to_json({column}, map('ignoreNullFields', 'false'))"
    return f"cast({column} as string)"


def read(kind: str, text: str | None) -> Value:
    """The value that `shown` has turned into text in a session in UTC."""
    if text is None:
        return None
    if kind == "boolean":
        return text == "true"
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return int(text)
    if kind.startswith("timestamp"):
        seconds, _, fraction = text.partition(".")
        return f"{seconds}.{fraction:0<6}"
    return json.loads(text) if "<" in kind else text


def comparable(kind: str, value: Value) -> str:
    """A key, equal only for equal values. NaN equals NaN, -0.0 equals 0.0; the order of map entries does not count."""
    if value is None:
        return "NULL"
    if kind in ("float", "double"):
        number = float(value) + 0.0
        if number != number:  # noqa: PLR0124 - NaN
            return "NaN"
        return struct.pack(">f" if kind == "float" else ">d", number).hex()
    if kind.startswith("decimal"):
        return format(Decimal(value).normalize(), "f")
    if "<" in kind:
        return json.dumps(value, sort_keys=True)
    return repr(value)


def order(kind: str, value: Value) -> Any:
    """A sort key that orders values in Python as Spark does, for types that have an order."""
    return float(value) if kind in ("float", "double") else Decimal(value) if kind.startswith("decimal") else value
