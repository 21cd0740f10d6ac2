"""Text of any kind as parts of a Spark SQL statement."""

from __future__ import annotations


def string_literal(text: str) -> str:
    """A Spark SQL string literal of any text.

    Quotes are escaped with a backslash: Spark 3.5 reads '' inside a literal as two literals put together, and drops
    the quote [ran].

    Source: https://spark.apache.org/docs/3.5.7/sql-ref-literals.html#string-literal
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def quoted(*parts: str) -> str:
    """A name of one or more parts in backticks; a backtick in a part is doubled."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
