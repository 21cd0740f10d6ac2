"""Text of any kind as parts of a Spark SQL statement, and a script as its statements."""

from __future__ import annotations

import re
from typing import Final

# What may hold a semicolon that ends nothing, as in SqlBaseLexer.g4 of Spark 3.5; an open one goes on to the end.
_OPAQUE: Final = re.compile(
    r"""
      \b[rR](?:'[^']*(?:'|\Z)|"[^"]*(?:"|\Z))
    | '(?:[^'\\]|\\.)*(?:'|\Z)
    | "(?:[^"\\]|\\.)*(?:"|\Z)
    | `(?:[^`]|``)*(?:`|\Z)
    | (?P<comment>--(?:\\\r?\n|[^\r\n])*)
    | (?P<bracketed>/\*)
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKET: Final = re.compile(r"/\*|\*/")

# IDENTIFIER of the same grammar, without what its rules for numbers take first.
_PLAIN_NAME: Final = re.compile(r"(?!\d+(?:e\d+)?(?:[lsydf]|bd)?\Z)\w+", re.ASCII | re.IGNORECASE)


def string_literal(text: str) -> str:
    """A Spark SQL string literal of any text.

    Quotes are escaped with a backslash: Spark 3.5 reads '' inside a literal as two literals put together, and drops
    the quote [ran].

    Source: https://spark.apache.org/docs/3.5.7/sql-ref-literals.html#string-literal
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    # Where `spark.sql.variable.substitute` is on, Spark would put a setting or an environment variable there.
    escaped = escaped.replace("${", "\\u0024{")
    return f"'{escaped}'"


def quoted(*parts: str) -> str:
    """A name of one or more parts in backticks; a backtick in a part is doubled."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def is_plain(name: str) -> bool:
    """Whether Spark's grammar takes a name without backticks."""
    return _PLAIN_NAME.fullmatch(name) is not None


def ilike(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of SQL's ILIKE.

    `%` stands for any text, `_` for one character, and a backslash takes the next character as it is.
    """
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    expression = "".join(wild.get(part) or re.escape(part[-1]) for part in parts)
    return re.fullmatch(expression, text, re.IGNORECASE | re.DOTALL) is not None


def statements(script: str) -> list[str]:
    """The statements of a script, in order and without the semicolons that end them.

    Args:
        script: SQL; Spark itself takes one statement at a time and no semicolon within.

    Returns:
        At least one statement. What holds nothing but comments is left out, unless there is nothing else. Newlines
        in front of a statement put it on its line of the script, so that Spark's errors name that line.
    """
    if ";" not in script:
        return [script]
    found: list[str] = []
    start = position = 0
    bare = True
    while (token := _OPAQUE.search(script, position)) is not None:
        bare = bare and not script[position : token.start()].strip()
        position = token.end()
        if token["bracketed"]:
            position = _end_of_comment(script, position)
        elif token["end"]:
            if not bare:
                found.append(_with_lines(script, start, token.start()))
            start, bare = position, True
        elif not token["comment"]:
            bare = False
    if not bare or script[position:].strip():
        found.append(_with_lines(script, start, len(script)))
    return found or [script]


def _end_of_comment(script: str, position: int) -> int:
    """The end of a bracketed comment that opened before `position`; such comments nest."""
    depth = 1
    while depth and (bracket := _BRACKET.search(script, position)) is not None:
        depth += 1 if bracket[0] == "/*" else -1
        position = bracket.end()
    return len(script) if depth else position


def _with_lines(script: str, start: int, end: int) -> str:
    return "\n" * script.count("\n", 0, start) + script[start:end]
