"""Checks that a column's default value is completely a value of its type.

Paimon casts the default when rows are written. Without an error it cuts off decimals of a whole number, the time of a
date, and the end of a text that is too long; it reads `2024` as a date 2024 days after 1970, and a decimal that is too
large as NULL. Other invalid values fail there (CastExecutors, DefaultValueAssigner) [ran, 0.9.0].
"""

from __future__ import annotations

import math
import re
import struct
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from dbt.adapters.paimon.sql.type_trees import Atom

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_BOOLEANS: Final = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_NO_NUMBER: Final = re.compile(r"NaN|[+-]?Infinity")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?")


def is_value(text: str, kind: Atom) -> bool:
    """Whether a whole text is a value of a type; True for unknown types."""
    try:
        return _is_value(text, kind)
    except (ValueError, ArithmeticError):
        return False


def _is_value(text: str, kind: Atom) -> bool:
    if kind.name in _BITS:
        limit = 1 << (_BITS[kind.name] - 1)
        return _WHOLE.fullmatch(text) is not None and -limit <= int(text) < limit
    if kind.name == "decimal":
        return _NUMBER.fullmatch(text) is not None and _is_decimal(Decimal(text), *kind.arguments)
    if kind.name in ("float", "double"):
        return _NO_NUMBER.fullmatch(text) is not None or _is_finite(text, kind.name)
    if kind.name == "boolean":
        return text.lower() in _BOOLEANS
    if kind.name == "date":
        found = _DATE.fullmatch(text)
        return found is not None and bool(date(*map(int, found.groups())))
    if kind.name in ("timestamp", "timestamp_ntz"):
        return _TIMESTAMP.fullmatch(text) is not None and bool(datetime.fromisoformat(text[:19]))
    if kind.name in ("char", "varchar"):
        return len(text) <= kind.arguments[0]
    return True


def _is_decimal(number: Decimal, precision: int, scale: int) -> bool:
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # neither NaN nor infinity
    return -exponent <= scale and abs(number) < Decimal(10) ** (precision - scale)


def _is_finite(text: str, kind: str) -> bool:
    if _NUMBER.fullmatch(text) is None or not math.isfinite(float(text)):
        return False
    try:
        struct.pack("<f" if kind == "float" else "<d", float(text))
    except OverflowError:
        return False
    return True
