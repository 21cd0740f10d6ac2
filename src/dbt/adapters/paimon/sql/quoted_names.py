"""Finds strings in double quotes that are probably meant as columns: in Spark `"id"` is the string `id`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.sql.text import edited
from dbt.adapters.paimon.sql.tokens import Token, tokens

# A cheap test before the import of sqlglot, which takes a second.
_MAY_BE: Final = re.compile(
    r'(?:\b(?:select|distinct|all|by|where|and|or|on|having|when|not)\b|[,(])\s*"[^"\n]+"', re.IGNORECASE
)
_COMPARES: Final = frozenset("= == <=> <> != < <= > >= is in between like rlike ilike not".split())
_OPENS: Final = frozenset("select distinct all , ( where and or on having when not".split())
_LISTS: Final = frozenset(("select", "group by", "order by", "partition by", "cluster by", "sort by", "distribute by"))
_ENDS_LIST: Final = frozenset("from where having limit rows range union except intersect".split())
_BEFORE_ITEM: Final = frozenset((*_LISTS, "distinct", "all", ","))
_AFTER_ITEM: Final = frozenset(
    ("", ",", ")", "as", "asc", "desc", "nulls", "where", "lateral", "qualify", ";", *_LISTS, *_ENDS_LIST)
)
# Functions whose argument is hardly ever a constant, and the token after that argument.
_OF_COLUMNS: Final = {
    **dict.fromkeys(("cast", "try_cast"), "as"),
    **dict.fromkeys(("coalesce", "nvl", "ifnull"), ","),
    **dict.fromkeys(("count", "sum", "avg", "min", "max", "first", "last", "any_value"), ")"),
}


@dataclass(frozen=True)
class QuotedName:
    """A string that may be meant as a column, and its places in the query: start and end, including quotes."""

    name: str
    places: tuple[tuple[int, int], ...]


def suspects(sql: str) -> list[QuotedName]:
    """The strings in double quotes that may be meant as columns; empty if the query cannot be parsed.

    Candidates are whole items of SELECT, GROUP BY, ORDER BY or PARTITION BY, left operands of comparisons, and
    arguments of casts and aggregates. An item with a different alias is a constant if the query also has the name
    without quotes: `select "a" as kind, a as value`.
    """
    if not _MAY_BE.search(sql):
        return []
    found = tokens(sql)
    unquoted = {token.text.strip("`") for token in found if token.kind in ("VAR", "IDENTIFIER")}
    places: dict[str, list[tuple[int, int]]] = {}
    for index, in_list in _texts(found, sql):
        name = sql[found[index].start + 1 : found[index].end]
        if _is_operand(found, index) or (in_list and _is_item(found, index, unquoted)):
            places.setdefault(name, []).append((found[index].start, found[index].end + 1))
    return [QuotedName(name, tuple(spans)) for name, spans in places.items()]


def as_columns(sql: str, names: Iterable[QuotedName]) -> str:
    """The query with these names in backticks."""
    return edited(sql, [(start, end, f"`{name.name}`") for name in names for start, end in name.places])


def warning(node: str, names: Sequence[QuotedName]) -> str:
    """The warning that a node's strings in double quotes are not columns, with the remedy."""
    strings = ", ".join(f'"{name.name}"' for name in names)
    return (
        f"{node}: {strings}: a constant string, not the column of that name, because in Spark double quotes make a "
        f"string. Write backticks, or {{{{ adapter.quote('{names[0].name}') }}}}. If a package does this, set "
        "spark_config: {spark.sql.ansi.enabled: true, spark.sql.ansi.doubleQuotedIdentifiers: true} for its models: "
        "double quotes are then names, and errors such as a division by zero fail the query"
    )


def _texts(statement: Sequence[Token], sql: str) -> Iterator[tuple[int, bool]]:
    """The indexes of strings in double quotes, and whether each is in the list of a clause."""
    levels = [False]
    for index, token in enumerate(statement):
        if token.text == "(":
            levels.append(False)
        elif token.text == ")" and len(levels) > 1:
            levels.pop()
        elif token.text in _LISTS:
            levels[-1] = True
        elif token.text in _ENDS_LIST:
            levels[-1] = False
        elif token.kind == "STRING" and sql[token.start] == '"' and "`" not in token.text:
            yield index, levels[-1]


def _at(statement: Sequence[Token], index: int) -> Token:
    return statement[index] if 0 <= index < len(statement) else Token()


def _is_operand(statement: Sequence[Token], index: int) -> bool:
    """Whether a token is the left side of a comparison, or the argument of a function in `_OF_COLUMNS`."""
    before, after = _at(statement, index - 1).text, _at(statement, index + 1).text
    if before in _OPENS and after in _COMPARES:
        return True
    opens = index - 2 if before == "distinct" else index - 1
    function = _at(statement, opens - 1).text
    return _at(statement, opens).text == "(" and function in _OF_COLUMNS and after == _OF_COLUMNS[function]


def _is_item(statement: Sequence[Token], index: int, unquoted: set[str]) -> bool:
    """Whether a token is a whole item of a list, and not a constant with a different alias."""
    token, before, after = statement[index], _at(statement, index - 1), _at(statement, index + 1)
    if before.text not in _BEFORE_ITEM or not (after.text in _AFTER_ITEM or after.kind == "VAR"):
        return False
    alias = _at(statement, index + 2) if after.text == "as" else after
    is_named = after.text == "as" or (after.kind == "VAR" and after.text != "nulls")
    name = token.text[1:-1]
    return not is_named or alias.text.strip("`") == name or name not in unquoted
