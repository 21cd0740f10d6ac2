"""Spark SQL text: string literals, quoted names, ILIKE patterns, and splitting a script into statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

# Tokens that may contain a semicolon, as in Spark 3.5's SqlBaseLexer.g4; an unclosed one extends to the end.
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
# What may stand between statements (blanks, semicolons, comments), as in the same grammar.
_BLANK: Final = re.compile(r"[\s;]+|--(?:\\\r?\n|[^\r\n])*|(?P<bracketed>/\*)")
# Statements that end in free text (`.*?` in SqlBaseParser.g4), in which Spark does not recognize comments.
_TO_THE_END: Final = re.compile(r"(?:set|reset|add|list)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_WITH: Final = re.compile(r"with\b", re.IGNORECASE)
# The first words of statements that write rows.
_WRITES: Final = (["delete"], ["from"], ["insert"], ["merge"], ["update"], ["with"])
_BRACKET: Final = re.compile(r"/\*|\*/")
_FIRST_LINE_COMMENT: Final = re.compile(r"/\*(?:(?!\*/).)*\*/[ \t]*\n")

# A part of a qualified name.
_PART: Final = re.compile(r"`(?:[^`]|``)+`|[^.`]+")
# IDENTIFIER in the same grammar. Its rules for numbers come first, so `1e5` is not an identifier.
_PLAIN_NAME: Final = re.compile(r"(?!\d+(?:e\d+)?(?:[lsydf]|bd)?\Z)\w+", re.ASCII | re.IGNORECASE)


def string_literal(text: str) -> str:
    """A Spark SQL string literal.

    Quotes are escaped with a backslash: Spark 3.5 reads '' inside a literal as the end of one literal and the start of
    the next, and drops the quote [ran].

    Source: https://spark.apache.org/docs/3.5.7/sql-ref-literals.html#string-literal
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    # With `spark.sql.variable.substitute`, Spark would insert a setting or an environment variable here.
    escaped = escaped.replace("${", "\\u0024{")
    return f"'{escaped}'"


def quoted(*parts: str) -> str:
    """A name of one or more parts in backticks; backticks within a part are doubled."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def unquoted(name: str) -> str:
    """A part of a name, without backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a qualified name, without backticks."""
    return tuple(map(unquoted, _PART.findall(name)))


def is_plain(name: str) -> bool:
    """Whether Spark's grammar accepts a name without backticks."""
    return _PLAIN_NAME.fullmatch(name) is not None


def ilike(text: str, pattern: str) -> bool:
    """Whether a string matches an SQL ILIKE pattern (`%`, `_`, and a backslash as escape)."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    expression = "".join(wild.get(part) or re.escape(part[-1]) for part in parts)
    return re.fullmatch(expression, text, re.IGNORECASE | re.DOTALL) is not None


def commented(text: str, statement: str) -> str:
    """Add a second comment to a statement whose first line is a comment (dbt's query comment).

    Other statements are unchanged, so that positions in Spark's errors are positions in the statement.
    """
    if not text or not _FIRST_LINE_COMMENT.match(statement):
        return statement
    return f"/* {text.replace('*/', '* /')} */ {statement}"


def statements(script: str) -> list[str]:
    """The statements of a script, in order, without the semicolons that end them; at least one.

    Statements with only comments are omitted, unless there are no others. Newlines before a statement preserve its line
    number for Spark's errors. A semicolon before a closing parenthesis does not end a statement: dbt puts a node's
    query into parentheses (tests, contracts, ephemeral models).
    """
    if ";" not in script:
        return [script]
    script = _without_ends_in_parentheses(script)
    return [_with_lines(script, start, end) for start, end in _spans(script)] or [script]


def before_last_write(script: str, statement: str) -> str:
    """A script with one more statement before the last one that writes rows; all statements keep their line numbers."""
    script = _without_ends_in_parentheses(script)
    starts = [start for start, _ in _spans(script)]
    writes = [start for start in starts if first_words(script[start:], 1)[:1] in _WRITES]
    start = max(writes or starts)
    return f"{script[:start]}{statement};{script[start:]}"


def _spans(script: str) -> list[tuple[int, int]]:
    """Where the statements of a script begin and end, without those that have only comments."""
    found: list[tuple[int, int]] = []
    start = position = 0
    bare = True
    for token, end in _opaque(script):
        bare = bare and not script[position : token.start()].strip()
        position = end
        if token["end"]:
            if not bare:
                found.append((start, token.start()))
            start, bare = position, True
        elif token.lastgroup is None:
            bare = False
    if not bare or script[position:].strip():
        found.append((start, len(script)))
    return found


def is_empty(script: str) -> bool:
    """Whether a script has only comments, blanks and semicolons."""
    return after_blanks(script) == len(script)


def takes_the_rest(script: str) -> bool:
    """Whether Spark would read a comment after a script as part of its last statement, which ends in free text."""
    last = statements(script)[-1]
    return _TO_THE_END.match(last, after_blanks(last)) is not None


def begins_query(header: str) -> bool:
    """Whether a SQL header is the beginning of the query after it (WITH), and not a statement of its own."""
    last = statements(header)[-1]
    return _WITH.match(last, after_blanks(last)) is not None


def after_blanks(script: str, position: int = 0) -> int:
    """The end of the blanks, comments and semicolons that start at a position."""
    while (token := _BLANK.match(script, position)) is not None:
        position = token.end()
        if token["bracketed"]:
            position = _end_of_comment(script, position)
    return position


def first_words(script: str, count: int) -> list[str]:
    """The first words of a script in lower case, without the blanks and comments between them."""
    words: list[str] = []
    position = 0
    while len(words) < count and (word := _WORD.match(script, after_blanks(script, position))) is not None:
        words.append(word[0].lower())
        position = word.end()
    return words


def without_end(script: str) -> str:
    """A script without the semicolons at its end, so that a clause can follow; comments are kept."""
    return _without_ends(script, lambda after: after == len(script))


def _without_ends_in_parentheses(script: str) -> str:
    return _without_ends(script, lambda after: script.startswith(")", after))


def _without_ends(script: str, idle: Callable[[int], bool]) -> str:
    """Replace each semicolon with a blank if `idle` is true for the position of the next token."""
    for token, end in _opaque(script):
        if token["end"] and idle(after_blanks(script, end)):
            script = f"{script[: token.start()]} {script[end:]}"
    return script


def _opaque(script: str) -> Iterator[tuple[re.Match[str], int]]:
    """The comments, strings, quoted names and semicolons of a script, each with its end."""
    position = 0
    while (token := _OPAQUE.search(script, position)) is not None:
        position = _end_of_comment(script, token.end()) if token["bracketed"] else token.end()
        yield token, position


def _end_of_comment(script: str, position: int) -> int:
    """The end of a bracketed comment that starts before `position`; bracketed comments can be nested."""
    depth = 1
    while depth and (bracket := _BRACKET.search(script, position)) is not None:
        depth += 1 if bracket[0] == "/*" else -1
        position = bracket.end()
    return len(script) if depth else position


def _with_lines(script: str, start: int, end: int) -> str:
    return "\n" * script.count("\n", 0, start) + script[start:end]


def edited(sql: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Replace spans of SQL; each edit is (start, end, new text)."""
    for start, end, text in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{text}{sql[end:]}"
    return sql


def bound(statement: str, texts: Sequence[Any]) -> str:
    """A statement with string literals in place of its `?` markers; it must not contain other question marks."""
    parts = statement.split("?")
    assert len(parts) == len(texts) + 1
    return parts[0] + "".join(string_literal(text) + part for text, part in zip(texts, parts[1:], strict=True))
