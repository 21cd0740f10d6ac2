"""Qualifies the columns in a config's predicates with the table's alias.

The statement also reads the model's rows, which have the same columns, so a bare `id` would be ambiguous. Projects
use bare names, because other adapters delete in a separate statement, which reads only the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.messages import error_text, shorten
from dbt.adapters.paimon.sql.scala import elements
from dbt.adapters.paimon.sql.text import edited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The table's alias in MERGE, as in dbt's macros and documentation.
TABLE: Final = "DBT_INTERNAL_DEST"

# A name in an expression: its position and its parts.
Reference = tuple[int, tuple[str, ...]]


def as_list(value: Any) -> list[str]:
    """The value of a config that takes a predicate or a list of predicates, as a list."""
    if not value:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def of_table(
    references_of: Callable[[str], Iterable[Reference]], predicates: Sequence[str], columns: Iterable[str], model: str
) -> list[str]:
    """The predicates in parentheses, with the table's alias in front of each bare column of the table.

    `references_of` returns the names in an expression: `by_spark` or `by_sqlglot`.

    Raises:
        DbtRuntimeError: a predicate cannot be parsed.
    """
    names = {name.lower() for name in columns}
    found = []
    for text in predicates:
        try:
            references = references_of(text)
        except DbtRuntimeError:
            raise
        except Exception as exc:
            raise DbtRuntimeError(
                f"model '{model}': incremental_predicates: {text!r} is not a SQL expression: {shorten(error_text(exc))}"
            ) from exc
        # The closing parenthesis must not become part of a comment.
        end = "\n" if "--" in text else ""
        found.append(f"({qualify(text, references, names)}{end})")
    return found


def qualify(text: str, references: Iterable[Reference], columns: set[str]) -> str:
    """Insert the table's alias before the references in `text` that begin with one of `columns` (in lower case)."""
    return edited(text, [(at, at, f"{TABLE}.") for at, parts in references if parts[0].lower() in columns])


def by_spark(session: SparkSession, text: str) -> list[Reference]:
    """The column names in an expression, except in subqueries, found with Spark's parser."""
    parser = session._jsparkSession.sessionState().sqlParser()
    return list(_walk(parser.parseExpression(text), frozenset()))


def by_sqlglot(text: str) -> list[Reference]:
    """The column names in an expression, except in subqueries, found with sqlglot; for Spark on a server."""
    import sqlglot
    from sqlglot import expressions

    tree = sqlglot.parse_one(text, dialect="spark")
    found = []
    for column in tree.find_all(expressions.Column):
        if column.find_ancestor(expressions.Query) is not None:
            continue
        names = [part.name for part in column.parts]
        shadow = column.find_ancestor(expressions.Lambda)
        if shadow is not None and names[0] in {argument.name for argument in shadow.expressions}:
            continue
        found.append((_start_of(text, column.parts[0]), tuple(names)))
    return found


def _start_of(text: str, identifier: Any) -> int:
    start = int(identifier.meta["start"])
    # Some versions of sqlglot return the position of a quoted name's first letter, others that of its quote.
    return start - 1 if identifier.args.get("quoted") and text[start] != "`" else start


def _walk(expression: Any, arguments: frozenset[str]) -> Iterable[Reference]:
    kind = expression.getClass().getSimpleName()
    nodes = elements(expression.children())
    if kind == "LambdaFunction":
        # The first child is the lambda's body, the others are the names of its arguments.
        arguments |= {_parts(node)[0] for node in nodes[1:]}
        nodes = nodes[:1]
    elif kind in ("UnresolvedAttribute", "UnresolvedNamedLambdaVariable"):
        parts = _parts(expression)
        start = expression.origin().startIndex()
        if start.isDefined() and parts[0] not in arguments:
            yield int(start.get()), parts
    for node in nodes:
        yield from _walk(node, arguments)


def _parts(name: Any) -> tuple[str, ...]:
    return tuple(map(str, elements(name.nameParts())))
