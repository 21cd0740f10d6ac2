"""Translates dbt's test suite from PostgreSQL to Spark SQL."""

from __future__ import annotations

import re

_CAST = re.compile(r"(?P<value>'[^']*'|[\w.]+)::(?P<type>double precision|\w+(?:\(\d+\))?)")
_WORDS = (
    (re.compile(r"\btimestamp without time zone\b", re.IGNORECASE), "timestamp"),
    (re.compile(r"\bdouble precision\b", re.IGNORECASE), "double"),
    (re.compile(r"\btext\b", re.IGNORECASE), "string"),
    (re.compile(r'"(\w+)"'), r"`\1`"),
)


def in_spark(text: str) -> str:
    """SQL, Jinja or YAML of the suite with Spark's casts, type names and identifier quotes; nothing else changes."""
    text = _CAST.sub(r"cast(\g<value> as \g<type>)", text)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text
