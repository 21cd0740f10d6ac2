"""Checks that the values of a seed's file fit their column's type without loss.

Spark's casts lose data: `2024` as a date is the first day of that year, `12:00` as a timestamp is a time today,
16777217 as a `float` is 16777216, and 1e999 is infinity. A fraction without an exact binary form (0.1) is allowed,
because it is displayed as in the file. A time of day in a `date` column is also allowed: dbt's own tests have it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from dbt.adapters.paimon.column import SIZED
from dbt.adapters.paimon.sql.data_types import FLOATS
from dbt.adapters.paimon.sql.plain_values import DECIMAL, precision_and_scale
from dbt.adapters.paimon.sql.text import string_literal

_DAY: Final = r"[+-]?\d{4,}-\d{1,2}-\d{1,2}"
_TIME: Final = r"\d{1,2}(:\d{1,2}(:\d{1,2}(\.\d{0,6}0*)?)?)?"
_ZONE: Final = r"(\s*[^\d\s:.].*)?"
# Type -> Java regular expression for the strings that can be read without loss.
_MOMENTS: Final[Mapping[str, str]] = {
    "date": rf"^\s*{_DAY}([ T]{_TIME}\d*{_ZONE})?\s*$",
    "timestamp": rf"^\s*{_DAY}([ T]{_TIME}{_ZONE})?\s*$",
    "timestamp_ltz": rf"^\s*{_DAY}([ T]{_TIME}{_ZONE})?\s*$",
    "timestamp_ntz": rf"^\s*{_DAY}([ T]{_TIME})?\s*$",
}
_HINTS: Final[Mapping[str, str]] = {
    "date": "which is written 2024-01-31",
    **dict.fromkeys(
        ("timestamp", "timestamp_ltz"), "which is written 2024-01-31 12:00:00.123456, with a zone or without"
    ),
    "timestamp_ntz": "which is written 2024-01-31 12:00:00.123456, without a zone",
    **dict.fromkeys(("float", "real"), "which holds 7 digits and 1e38: a double, a decimal or a string holds more"),
    "double": "which holds 15 digits and 1e308: a decimal or a string holds more",
}


def bad_text(cell: str, data_type: str, lossless: bool = True) -> str:
    """SQL condition: the string `cell` does not fit the type or, if `lossless`, would lose data when cast."""
    kind = data_type.lower().strip()
    # Spark's casts do not check the length; writes do, but their error names neither file nor column.
    if sized := SIZED.fullmatch(kind):
        return f"{cell} is not null and not (length({cell}) <= {sized[1]})"
    value = f"try_cast({cell} as {kind})"
    if not lossless:
        return f"{cell} is not null and {value} is null"
    loses = ""
    if found := DECIMAL.fullmatch(kind):
        precision, scale = precision_and_scale(found)
        # The second condition is for decimal(38,…), the widest type: there is no wider one to compare with.
        loses = (
            f" or coalesce(try_cast({cell} as decimal(38,{38 - (precision - scale)})) <> {value}, false)"
            f" or {cell} rlike '[.][0-9]{{{scale}}}[0-9]*[1-9][0-9]* *$'"
        )
    elif kind in _MOMENTS:
        loses = f" or not {cell} rlike {string_literal(_MOMENTS[kind])}"
    elif kind in FLOATS:
        loses = f" or {_float_differs(cell, value)}"
    return f"{cell} is not null and ({value} is null{loses})"


def not_valid(data_type: str) -> str:
    """Part of a message: that a value is not valid for a type, with a hint about valid values."""
    hint = _HINTS.get(data_type.lower().strip())
    return f"not a valid {data_type}" + (f", {hint}" if hint else "")


def _float_differs(cell: str, value: str) -> str:
    """SQL condition: a binary number differs from its digits in the file (infinity, zero, or off by at least one)."""
    # Compared as it is displayed: 602214076000000000000000 is not an exact double, but is displayed unchanged.
    again = f"try_cast(cast({value} as string) as decimal(38,6))"
    off = f"coalesce(abs(try_cast({cell} as decimal(38,6)) - {again}) >= 1, true)"
    return (
        rf"(abs({value}) = double('infinity') and {cell} rlike '[0-9]')"
        rf" or ({value} = 0 and {cell} rlike '^[^eE]*[1-9]')"
        # A number with an exponent need not be exact.
        rf" or ({cell} rlike '^[^a-zA-Z]*$' and {off})"
    )


def differs_as_double(number: Decimal) -> bool:
    """As `_float_differs`, for a number that dbt has read from a file."""
    double = float(number)
    if not number.is_finite():
        return False
    if math.isinf(double) or (double == 0 and number != 0):
        return True
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and exponent <= 0 and abs(Decimal(repr(double)) - number) >= 1
