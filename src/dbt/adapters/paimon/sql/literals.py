"""YAML values, such as the rows of unit tests, as Spark SQL of a given type, including nested types."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.data_types import FLOATS, TEXTS
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.type_trees import Array, Map, Struct, type_tree

# Makes SQL from a value and its type.
Scalar = Callable[[Any, str], str]

_NESTED: Final = re.compile(r"\s*(?:array|map|struct)\s*<.*>\s*\Z", re.IGNORECASE | re.DOTALL)
_QUOTED: Final = re.compile(r"\s*'(?P<text>(?:[^'\\]|\\.)*)'\s*\Z", re.DOTALL)
_SIZED_TEXT: Final = re.compile(r"(?:varchar|(?P<blanks>char(?:acter)?))\s*\(\s*(?P<size>\d+)\s*\)", re.IGNORECASE)

# A non-NULL value for each type that is not a number.
_SOME: Final[Mapping[str, Any]] = {
    **dict.fromkeys((*TEXTS, "binary"), ""),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz", "timestamp_ltz"), "1970-01-01"),
    "boolean": False,
    "array": (),
    "map": {},
    "struct": {},
}


def safe_cast(field: Any, data_type: str) -> str:
    """SQL for dbt's `safe_cast`: an expression of type `data_type`, NULL if the value cannot be cast.

    `field` is an SQL expression or a YAML value (list, mapping, number). For a nested type, a string contains an SQL
    expression (`'array(1, 2)'`), as in dbt-spark.
    """
    if field is None or isinstance(field, (Mapping, list, tuple)):
        return typed_value(field, data_type)
    expression = str(field).lower() if isinstance(field, bool) else str(field)
    if is_nested(data_type):
        literal = _QUOTED.match(expression)
        return f"try_cast({_unescaped(literal['text']) if literal else expression} as {data_type})"
    value = f"try_cast({expression} as {data_type})"
    # Spark checks neither the length of a char or varchar, nor whether a number is too large for a float or double.
    if sized := _SIZED_TEXT.fullmatch(data_type.strip()):
        text = f"cast({expression} as string)"
        measured = f"rtrim({text})" if sized["blanks"] else text
        return f"if(length({measured}) <= {sized['size']}, {value}, null)"
    if data_type.strip().lower() in FLOATS:
        too_large = f"abs({value}) = double('infinity') and not cast({expression} as string) ilike '%inf%'"
        return f"if({too_large}, null, {value})"
    return value


def is_nested(data_type: str) -> bool:
    """Whether a type is an array, a map or a struct."""
    return _NESTED.match(data_type) is not None


def typed_value(value: Any, data_type: str, scalar: Scalar | None = None) -> str:
    """SQL for one YAML value; a string becomes a literal or, for a nested type, an SQL expression.

    `scalar` makes the SQL of a value other than NULL, a list or a mapping.

    Raises:
        DbtRuntimeError: the value does not have the shape of the type.
    """
    scalar = scalar or _cast_scalar
    if value is None:
        return f"cast(null as {data_type})"
    if not isinstance(value, str) and (is_nested(data_type) or isinstance(value, (Mapping, list, tuple))):
        return _nested_value(value, data_type, scalar)
    return scalar(value, data_type)


def _cast_scalar(value: Any, data_type: str) -> str:
    if isinstance(value, bool) or (isinstance(value, (int, float)) and math.isfinite(value)):
        return f"cast({str(value).lower()} as {data_type})"
    return f"cast({value if is_nested(data_type) else string_literal(str(value))} as {data_type})"


def some_value(data_type: str) -> str:
    """SQL for a non-NULL value of a type: empty, zero or 1970-01-01; for a struct, NULL in each field."""
    kind = re.split(r"\W", data_type.strip().lower(), maxsplit=1)[0]
    return typed_value(_SOME.get(kind, 0), data_type)


def _nested_value(value: Any, data_type: str, scalar: Scalar) -> str:
    match type_tree(data_type):
        case Array(element) if isinstance(value, Sequence):
            elements = ", ".join(typed_value(each, str(element), scalar) for each in value)
            # An empty array literal would have no element type.
            return f"array({elements})" if value else f"cast(array() as {data_type})"
        case Map(key_type, value_type) if isinstance(value, Mapping):
            entries = [
                f"{typed_value(key, str(key_type), scalar)}, {typed_value(entry, str(value_type), scalar)}"
                for key, entry in value.items()
            ]
            return f"map({', '.join(entries)})" if entries else f"cast(map() as {data_type})"
        case Struct() as struct if isinstance(value, Mapping):
            return _struct(value, struct, scalar)
    raise DbtRuntimeError(f"{value!r} does not have the shape of {data_type}")


def _struct(value: Mapping[Any, Any], struct: Struct, scalar: Scalar) -> str:
    given = {str(name).lower(): entry for name, entry in value.items()}
    unknown = sorted(set(given) - {name.lower() for name, _ in struct.fields})
    if unknown:
        raise DbtRuntimeError(f"{struct} has no field {', '.join(unknown)}: {value!r}")
    fields = (
        f"{string_literal(name)}, {typed_value(given.get(name.lower()), str(kind), scalar)}"
        for name, kind in struct.fields
    )
    return f"named_struct({', '.join(fields)})"


def _unescaped(text: str) -> str:
    """Undo the escapes of dbt's escape_single_quotes."""
    return re.sub(r"\\([\\'])", r"\1", text)
