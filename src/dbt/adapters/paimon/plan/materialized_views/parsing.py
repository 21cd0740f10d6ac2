"""Parses the SQL of views with sqlglot, and locates tables and clauses in it.

sqlglot only reads the SQL. The SQL that it generates changes the meaning of some functions, so a refresh edits the
user's SQL instead. Importing sqlglot takes a second, so this module is imported only when a view is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from dbt.adapters.paimon.plan.materialized_views.query import Read, SourceColumns
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason
from dbt.adapters.paimon.sql import repeatable
from dbt.adapters.paimon.sql.text import edited, string_literal
from dbt.adapters.paimon.sql.tokens import Token, tokens

# Looks up a name in the catalog (as written, with or without catalog and schema). Returns a table, the query of a view,
# or None.
Lookup = Callable[[tuple[str, ...]], SourceColumns | str | None]

_MAX_DEPTH: Final = 100
# Clauses after a table's name that choose its table snapshot, or precede its alias.
_UNPINNED: Final = {"version": "VERSION AS OF", "when": "VERSION AS OF", "sample": "TABLESAMPLE"}
# sqlglot's names of functions that depend on the session, the clock, chance or the order of rows (see `repeatable`).
# It parses `collect_list` as `array_agg`. The names listed here have no function in Spark, or one with another name.
_VOLATILE: Final = {
    name.replace("_", "")
    for group in (repeatable.CHANCE, repeatable.ORDER, repeatable.CLOCKS, repeatable.SESSION)
    for name in group
} | set("arrayuniqueagg currentdatetime currentschema groupconcat localtime utctimestamp".split())
# Tokens that end a HAVING clause.
_AFTER_HAVING: Final = frozenset(
    "ORDER_BY SORT_BY CLUSTER_BY DISTRIBUTE_BY LIMIT UNION EXCEPT INTERSECT SEMICOLON".split()
)
# Paimon's columns of tables with row tracking.
_HIDDEN: Final = frozenset(("_row_id", "_sequence_number"))
# Names that Spark calls as functions without parentheses.
_BARE: Final = frozenset(("localtimestamp", "user"))
# Strings that Spark casts to the current time or day; a time zone may follow, as in 'today UTC'.
_CLOCK: Final = re.compile(r"\s*(now|(today|tomorrow|yesterday)(?!\w)[ \t]*\S*)\s*", re.IGNORECASE)


# -- tables -----------------------------------------------------------------------------------------------------------


def parsed(sql: str) -> exp.Query:
    """Parse a SELECT."""
    try:
        tree = sqlglot.parse_one(sql, dialect="spark")
    except (SqlglotError, RecursionError) as exc:
        raise NotIncremental(Reason.NOT_READABLE, str(exc).splitlines()[0]) from exc
    if not isinstance(tree, exp.Query):
        raise NotIncremental(Reason.NOT_READABLE, "it is not a SELECT")
    # sqlglot turns pipes into CTEs with these names.
    if any(cte.alias.startswith("__tmp") for cte in tree.find_all(exp.CTE)):
        raise NotIncremental(Reason.NOT_READABLE, "it has pipes (|>)")
    return tree


def with_views(sql: str, lookup: Lookup) -> str:
    """Replace the views of a query with their own queries."""
    for _ in range(_MAX_DEPTH):
        edits = []
        for table in tables(parsed(sql)):
            found = lookup(name_of(table))
            if isinstance(found, str):
                _refuse_short_names(table, found)
                start, end = span(table, sql)
                alias = "" if table.alias else f" as {sql[table.parts[-1].meta['start'] : end]}"
                edits.append((start, end, f"(\n{found}\n){alias}"))
        if not edits:
            return sql
        sql = edited(sql, edits)
    raise NotIncremental(Reason.NOT_READABLE, f"views are nested more than {_MAX_DEPTH} deep")


def _refuse_short_names(view: exp.Table, sql: str) -> None:
    """Refuse a view that names a table without its schema, which could be a different table in the query."""
    short = next((table.name for table in tables(parsed(sql)) if not table.db), None)
    if short is not None:
        raise NotIncremental(Reason.NOT_READABLE, f"the view {view.name} reads {short} without its schema")


def refuse_short_names(sql: str) -> None:
    """Refuse a table's name without catalog and schema: the session's may differ from the target's."""
    short = min((".".join(name) for name in table_names(sql) if len(name) < 3), default=None)
    if short is not None:
        raise NotIncremental(Reason.NOT_READABLE, f"{short} has no catalog")


def refuse_unpinned(sql: str) -> None:
    """Refuse a query whose tables cannot be pinned to a table snapshot."""
    tree = parsed(sql)
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            raise NotIncremental(Reason.NOT_PAIMON, table.this.sql(dialect="spark"))
        for part, words in _UNPINNED.items():
            if table.args.get(part):
                raise NotIncremental(Reason.CLAUSE, words)
    _refuse_columns(tree)


def _refuse_columns(tree: exp.Query) -> None:
    """Refuse columns that a pinned table does not have: hidden ones, and those qualified by a schema."""
    named = {(table.db.lower(), table.name.lower()) for table in tables(tree) if table.db and not table.alias}
    for column in tree.find_all(exp.Column):
        if (column.db.lower(), column.table.lower()) in named:
            raise NotIncremental(Reason.NOT_READABLE, f"{column.sql()}: give {column.table} an alias")
        if column.name.lower().startswith("__paimon_") or column.name.lower() in _HIDDEN:
            raise NotIncremental(Reason.FUNCTION, f"it reads {column.name}")


def all_reads(sql: str, lookup: Lookup) -> tuple[Read, ...]:
    """Every read of a table in a query, even in one that needs a full refresh."""
    return tuple(read(table, sql, lookup) for table in tables(parsed(sql)))


def table_names(sql: str) -> set[tuple[str, ...]]:
    """The names of the tables in a query, as written."""
    return {name_of(table) for table in tables(parsed(sql))}


def read(table: exp.Table, sql: str, lookup: Lookup) -> Read:
    """The read of a table; raises NotIncremental if it is not a Paimon table."""
    found = lookup(name_of(table))
    if not isinstance(found, SourceColumns):
        raise NotIncremental(Reason.NOT_PAIMON, ".".join(name_of(table)))
    return Read(found, *span(table, sql), bool(table.alias))


def tables(tree: exp.Query) -> Iterator[exp.Table]:
    """The tables of a query, without its CTEs."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (table.db or not is_cte(table)):
            yield table


def is_cte(table: exp.Table) -> bool:
    """Whether an unqualified name refers to a CTE in scope."""
    node: exp.Expr | None = table
    name, inside = table.name.lower(), None
    while node is not None:
        if isinstance(node, exp.CTE):
            inside = node
        ctes = node.args.get("with_")
        for cte in ctes.expressions if ctes else ():
            if cte is inside and not node.args["with_"].args.get("recursive"):
                break
            if cte.alias.lower() == name:
                return True
        node = node.parent
    return False


def name_of(table: exp.Table) -> tuple[str, ...]:
    """The parts of a table's name, as written."""
    return tuple(part.name for part in table.parts)


def span(table: exp.Table, sql: str) -> tuple[int, int]:
    """The start and end of a table's name in the SQL."""
    first, last = table.parts[0].meta, table.parts[-1].meta
    if "start" not in first or "end" not in last:
        raise NotIncremental(Reason.NOT_READABLE, f"the position of {table.name} is unknown")
    start, end = first["start"], last["end"] + 1
    if table.name not in sql[start:end].replace("``", "`"):
        raise NotIncremental(Reason.NOT_READABLE, f"the position of {table.name} is unknown")
    return start, end


# -- clauses ----------------------------------------------------------------------------------------------------------


def having_span(having: exp.Expr, sql: str) -> tuple[int, int]:
    """The start and end of a HAVING clause: from its keyword to the next clause of its SELECT."""
    found = tokens(sql)
    begin = _having_token(having, found)
    depth = 0
    for token in found[begin + 1 :]:
        depth += (token.kind == "L_PAREN") - (token.kind == "R_PAREN")
        if depth < 0 or (depth == 0 and token.kind in _AFTER_HAVING):
            return found[begin].start, token.start
    return found[begin].start, len(sql)


def _having_token(having: exp.Expr, found: Sequence[Token]) -> int:
    begins = [at for at, token in enumerate(found) if token.kind == "HAVING"]
    inside = min((part.meta["start"] for part in having.walk() if "start" in part.meta), default=None)
    if inside is not None:
        begins = [at for at in begins if found[at].start < inside][-1:]
    # sqlglot stores no position for a condition such as `count(*) > 1`, so its HAVING must be the only one.
    if len(begins) != 1:
        raise NotIncremental(Reason.CLAUSE, "HAVING without a column")
    return begins[0]


def refuse_grouping_sets(group: exp.Expr) -> None:
    """Refuse GROUPING SETS, CUBE and ROLLUP."""
    sets = (exp.Cube, exp.Rollup, exp.GroupingSets)
    if any(group.args.get(key) for key in ("grouping_sets", "cube", "rollup", "totals")) or any(
        isinstance(each, sets) for each in group.expressions
    ):
        raise NotIncremental(Reason.GROUPING_SETS)


def refuse_limit(node: exp.Expr) -> None:
    """Refuse a LIMIT, except LIMIT 0 of dbt's `--empty`."""
    limit = node.args.get("limit")
    none = isinstance(limit, exp.Limit) and limit.expression.name == "0"
    if node.args.get("offset") or (limit is not None and not none):
        raise NotIncremental(Reason.LIMIT)


# -- expressions ------------------------------------------------------------------------------------------------------


def refuse_expressions(tree: exp.Query) -> None:
    """Refuse expressions that depend on other rows, or turn one row into several."""
    generators = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack, exp.Unnest, exp.Lateral)
    for node in tree.walk():
        if isinstance(node, exp.Window):
            raise NotIncremental(Reason.WINDOW)
        if isinstance(node, generators):
            raise NotIncremental(Reason.GENERATOR)
        if isinstance(node, exp.Query) and node is not tree and not is_relation(node):
            raise NotIncremental(Reason.SUBQUERY)
        if isinstance(node, (exp.Values, exp.TableSample)):
            raise NotIncremental(Reason.CLAUSE, type(node).__name__.upper())
    # A new row may join two sessions, and so change groups that no changed row is in.
    if calls(tree, "session_window"):
        raise NotIncremental(Reason.CLAUSE, "session_window()")


def calls(tree: exp.Expr, function: str) -> bool:
    """Whether SQL calls a function that sqlglot does not know, by its lower-case name."""
    return any(node.name.lower() == function for node in tree.find_all(exp.Anonymous))


def is_relation(node: exp.Query) -> bool:
    """Whether a nested query is a CTE, a branch of a UNION, or a subquery in FROM or JOIN."""
    parent = node.parent
    while isinstance(parent, (exp.Subquery, exp.Paren)):
        parent = parent.parent
    return parent is None or isinstance(parent, (exp.CTE, exp.SetOperation, exp.From, exp.Join))


def refuse_unknown_functions(sql: str) -> None:
    """Refuse functions that may return a different result for the same rows, judged by their names."""
    for node in parsed(sql).find_all(exp.Any, exp.Func, exp.Column, exp.Literal, exp.RawString):
        if isinstance(node, (exp.Any, exp.Anonymous)):
            raise NotIncremental(Reason.UNKNOWN_FUNCTION, node.name.lower() or "any")
        if why := _volatile(node):
            raise NotIncremental(Reason.FUNCTION, why)


def refuse_unknown_names(sql: str, columns: Iterable[str]) -> None:
    """Refuse a name that is neither one of `columns` nor defined in the query: a session variable may change."""
    tree = parsed(sql)
    known = {name.lower() for name in columns}
    known |= {node.alias_or_name.lower() for node in tree.find_all(exp.Alias, exp.Table)}
    known |= {name.name.lower() for node in tree.find_all(exp.Aliases) for name in node.expressions}
    for alias in tree.find_all(exp.TableAlias):
        known |= {alias.name.lower(), *(column.name.lower() for column in alias.columns)}
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and column.parts[0].name.lower() not in known:
            raise NotIncremental(Reason.FUNCTION, f"it reads {column.parts[0].name}, which no source has")


def refuse_replaced(sql: str) -> None:
    """Refuse what Spark's plan does not show, because it was replaced by a value: date'today', `sys.max_pt('t')`."""
    for call in parsed(sql).find_all(exp.Anonymous):
        if call.name.lower() in repeatable.REPLACED:
            raise NotIncremental(Reason.FUNCTION, f"it calls {call.name.lower()}")
    for cast in parsed(sql).find_all(exp.Cast):
        if cast.to.is_type(*exp.DataType.TEMPORAL_TYPES) and (why := _clock(cast.this)):
            raise NotIncremental(Reason.FUNCTION, why)


def _clock(node: exp.Expr) -> str:
    is_string = isinstance(node, exp.RawString) or (isinstance(node, exp.Literal) and node.is_string)
    return f"it reads the clock ('{node.name}')" if is_string and _CLOCK.fullmatch(node.name) else ""


def _volatile(node: exp.Expr) -> str:
    """Why an expression may return a different result next time; '' if it cannot."""
    name = node.name.lower()
    if isinstance(node, exp.Column) and not node.table and name in _BARE:
        return f"it calls {name}"
    if isinstance(node, exp.Func) and type(node).__name__.lower() in _VOLATILE:
        return f"it calls {node.sql_name().lower()}"
    return _clock(node)


def aggregates(node: exp.Expr) -> bool:
    """Whether an expression, or the SELECT list or ORDER BY of a query, calls an aggregate known to sqlglot."""
    items = [*node.expressions, node.args.get("order")] if isinstance(node, exp.Select) else [node]
    return any(item is not None and item.find(exp.AggFunc) is not None for item in items)


def group_bys(sql: str) -> int:
    """The number of SELECTs of a query that have a GROUP BY."""
    return sum(select.args.get("group") is not None for select in parsed(sql).find_all(exp.Select))


def unknown_function(node: exp.Select) -> str | None:
    """The first function of a SELECT list that may be an aggregate, because sqlglot does not know it; else None."""
    unknown = (exp.Anonymous, exp.Any)
    found = next((call for item in node.expressions for call in item.find_all(*unknown)), None)
    return None if found is None else str(getattr(found, "name", "") or type(found).__name__).lower()


def equalities(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """The equality comparisons that a condition combines with AND."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from equalities(node.left)
        yield from equalities(node.right)
    elif isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        yield node.left, node.right


def star_of(node: exp.Expr) -> str | None:
    """The table of `t.*`, in lower case; '' for `*`; None for any other expression."""
    star = node.this if isinstance(node, exp.Column) else node
    if not isinstance(star, exp.Star):
        return None
    if any(value for value in star.args.values()):
        raise NotIncremental(Reason.CLAUSE, "* except")
    if node.args.get("db"):
        raise NotIncremental(Reason.CLAUSE, f"{node.sql(dialect='spark')} of a struct")
    return node.table.lower() if isinstance(node, exp.Column) else ""


def output_name(node: exp.Expr) -> str:
    """The name of a SELECT list column; '' if only Spark knows it."""
    node = node.unnest()
    if isinstance(node, exp.Alias):
        return str(node.alias)
    return node.name if isinstance(node, exp.Column) else ""


def literal(node: exp.Expr) -> str | None:
    """The SQL of a string or integer literal; None for any other expression."""
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return string_literal(node.name)
    return str(int(node.name)) if node.name.isdecimal() else None
