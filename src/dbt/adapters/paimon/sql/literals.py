"""YAML values as Spark SQL literals of a given type, nested types included; used for rows of unit tests."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import string_literal, unquoted

# The SQL of a value and its type.
Scalar = Callable[[Any, str], str]

_NESTED: Final = re.compile(r"\s*(?P<kind>array|map|struct)\s*<(?P<inner>.*)>\s*\Z", re.IGNORECASE | re.DOTALL)
_QUOTED: Final = re.compile(r"\s*'(?P<text>(?:[^'\\]|\\.)*)'\s*\Z", re.DOTALL)
_SIZED_TEXT: Final = re.compile(r"(?:var)?char(?:acter)?\s*\(\s*(?P<size>\d+)\s*\)", re.IGNORECASE)
_BINARY_NUMBERS: Final = ("float", "real", "double")

# A non-NULL value for each type that is not a number.
_SOME: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("string", "varchar", "char", "binary"), ""),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz", "timestamp_ltz"), "1970-01-01"),
    "boolean": False,
    "array": (),
    "map": {},
    "struct": {},
}


def safe_cast(field: Any, data_type: str) -> str:
    """SQL for dbt's `safe_cast`: an expression of type `data_type`, NULL if that type has no such value.

    `field` is an SQL expression or a YAML value (list, mapping, number). For a nested type, a text holds an SQL
    expression (`'array(1, 2)'`), as in dbt-spark.
    """
    if field is None or isinstance(field, (Mapping, list, tuple)):
        return typed_value(field, data_type)
    expression = str(field).lower() if isinstance(field, bool) else str(field)
    if is_nested(data_type):
        literal = _QUOTED.match(expression)
        return f"try_cast({_unescaped(literal['text']) if literal else expression} as {data_type})"
    value = f"try_cast({expression} as {data_type})"
    # Two limits that Spark does not check.
    if sized := _SIZED_TEXT.fullmatch(data_type.strip()):
        text = f"cast({expression} as string)"
        measured = f"rtrim({text})" if data_type.strip().lower().startswith("char(") else text
        return f"if(length({measured}) <= {sized['size']}, {value}, null)"
    if data_type.strip().lower() in _BINARY_NUMBERS:
        too_large = f"abs({value}) = double('infinity') and not cast({expression} as string) ilike '%inf%'"
        return f"if({too_large}, null, {value})"
    return value


def is_nested(data_type: str) -> bool:
    """Whether a type is an array, a map or a struct."""
    return _NESTED.match(data_type) is not None


def typed_value(value: Any, data_type: str, scalar: Scalar | None = None) -> str:
    """SQL for one YAML value; a text becomes a literal or, for a nested type, an SQL expression.

    `scalar` makes the SQL of a value that is not NULL, a list or a mapping, from the value and its type.

    Raises:
        DbtRuntimeError: the value does not have the shape of the type.
    """
    scalar = scalar or _cast_scalar
    nested = _NESTED.match(data_type)
    if value is None:
        return f"cast(null as {data_type})"
    if nested and not isinstance(value, str):
        return _nested_value(value, nested["kind"].lower(), nested["inner"], data_type, scalar)
    if isinstance(value, (Mapping, list, tuple)):
        raise _misshapen(value, data_type)
    return scalar(value, data_type)


def _cast_scalar(value: Any, data_type: str) -> str:
    if isinstance(value, bool) or (isinstance(value, (int, float)) and math.isfinite(value)):
        return f"cast({str(value).lower()} as {data_type})"
    return f"cast({value if is_nested(data_type) else string_literal(str(value))} as {data_type})"


def some_value(data_type: str) -> str:
    """SQL for a non-NULL value of a type: empty, zero or 1970-01-01; a struct with NULL in each field."""
    kind = re.split(r"\W", data_type.strip().lower(), maxsplit=1)[0]
    return typed_value(_SOME.get(kind, 0), data_type)


def _nested_value(value: Any, kind: str, inner: str, data_type: str, scalar: Scalar) -> str:
    if kind == "array":
        if not isinstance(value, Sequence):
            raise _misshapen(value, data_type)
        # An empty array literal would have no element type.
        elements = ", ".join(typed_value(element, inner, scalar) for element in value)
        return f"array({elements})" if value else f"cast(array() as {data_type})"
    if not isinstance(value, Mapping):
        raise _misshapen(value, data_type)
    if kind == "map":
        key_type, value_type = _split(inner, ",")
        entries = [
            f"{typed_value(key, key_type, scalar)}, {typed_value(entry, value_type, scalar)}"
            for key, entry in value.items()
        ]
        return f"map({', '.join(entries)})" if entries else f"cast(map() as {data_type})"
    return _struct(value, inner, data_type, scalar)


def _struct(value: Mapping[Any, Any], inner: str, data_type: str, scalar: Scalar) -> str:
    fields = [(unquoted(name.strip()), kind) for name, kind in (_split(field, ":") for field in _split(inner, ","))]
    given = {str(name).lower(): entry for name, entry in value.items()}
    unknown = sorted(set(given) - {name.lower() for name, _ in fields})
    if unknown:
        raise DbtRuntimeError(f"{data_type} has no field {', '.join(unknown)}: {value!r}")
    parts = [f"{string_literal(name)}, {typed_value(given.get(name.lower()), kind, scalar)}" for name, kind in fields]
    return f"named_struct({', '.join(parts)})"


def _misshapen(value: Any, data_type: str) -> DbtRuntimeError:
    return DbtRuntimeError(f"{value!r} does not have the shape of {data_type}")


def _split(text: str, separator: str) -> list[str]:
    """Split the inner text of a type, keeping names in backticks whole; `:` splits once, a name from its type."""
    parts, begin, depth, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        quoted ^= character == "`"
        if quoted:
            continue
        depth += (character in "<(") - (character in ">)")
        if character == separator and not depth:
            parts.append(text[begin:position])
            begin = position + 1
            if separator == ":":
                break
    parts.append(text[begin:])
    return parts


def _unescaped(text: str) -> str:
    """Undo the escapes of dbt's escape_single_quotes."""
    return re.sub(r"\\([\\'])", r"\1", text)
