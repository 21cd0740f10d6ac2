"""Recognizes strings that are certain to be values of a type; for all others, only a cast by Spark can tell."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Final

DECIMAL: Final = re.compile(r"(?:decimal|dec|numeric)\s*(?:\(\s*(?P<precision>\d+)\s*(?:,\s*(?P<scale>\d+)\s*)?\))?")
MOMENTS: Final = ("date", "timestamp", "timestamp_ltz", "timestamp_ntz")
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64}
INTEGERS: Final[Mapping[str, range]] = {
    name: range(-(2 ** (bits - 1)), 2 ** (bits - 1)) for name, bits in _BITS.items()
}
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")
_NUMBER: Final = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")
_EXACT_DIGITS: Final = 15
_PLAIN_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?")


def surely_fits(text: str, data_type: str) -> bool:
    """Whether a string certainly fits a type without loss; False if only Spark can tell."""
    kind = data_type.lower().strip()
    if kind in INTEGERS:
        return _INTEGER.fullmatch(text) is not None and int(text) in INTEGERS[kind]
    if kind in MOMENTS:
        return _is_moment(text)
    if kind == "boolean":
        return text in ("true", "false")
    if not (number := _NUMBER.fullmatch(text)):
        return False
    whole, fraction = len(number[1]), len(number[2] or "")
    if found := DECIMAL.fullmatch(kind):
        precision, scale = precision_and_scale(found)
        return whole <= precision - scale and fraction <= scale
    return kind == "double" and whole + fraction <= _EXACT_DIGITS


def precision_and_scale(decimal: re.Match[str]) -> tuple[int, int]:
    """The precision and the scale of a type that DECIMAL has matched."""
    return int(decimal["precision"] or 10), int(decimal["scale"] or 0)


def _is_moment(text: str) -> bool:
    if not _PLAIN_MOMENT.fullmatch(text):
        return False
    try:
        dt.datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True
