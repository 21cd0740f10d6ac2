"""Splits SQL into tokens with sqlglot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    """A token: its kind, its text in lower case, and the positions of its first and last character."""

    kind: str = ""
    text: str = ""
    start: int = 0
    end: int = 0


def tokens(sql: str) -> list[Token]:
    """The tokens of SQL in Spark's dialect; empty if it is not valid."""
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import TokenError

    try:
        found = Spark().tokenize(sql)
    except TokenError:
        return []
    return [
        Token(each.token_type.name, " ".join(sql[each.start : each.end + 1].lower().split()), each.start, each.end)
        for each in found
    ]
