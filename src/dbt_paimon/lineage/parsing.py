"""Parses compiled queries, and resolves their names: relations to nodes, columns to relations, `*` to columns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import sqlglot
from sqlglot import expressions as exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.helper import ensure_list
from sqlglot.optimizer.qualify import qualify
from sqlglot.parsers.spark import SparkParser
from sqlglot.schema import MappingSchema

from dbt.adapters.paimon.plan.materialized_views.parsing import is_relation, name_of, tables

# Returns the id of the node that a relation belongs to; the name itself if it belongs to no node.
NodeOf = Callable[[tuple[str, ...]], str]

# Functions that sqlglot knows in Spark's SQL, in lower case.
KNOWN_FUNCTIONS: Final = frozenset(name.lower() for name in SparkParser.FUNCTIONS)
# Functions whose first argument may be a unit such as DAY, which is no column.
_WITH_UNIT: Final = frozenset("date_add date_diff dateadd datediff timestampadd timestampdiff".split())
_UNITS: Final = frozenset(
    "day dayofyear hour microsecond millisecond minute month quarter second week year".split(),
)

# sqlglot warns about queries that it cannot resolve, but `Unresolved` already has the reason.
logging.getLogger("sqlglot").setLevel(logging.ERROR)
# Functions that turn one row into several, or none.
GENERATORS: Final = frozenset(
    "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode".split()
)
# Functions in FROM that make rows from their arguments.
_MAKES_ROWS: Final = GENERATORS | {"range"}


class Unresolved(Exception):
    """A query whose columns cannot be followed; the text is the reason."""


class _AsWritten(Spark):
    """Spark's SQL with function names as written: sqlglot would replace some by functions that behave differently."""

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
    found = _with_ids(tree, node_of)
    for select in list(tree.find_all(exp.Select)):
        _expand_struct_stars(select)
    known: dict[str, object] = {
        table.name: dict.fromkeys(columns[table.name], "string") for table in found if columns.get(table.name)
    }
    known |= _columns_in_use(tree, [table for table in found if table.name not in known])
    _normalize_calls(tree)
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
    """A query as text without comments and formatting, with the ids of its relations; raises Unresolved."""
    tree = parsed(sql)
    _with_ids(tree, node_of)
    return repr(tree)


def names(sql: str) -> set[str]:
    """The names that a query gives to columns and fields, as written; raises Unresolved."""
    tree = parsed(sql)
    given = {item.alias_or_name for select in tree.find_all(exp.Select) for item in select.expressions}
    return given | {alias.alias for alias in tree.find_all(exp.Alias)}


def relations(sql: str) -> set[tuple[str, ...]]:
    """The names of the relations in a query, without CTEs; raises Unresolved, also if a function may read tables."""
    tree = parsed(sql)
    for table in tree.find_all(exp.Table):
        makes_rows(table)
    return {name_of(table) for table in tables(tree)}


def makes_rows(table: exp.Table) -> bool:
    """Whether FROM has a function that makes rows from its arguments; raises Unresolved if it may read tables."""
    if isinstance(table.this, exp.Identifier):
        return False
    if table.this.name.lower() not in _MAKES_ROWS:
        raise Unresolved(f"it reads from {table.this.name or type(table.this).__name__}()")
    return True


def _with_ids(tree: exp.Query, node_of: NodeOf) -> list[exp.Table]:
    """Replace the names of relations by their ids; returns the relations. Their names become aliases."""
    found = list(tables(tree))
    for table in found:
        name = name_of(table)
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name[-1], quoted=True)))
        table.set("this", exp.to_identifier(node_of(name), quoted=True))
        table.set("db", None)
        table.set("catalog", None)
    return found


def _expand_struct_stars(select: exp.Select) -> None:
    """Replace `row.*` with the fields of `row`, if FROM is a subquery that creates it with from_json or from_csv."""
    structs = _structs(select)
    for item in list(select.expressions):
        if isinstance(item, exp.Column) and item.is_star and not any(item.this.args.values()):
            fields = structs.get(item.table.lower(), ())
            own = [exp.alias_(exp.column(name, table=item.table), name, quoted=True) for name in fields]
            item.replace(own or item)


def _structs(select: exp.Select) -> dict[str, list[str]]:
    """The fields of each struct that a subquery in FROM returns; empty if the SELECT has a join."""
    given = select.args.get("from_")
    inner = given.this.unnest() if given is not None else None
    if not isinstance(inner, exp.Select) or select.args.get("joins"):
        return {}
    return {item.alias.lower(): _fields(item.unalias()) for item in inner.expressions}


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
    if unknown and not all(map(is_relation, tree.find_all(exp.Query))):
        raise Unresolved("it has a subquery, and reads a relation whose columns are not known")
    found: dict[str, dict[str, str]] = {}
    for table in unknown:
        select = table.find_ancestor(exp.Select)
        if select is None or select.is_star:
            # `*` would be expanded to the columns in use, as if there were no others.
            return {}
        found.setdefault(table.name, {}).update(dict.fromkeys(sorted(_uses(select, table)), "string"))
    return dict(found)


def _uses(select: exp.Select, table: exp.Table) -> set[str]:
    """The columns of one relation that the SELECT uses by name."""
    owners = {table.alias_or_name.lower()}
    if not select.args.get("joins") and not select.args.get("laterals"):
        owners.add("")
    names: set[str] = set()
    aliases: set[str] = set()
    # The order matters: an alias of the SELECT list hides columns in later clauses only.
    clauses = ("from_", "joins", "laterals", "where", "expressions", "group", "having", "qualify")
    for item in (item for clause in clauses for item in ensure_list(select.args.get(clause))):
        used = {column.name.lower() for column in item.find_all(exp.Column) if column.table.lower() in owners}
        if unclear := used & aliases - names:
            raise Unresolved(f"{min(unclear)} may be a column of a relation whose columns are not known")
        names |= used
        aliases.add(item.alias.lower())
    return names


def _normalize_calls(tree: exp.Query) -> None:
    """Write function names in lower case, and make units of date functions, which are parsed as columns, keywords."""
    for call in tree.find_all(exp.Anonymous):
        name = call.name.lower()
        call.set("this", name)
        first = call.expressions[0] if call.expressions else None
        if name in _WITH_UNIT and isinstance(first, exp.Column) and first.name.lower() in _UNITS:
            first.replace(exp.Var(this=first.name.upper()))


def _first_line(exc: BaseException) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0]
