"""Predicates of a config over the rows of the table, in a statement that reads the model's rows too.

Both have the same columns: a bare `id` would be ambiguous. dbt's other adapters delete in a statement of its own, where
only the table is read, and projects write their predicates for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.messages import error_text, shorten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The table's alias in MERGE, as dbt's own macros and its documentation have it.
TABLE: Final = "DBT_INTERNAL_DEST"

# A name in an expression: where its text begins, and its parts.
Reference = tuple[int, tuple[str, ...]]


def as_list(value: Any) -> list[str]:
    """A config of one predicate or a list of them."""
    if not value:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def of_table(
    references_of: Callable[[str], Iterable[Reference]],
    predicates: Sequence[str],
    columns: Iterable[str],
    model: str,
) -> list[str]:
    """The predicates with each bare column of the table written as the table's, in parentheses.

    Args:
        references_of: gives the names in an expression, of `by_spark` or `by_sqlglot`.
        predicates: SQL expressions.
        columns: the table's columns.
        model: the model's name, for errors.

    Raises:
        DbtRuntimeError: Spark does not parse one: the model, the predicate and Spark's reason.
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
                f"model '{model}': incremental_predicates: {text!r} is no SQL expression: "
                f"{shorten(error_text(exc))}"
            ) from exc
        found.append(f"({qualify(text, references, names)})")
    return found


def qualify(text: str, references: Iterable[Reference], columns: set[str]) -> str:
    """Write the table's alias before those references of `text` that begin with one of its columns.

    Args:
        text: an SQL expression.
        references: the names in it; a part after a column is a field of it.
        columns: the table's columns in lower case.
    """
    for position, parts in sorted(references, reverse=True):
        if parts[0].lower() in columns:
            text = f"{text[:position]}{TABLE}.{text[position:]}"
    return text


def by_spark(session: SparkSession, text: str) -> list[Reference]:
    """The names of columns in an expression, as Spark's own parser finds them; none from within a subquery."""
    parser = session._jsparkSession.sessionState().sqlParser()
    return list(_walk(parser.parseExpression(text), frozenset()))


def by_sqlglot(text: str) -> list[Reference]:
    """The same where Spark's parser is on another machine.

    Raises:
        DbtRuntimeError: sqlglot is not installed.
        sqlglot.errors.SqlglotError: it is no expression.
    """
    try:
        import sqlglot
        from sqlglot import expressions
    except ImportError as exc:
        raise DbtRuntimeError(
            "incremental_predicates on a Spark server are read by sqlglot: `pip install 'dbt-paimon[connect]'` "
            "or `pip install 'dbt-paimon[thrift]'`."
        ) from exc
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
    # The place of a quoted name is that of its first letter in some versions of sqlglot, of its quote in others.
    return start - 1 if identifier.args.get("quoted") and text[start] != "`" else start


def _walk(expression: Any, arguments: frozenset[str]) -> Iterable[Reference]:
    kind = expression.getClass().getSimpleName()
    children = expression.children()
    nodes = [children.apply(index) for index in range(children.size())]
    if kind == "LambdaFunction":
        # Its first child is the body, the others are the arguments' names.
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
    parts = name.nameParts()
    return tuple(str(parts.apply(index)) for index in range(parts.size()))
