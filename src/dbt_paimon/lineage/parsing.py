"""Parses compiled queries, and resolves their names: relations to nodes, columns to relations, `*` to columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import sqlglot
from sqlglot import expressions as exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.parsers.spark import SparkParser
from sqlglot.schema import MappingSchema

from dbt.adapters.paimon.plan.materialized_views.parsing import is_cte, name_of

# Returns the id of the node that a relation belongs to; the name itself if it belongs to no node.
NodeOf = Callable[[tuple[str, ...]], str]

# Functions that sqlglot knows in Spark's SQL, in lower case.
KNOWN_FUNCTIONS: Final = frozenset(name.lower() for name in SparkParser.FUNCTIONS)
# Functions whose first argument may be a unit such as DAY, which is no column.
_WITH_UNIT: Final = frozenset("date_add date_diff dateadd datediff timestampadd timestampdiff".split())
_UNITS: Final = frozenset(
    "day dayofyear hour microsecond millisecond minute month quarter second week year".split(),
)


class Unresolved(Exception):
    """A query whose columns cannot be followed; the text is the reason."""


class _AsWritten(Spark):
    """Spark's SQL, with functions as they are written: sqlglot otherwise replaces some by others that differ."""

    class Parser(SparkParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        STRICT_CAST = True


def resolved(sql: str, node_of: NodeOf, columns: Mapping[str, Sequence[str]]) -> exp.Query:
    """Parse a query and resolve its names.

    Args:
        node_of: returns the id of a relation.
        columns: the known columns of relations, by id.

    Returns:
        The query: each relation has its id as name, each column the alias of its relation, and `*` is expanded
        where the columns are known. Names are in lower case.

    Raises:
        Unresolved: sqlglot cannot parse the query, or cannot say where a column comes from.
    """
    tree = parsed(sql)
    tables = _with_ids(tree, node_of)
    known: dict[str, object] = {
        table.name: dict.fromkeys(columns[table.name], "string") for table in tables if columns.get(table.name)
    }
    unknown = [table for table in tables if table.name not in known]
    for select in list(tree.find_all(exp.Select)):
        _expand_struct_stars(select)
    if unknown:
        known |= _columns_in_use(tree, unknown)
    _mark_units(tree)
    try:
        schema = MappingSchema(known, dialect=_AsWritten, normalize=False)
        return qualify(tree, dialect=_AsWritten, schema=schema, quote_identifiers=False, identify=False)
    except (SqlglotError, RecursionError) as exc:
        raise Unresolved(_first_line(exc)) from exc


def parsed(sql: str) -> exp.Query:
    """Parse a query; raises Unresolved."""
    try:
        tree = sqlglot.parse_one(sql, dialect=_AsWritten)
    except (SqlglotError, RecursionError) as exc:
        raise Unresolved(f"sqlglot cannot parse it: {_first_line(exc)}") from exc
    if not isinstance(tree, exp.Query):
        raise Unresolved("it is not a SELECT")
    if any(cte.alias.startswith("__tmp") for cte in tree.find_all(exp.CTE)):
        raise Unresolved("it has pipes (|>)")
    return tree


def plain(sql: str, node_of: NodeOf) -> str:
    """A query as text, without comments and format, with the ids of its relations; raises Unresolved."""
    tree = parsed(sql)
    _with_ids(tree, node_of)
    return repr(tree)


def names(sql: str) -> dict[str, set[str]]:
    """The names that a query gives to columns and fields, by the name in lower case; raises Unresolved."""
    found: dict[str, set[str]] = {}
    tree = parsed(sql)
    given = [item.alias_or_name for select in tree.find_all(exp.Select) for item in select.expressions]
    for name in (*given, *(alias.alias for alias in tree.find_all(exp.Alias))):
        found.setdefault(name.lower(), set()).add(name)
    return found


def _with_ids(tree: exp.Query, node_of: NodeOf) -> list[exp.Table]:
    """Replace the names of relations by their ids; returns the relations. Their names become aliases."""
    found = [
        table
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and (table.db or not is_cte(table))
    ]
    for table in found:
        name = name_of(table)
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name[-1], quoted=True)))
        table.set("this", exp.to_identifier(node_of(name), quoted=True))
        table.set("db", None)
        table.set("catalog", None)
    return found


def relations(sql: str) -> set[tuple[str, ...]]:
    """The names of the relations in a query, without CTEs and functions; raises Unresolved."""
    return {
        name_of(table)
        for table in parsed(sql).find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and (table.db or not is_cte(table))
    }


def _expand_struct_stars(select: exp.Select) -> None:
    """Replace `row.*` by the fields of `row`, if FROM is a subquery that makes it by from_json or from_csv."""
    given = select.args.get("from_")
    inner = given.this.unnest() if given is not None and isinstance(given.this, exp.Subquery) else None
    if not isinstance(inner, exp.Select) or select.args.get("joins"):
        return
    made = {item.alias.lower(): item.this for item in inner.expressions if isinstance(item, exp.Alias)}
    for item in list(select.expressions):
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) and item.table.lower() in made:
            fields = _fields(made[item.table.lower()])
            if fields and not any(item.this.args.values()):
                own = (exp.alias_(exp.column(name, table=item.table), name, quoted=True) for name in fields)
                at = select.expressions.index(item)
                select.set("expressions", [*select.expressions[:at], *own, *select.expressions[at + 1 :]])


def _fields(node: exp.Expr) -> list[str]:
    """The fields of the struct that from_json or from_csv returns; empty if its schema is not a literal."""
    literal = node.expressions[1] if isinstance(node, exp.Anonymous) and len(node.expressions) > 1 else None
    if node.name.lower() not in ("from_json", "from_csv") or not isinstance(literal, exp.Literal):
        return []
    try:
        struct = exp.DataType.build(f"struct<{literal.name}>", dialect=_AsWritten)
    except SqlglotError:
        return []
    return [field.name.lower() for field in struct.expressions if isinstance(field, exp.ColumnDef)]


def _columns_in_use(tree: exp.Query, unknown: Sequence[exp.Table]) -> dict[str, object]:
    """The columns that a query reads from relations whose columns are not known; raises Unresolved if it is unclear."""
    if any(map(_is_expression, tree.find_all(exp.Query))):
        raise Unresolved("it has a subquery, and reads a relation whose columns are not known")
    if any(select is not None and select.is_star for select in (table.find_ancestor(exp.Select) for table in unknown)):
        # An invented column would become one of `*`.
        return {}
    found: dict[str, set[str]] = {}
    for table in unknown:
        select = table.find_ancestor(exp.Select)
        if select is not None and isinstance(table.parent, (exp.From, exp.Join)):
            found.setdefault(table.name, set()).update(_uses(select, table))
    return {name: dict.fromkeys(sorted(columns), "string") for name, columns in found.items()}


def _uses(select: exp.Select, table: exp.Table) -> set[str]:
    """The columns of a relation that its SELECT names."""
    alone = not select.args.get("joins") and not select.args.get("laterals")
    names: set[str] = set()
    aliases: set[str] = set()
    # In this order: an alias of the SELECT list hides no column that is used before.
    for part in ("from_", "joins", "laterals", "where", "expressions", "group", "having", "qualify", "order"):
        given = select.args.get(part)
        for item in given if isinstance(given, list) else [given] if given else []:
            for column in item.find_all(exp.Column):
                name = column.name.lower()
                own = column.table.lower() == table.alias_or_name.lower()
                perhaps = alone and not column.table
                if own or (perhaps and (name not in aliases or name in names)):
                    names.add(name)
                elif perhaps and part != "order":
                    raise Unresolved(f"{name} may be a column of a relation whose columns are not known")
            if isinstance(item, exp.Alias):
                aliases.add(item.alias.lower())
    return names


def _is_expression(query: exp.Query) -> bool:
    """Whether a query is part of an expression, where a column may come from the query around it."""
    parent = query.parent
    while isinstance(parent, (exp.Subquery, exp.Paren)):
        parent = parent.parent
    return not isinstance(parent, (exp.CTE, exp.SetOperation, exp.From, exp.Join, type(None)))


def _mark_units(tree: exp.Query) -> None:
    """Turn units of date functions, which are parsed as columns, into plain words."""
    for call in tree.find_all(exp.Anonymous):
        first = call.expressions[0] if call.expressions else None
        if call.name.lower() in _WITH_UNIT and isinstance(first, exp.Column) and first.name.lower() in _UNITS:
            first.replace(exp.Var(this=first.name.upper()))


def _first_line(exc: BaseException) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0]
