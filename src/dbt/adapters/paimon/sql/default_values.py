"""Checks that a column's default value is a valid value of its type.

Paimon casts the default when rows are written. It silently cuts off an integer's decimals, a date's time and the end of
a string that is too long, reads `2024` as the date 2024 days after 1970-01-01, and replaces a decimal that is too large
by NULL. Other invalid values make the write fail (CastExecutors, DefaultValueAssigner) [ran, 0.9.0].
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from dbt.adapters.paimon.sql.type_trees import Atom

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_BOOLEAN: Final = re.compile(r"t|true|y|yes|1|f|false|n|no|0", re.IGNORECASE | re.ASCII)
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_NO_NUMBER: Final = re.compile(r"NaN|[+-]?Infinity")
_FLOAT: Final = re.compile(f"{_NUMBER.pattern}|{_NO_NUMBER.pattern}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?")
_ANY: Final = re.compile(r".*", re.DOTALL)


def is_value(text: str, kind: Atom) -> bool:
    """Whether a string is a valid value of a type; True for unknown types."""
    if kind.name not in _CHECKS:
        return True
    pattern, check = _CHECKS[kind.name]
    try:
        return pattern.fullmatch(text) is not None and check(text, kind)
    except (ValueError, ArithmeticError):
        return False


def _is_integer(text: str, kind: Atom) -> bool:
    limit = 1 << (_BITS[kind.name] - 1)
    return -limit <= int(text) < limit


def _is_decimal(text: str, kind: Atom) -> bool:
    number, (precision, scale) = Decimal(text), kind.arguments
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # neither NaN nor infinity
    return -exponent <= scale and abs(number) < Decimal(10) ** (precision - scale)


def _is_float(text: str, kind: Atom) -> bool:
    # OverflowError: too large for a float.
    struct.pack("<f" if kind.name == "float" else "<d", float(text))
    return _NO_NUMBER.fullmatch(text) is not None or math.isfinite(float(text))


# Per type: a pattern, and a check of what the pattern does not cover.
_CHECKS: Final[Mapping[str, tuple[re.Pattern[str], Callable[[str, Atom], bool]]]] = {
    **dict.fromkeys(_BITS, (_WHOLE, _is_integer)),
    "decimal": (_NUMBER, _is_decimal),
    **dict.fromkeys(("float", "double"), (_FLOAT, _is_float)),
    "boolean": (_BOOLEAN, lambda text, kind: True),
    "date": (_DATE, lambda text, kind: bool(date(*map(int, text.split("-"))))),
    **dict.fromkeys(
        ("timestamp", "timestamp_ntz"), (_TIMESTAMP, lambda text, kind: bool(datetime.fromisoformat(text[:19])))
    ),
    **dict.fromkeys(("char", "varchar"), (_ANY, lambda text, kind: len(text) <= kind.arguments[0])),
}
