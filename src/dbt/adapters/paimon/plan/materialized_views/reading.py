"""Reads a view's query: which table drives it, what it is joined with, what it groups by.

Each part of a query is read into the rows that it gives. What is not shown here to be incremental is refreshed as a
whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import expressions as exp

from dbt.adapters.paimon.plan.materialized_views import parsing
from dbt.adapters.paimon.plan.materialized_views.parsing import Lookup
from dbt.adapters.paimon.plan.materialized_views.query import Branch, Join, Query, Read, SourceColumns
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason

# The CTEs in scope, by their names in lower case, each with those that it sees itself.
Scope = Mapping[str, tuple[exp.CTE, "Scope"]]

# Parts of a SELECT that leave each row as it is, or are read here; all others are refused by their names.
_CLAUSES: Final = frozenset("kind hint distinct expressions from_ joins where group having order with_ limit".split())
# SQL of the clauses that sqlglot names otherwise.
_SQL_WORDS: Final = {
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "windows": "WINDOW",
}
_GROUPING: Final = ("group", "distinct")
_FILTERS: Final = ("where", "having", "limit")
_WHOLE_NUMBERS: Final = frozenset("tinyint smallint int bigint".split())
_TEXTS: Final = ("string", "varchar", "char")
_INEXACT: Final = ("float", "double", "array", "map", "struct")
# Columns without an alias, whose names only Spark knows.
_UNNAMED: Final = "__dbt_unnamed_"
_TABLE_PARTS: Final = frozenset("this db catalog alias".split())
_SUBQUERY_PARTS: Final = frozenset("this alias with_ limit offset order".split())
_JOIN_PARTS: Final = frozenset("this side kind on using".split())


@dataclass(frozen=True)
class _Copy:
    """A copy of a column of a driving table: the number of the place that reads the table, and the column."""

    read: int
    column: str


@dataclass(frozen=True)
class _Literal:
    """A column with the same value in each row."""

    sql: str


_Column = _Copy | _Literal | None
# A table, by its alias, and the number of a column of it.
_At = tuple[str, int | None] | None


@dataclass(frozen=True)
class _Part:
    """The rows of one driving table: its branch, and what each column is."""

    branch: Branch
    columns: tuple[_Column, ...]


@dataclass(frozen=True)
class _Rows:
    """The rows that a part of a query gives.

    Attributes:
        names: the names of their columns, in lower case.
        groups: the numbers of the columns that they are grouped by; None if they are not.
    """

    names: tuple[str, ...]
    parts: tuple[_Part, ...]
    groups: tuple[int, ...] | None = None
    keeps_rows: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether they are the rows of one driving table, without groups."""
        return self.groups is None and len(self.parts) == 1

    def place(self, name: str) -> int | None:
        """The number of the column with a name; None without such a column, or with several."""
        return self.names.index(name) if self.names.count(name) == 1 else None


def read(sql: str, lookup: Lookup) -> Query:
    """What a view's query is made of.

    Returns:
        The query; `refusal` says why it is refreshed as a whole, if it is.
    """
    sql = parsing.with_views(sql, lookup)
    parsing.refuse_unpinned(sql)
    try:
        return _Reader(sql, lookup).query()
    except NotIncremental as refusal:
        return Query(sql, parsing.all_reads(sql, lookup), refusal=refusal)


class _Reader:
    """Reads one query, whose views are resolved."""

    def __init__(self, sql: str, lookup: Lookup) -> None:
        self._sql = sql
        self._lookup = lookup
        self._reads: list[Read] = []
        self._having: list[tuple[int, int]] = []

    def query(self) -> Query:
        """The query."""
        tree = parsing.parsed(self._sql)
        parsing.refuse_expressions(tree)
        rows = self._rows(tree, {})
        branches = tuple(self._keyed(rows, part) for part in rows.parts)
        groups = None if rows.groups is None else tuple(rows.names[place] for place in rows.groups)
        if unnamed := [name for name in groups or () if name.startswith(_UNNAMED)]:
            raise NotIncremental(
                Reason.CLAUSE, f"a GROUP BY column without an alias: {unnamed[0].removeprefix(_UNNAMED)}"
            )
        return Query(
            self._sql,
            tuple(self._reads),
            branches,
            groups,
            self._key(branches) if groups is None else groups,
            rows.keeps_rows and groups is None,
            tuple(self._having),
        )

    def _keyed(self, rows: _Rows, part: _Part) -> Branch:
        """A branch with its key columns and literals in the output."""
        driver = self._reads[part.branch.driver]
        if sum(read.start == driver.start for read in self._reads) > 1:
            raise NotIncremental(Reason.READ_TWICE, driver.table.name.shown)
        keys: dict[str, str] = {}
        for key in driver.table.primary_key:
            copy = _Copy(part.branch.driver, key.lower())
            if copy in part.columns:
                keys[rows.names[part.columns.index(copy)]] = key
        named = zip(rows.names, part.columns, strict=True)
        constants = {name: column.sql for name, column in named if isinstance(column, _Literal)}
        return replace(part.branch, keys=keys, constants=constants)

    def _key(self, branches: tuple[Branch, ...]) -> tuple[str, ...]:
        """The key of a query that does not group; empty if rows can only be appended to its table."""
        only_projects = not any(branch.joins for branch in branches)
        for branch in branches:
            source = self._reads[branch.driver].table
            if not source.primary_key:
                if only_projects:
                    return ()
                raise NotIncremental(Reason.NO_KEY, source.name.shown)
            missing = [key for key in source.primary_key if key not in branch.keys.values()]
            if missing:
                raise NotIncremental(Reason.KEY_NOT_SELECTED, missing[0], source.name.shown)
        return tuple(branches[0].keys) if len(branches) == 1 else _union_key(branches)

    # -- rows -------------------------------------------------------------------------------------------------------

    def _rows(self, node: exp.Expr, scope: Scope) -> _Rows:
        ctes = node.args.get("with_")
        if ctes is not None:
            if ctes.args.get("recursive"):
                raise NotIncremental(Reason.RECURSION)
            for cte in ctes.expressions:
                scope = {**scope, cte.alias.lower(): (cte, scope)}
        if isinstance(node, exp.Subquery):
            parsing.refuse_limit(node)
            _refuse_parts(node, _SUBQUERY_PARTS)
            rows = _renamed(node, self._rows(node.this, scope))
            return replace(rows, keeps_rows=rows.keeps_rows and node.args.get("limit") is None)
        if isinstance(node, exp.Union):
            return self._union(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope)
        if isinstance(node, exp.Table):
            return _renamed(node, self._table(node, scope))
        raise NotIncremental(Reason.SET_OPERATION, type(node).__name__.upper())

    def _table(self, node: exp.Table, scope: Scope) -> _Rows:
        _refuse_parts(node, _TABLE_PARTS)
        if not isinstance(node.this, exp.Identifier):
            raise NotIncremental(Reason.CLAUSE, node.sql(dialect="spark"))
        if not node.db and node.name.lower() in scope:
            cte, outer = scope[node.name.lower()]
            return _renamed(cte, self._rows(cte.this, outer))
        found = self._lookup(parsing.name_of(node))
        if not isinstance(found, SourceColumns):
            raise NotIncremental(Reason.NOT_PAIMON, ".".join(parsing.name_of(node)))
        number = len(self._reads)
        self._reads.append(Read(found, *parsing.span(node, self._sql), bool(node.alias)))
        names = tuple(column.lower() for column in found.columns)
        return _Rows(names, (_Part(Branch(number), tuple(_Copy(number, name) for name in names)),))

    def _union(self, node: exp.Union, scope: Scope) -> _Rows:
        if node.args.get("distinct") or node.args.get("by_name"):
            raise NotIncremental(Reason.SET_OPERATION, "UNION without ALL")
        parsing.refuse_limit(node)
        left, right = self._rows(node.left, scope), self._rows(node.right, scope)
        if left.groups is not None or right.groups is not None:
            raise NotIncremental(Reason.ABOVE_GROUPS)
        if len(left.names) != len(right.names):
            raise NotIncremental(Reason.SET_OPERATION, "UNION ALL of queries with different numbers of columns")
        keeps_rows = left.keeps_rows and right.keeps_rows and not _has(node, "limit")
        return _Rows(left.names, (*left.parts, *right.parts), keeps_rows=keeps_rows)

    def _select(self, node: exp.Select, scope: Scope) -> _Rows:
        _refuse_clauses(node)
        first = node.args["from_"].this
        tables = _Tables(first.alias_or_name, self._rows(first, scope))
        for join in node.args.get("joins") or ():
            self._join(join, tables, scope)
        if tables.first.groups is not None and _has(node, *_GROUPING, *_FILTERS):
            raise NotIncremental(Reason.ABOVE_GROUPS)
        if not _has(node, "group") and (parsing.aggregates(node) or _has(node, "having")):
            raise NotIncremental(Reason.NO_GROUP_BY)
        rows = _projected(node, tables)
        if _has(node, *_FILTERS):
            rows = replace(rows, keeps_rows=False)
        if _has(node, *_GROUPING):
            rows = replace(rows, groups=self._groups(node, tables, rows))
        return rows

    def _groups(self, node: exp.Select, tables: _Tables, rows: _Rows) -> tuple[int, ...]:
        """The output columns of GROUP BY or DISTINCT."""
        group, having = node.args.get("group"), node.args.get("having")
        if having is not None:
            self._having.append(parsing.having_span(having, self._sql))
        if group is None:
            return tuple(range(len(rows.names)))
        if _has(node, "distinct"):
            raise NotIncremental(Reason.CLAUSE, "DISTINCT with GROUP BY")
        parsing.refuse_grouping_sets(group)
        if len(rows.names) != len(node.expressions):
            raise NotIncremental(Reason.CLAUSE, "SELECT * with GROUP BY")
        if group.args.get("all"):
            if unknown := parsing.unknown_function(node):
                raise NotIncremental(Reason.CLAUSE, f"GROUP BY ALL with {unknown}()")
            return tuple(place for place, each in enumerate(node.expressions) if not parsing.aggregates(each))
        return tuple(dict.fromkeys(_output_of(each, node, tables, rows) for each in group.expressions))

    # -- joins ------------------------------------------------------------------------------------------------------

    def _join(self, join: exp.Join, tables: _Tables, scope: Scope) -> None:
        """Add a table that is joined on its whole primary key."""
        side = _side(join)
        if not tables.first.is_plain:
            raise NotIncremental(Reason.JOIN_TO_QUERY)
        rows = self._rows(join.this, scope)
        if not rows.is_plain or rows.parts[0].branch.joins:
            raise NotIncremental(Reason.JOIN_TO_QUERY)
        number = rows.parts[0].branch.driver
        source = self._reads[number].table
        driver = tables.first.parts[0].branch.driver
        keys = _equal_columns(tables.add(join, rows), self._reads[driver].table, source, driver)
        if not source.primary_key or any(key.lower() not in keys for key in source.primary_key):
            raise NotIncremental(Reason.JOIN_NOT_ON_KEY, source.name.shown)
        tables.joins.append(Join(number, {key: keys[key.lower()] for key in source.primary_key}))
        tables.keeps_rows = tables.keeps_rows and side == "LEFT"


class _Tables:
    """The tables of a FROM clause.

    Attributes:
        keeps_rows: whether no join drops a row.
    """

    def __init__(self, alias: str, rows: _Rows) -> None:
        self.first = rows
        self.joins: list[Join] = []
        self.keeps_rows = True
        # By their aliases in lower case.
        self._named = {alias.lower(): rows}
        self._using: set[str] = set()

    def add(self, join: exp.Join, rows: _Rows) -> list[tuple[_Copy, _Copy]]:
        """Add a joined table; gives the pairs of columns that are equal, of the driving table and of this one."""
        alias = join.this.alias_or_name.lower()
        if not alias or alias in self._named:
            raise NotIncremental(Reason.NOT_READABLE, f"two tables are called {alias or '(nothing)'}")
        before = dict(self._named)
        self._named[alias] = rows
        if using := join.args.get("using"):
            names = [name.name.lower() for name in using]
            self._using.update(names)
            return self._copies([(self._only(name, before), (alias, rows.place(name))) for name in names], rows)
        on = parsing.equalities(join.args["on"])
        return self._copies([(self.column(one), self.column(other)) for one, other in on], rows)

    def _copies(self, sides: Iterable[tuple[_At, _At]], rows: _Rows) -> list[tuple[_Copy, _Copy]]:
        both = itertools.chain.from_iterable((side, side[::-1]) for side in sides)
        copies = [(self._copy(one, self.first), self._copy(other, rows)) for one, other in both]
        return [(driving, joined) for driving, joined in copies if driving and joined]

    def _copy(self, at: _At, rows: _Rows) -> _Copy | None:
        """The column of a table that a place in these rows copies; None if it is another place."""
        if at is None or at[1] is None or self._named[at[0]] is not rows:
            return None
        column = rows.parts[0].columns[at[1]]
        return column if isinstance(column, _Copy) else None

    def _is_first(self, alias: str) -> bool:
        return self._named[alias] is self.first

    def column(self, node: exp.Expr) -> _At:
        """The table (by its alias) and the number of the column that an expression names; None if it is no column."""
        node = node.unnest()
        # A column with a schema is a field of a struct, or has the whole name of its table.
        if not isinstance(node, exp.Column) or node.args.get("db"):
            return None
        name, table = node.name.lower(), node.table.lower()
        if not table:
            return self._only(name, self._named)
        return (table, self._named[table].place(name)) if table in self._named else None

    def have(self, name: str) -> bool:
        """Whether a table has a column."""
        return any(name in rows.names for rows in self._named.values())

    def _only(self, name: str, named: Mapping[str, _Rows]) -> _At:
        """The only table that has a column; the first of those that are joined USING it, for no row of it is lost."""
        found = [alias for alias, rows in named.items() if name in rows.names]
        return (found[0], named[found[0]].place(name)) if len(found) == 1 or (found and name in self._using) else None

    def driving(self, node: exp.Expr) -> int | None:
        """The number of the column of the driving rows that an expression names; None if it names none of them."""
        at = self.column(node)
        return at[1] if at is not None and self._is_first(at[0]) else None

    def all_columns(self, table: str) -> Iterator[tuple[str, int | None]]:
        """The columns of `*` or of `t.*`: the name of each, and its number in the driving rows."""
        if (table and table not in self._named) or (not table and self._using):
            raise NotIncremental(Reason.CLAUSE, f"{table}.*" if table else "SELECT * after USING")
        for alias in [table] if table else list(self._named):
            for place, name in enumerate(self._named[alias].names):
                yield name, place if self._is_first(alias) else None


def _projected(node: exp.Select, tables: _Tables) -> _Rows:
    """The rows with the columns of the SELECT list."""
    first, items = tables.first, list(_items(node, tables))

    def columns(part: _Part) -> tuple[_Column, ...]:
        return tuple(literal if place is None else part.columns[place] for _, place, literal in items)

    groups = None if first.groups is None else _selected_groups(first, [place for _, place, _ in items])
    parts = tuple(
        _Part(replace(part.branch, joins=(*part.branch.joins, *tables.joins)), columns(part)) for part in first.parts
    )
    return _Rows(tuple(name for name, _, _ in items), parts, groups, first.keeps_rows and tables.keeps_rows)


def _selected_groups(rows: _Rows, places: Sequence[int | None]) -> tuple[int, ...]:
    """The numbers of the grouping columns of rows in a SELECT list of these columns."""
    for group in rows.groups or ():
        if group not in places:
            raise NotIncremental(Reason.GROUP_NOT_SELECTED, rows.names[group])
    return tuple(places.index(group) for group in rows.groups or ())


def _items(node: exp.Select, tables: _Tables) -> Iterator[tuple[str, int | None, _Literal | None]]:
    """Each output column: its name, the driving column that it copies, and its literal."""
    for number, each in enumerate(node.expressions):
        star = parsing.star_of(each)
        if star is not None:
            yield from ((name, place, None) for name, place in tables.all_columns(star))
            continue
        inner = parsing.unaliased(each)
        literal = parsing.literal(inner)
        name = parsing.output_name(each).lower() or f"{_UNNAMED}{number + 1}"
        yield name, tables.driving(inner), None if literal is None else _Literal(literal)


def _renamed(node: exp.Expr, rows: _Rows) -> _Rows:
    """The rows of a table whose alias also names its columns, such as `t(a, b)`."""
    alias = node.args.get("alias")
    names = tuple(column.name.lower() for column in alias.args.get("columns") or ()) if alias else ()
    if names and len(names) != len(rows.names):
        raise NotIncremental(Reason.CLAUSE, "a table alias with another number of columns")
    return replace(rows, names=names) if names else rows


def _has(node: exp.Expr, *clauses: str) -> bool:
    """Whether a query has one of these clauses."""
    return any(node.args.get(clause) is not None for clause in clauses)


def _refuse_parts(node: exp.Expr, known: frozenset[str]) -> None:
    """Refuse a table or a subquery with more than these parts, such as PIVOT."""
    more = sorted(key for key, value in node.args.items() if value and key not in known)
    if more:
        raise NotIncremental(Reason.CLAUSE, _sql_words(more))


def _refuse_clauses(node: exp.Select) -> None:
    """Refuse a SELECT with a clause that is not known to leave its rows as they are."""
    parsing.refuse_limit(node)
    more = sorted(key for key, value in node.args.items() if value and key not in _CLAUSES)
    if "laterals" in more:
        raise NotIncremental(Reason.GENERATOR)
    if more or node.args.get("from_") is None:
        raise NotIncremental(Reason.CLAUSE, _sql_words(more) or "a SELECT without FROM")


def _sql_words(clauses: Iterable[str]) -> str:
    """The SQL of clauses that sqlglot names."""
    return ", ".join(_SQL_WORDS.get(name, name.strip("_").upper()) for name in clauses)


def _side(join: exp.Join) -> str:
    """LEFT, or '' for an inner join."""
    side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or method:
        raise NotIncremental(Reason.JOIN_KIND, " ".join(word for word in (method, side, kind) if word))
    if join.args.get("on") is None and not join.args.get("using"):
        raise NotIncremental(Reason.JOIN_KIND, "CROSS")
    _refuse_parts(join, _JOIN_PARTS)
    return side


def _equal_columns(
    pairs: Iterable[tuple[_Copy, _Copy]], driving: SourceColumns, joined: SourceColumns, driver: int
) -> dict[str, str]:
    """The joined table's columns that a column of the driving table determines."""
    types, own = _types(driving), _types(joined)
    return {
        column.column: copy.column
        for copy, column in pairs
        if copy.read == driver and _compares_exactly(types[copy.column], own[column.column])
    }


def _types(table: SourceColumns) -> dict[str, str]:
    """The Spark types of a table's columns, by their names in lower case."""
    return {name.lower(): kind.lower() for name, kind in table.columns.items()}


def _compares_exactly(one: str, other: str) -> bool:
    """Whether a value of one type equals at most one value of another: a text '01' and a text '1' both equal 1."""
    texts = one.startswith(_TEXTS) and other.startswith(_TEXTS)
    same = one == other and not one.startswith(_INEXACT)
    return same or texts or (one in _WHOLE_NUMBERS and other in _WHOLE_NUMBERS)


def _output_of(group: exp.Expr, node: exp.Select, tables: _Tables, rows: _Rows) -> int:
    """The number of the output column of a GROUP BY expression."""
    if isinstance(group, exp.Literal) and not group.is_string and 0 < int(group.name) <= len(rows.names):
        return int(group.name) - 1
    for place, each in enumerate(node.expressions):
        inner = parsing.unaliased(each)
        if inner == group or _same_column(inner, group):
            return place
    aliased = _alias_place(group, node, tables, rows)
    if aliased is None:
        raise NotIncremental(Reason.GROUP_NOT_SELECTED, group.sql(dialect="spark"))
    return aliased


def _alias_place(group: exp.Expr, node: exp.Select, tables: _Tables, rows: _Rows) -> int | None:
    """The number of the output column with an alias, unless a table has that name: Spark groups by its column."""
    name = group.name.lower()
    if not isinstance(group, exp.Column) or group.table or tables.have(name):
        return None
    for place, each in enumerate(node.expressions):
        if isinstance(each, exp.Alias) and rows.names[place] == name:
            return place
    return None


def _same_column(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two names mean the same column, one with its table and one without."""
    if not (isinstance(one, exp.Column) and isinstance(other, exp.Column)):
        return False
    if one.name.lower() != other.name.lower():
        return False
    return not one.table or not other.table or one.table.lower() == other.table.lower()


def _union_key(branches: tuple[Branch, ...]) -> tuple[str, ...]:
    """The key of a UNION ALL: the column that tells its branches apart, and the key that all of them have."""
    keys = tuple(branches[0].keys)
    telling = _telling_apart(branches)
    if telling is None or any(set(branch.keys) != set(keys) for branch in branches):
        raise NotIncremental(Reason.UNION_BRANCHES)
    return (telling, *keys)


def _telling_apart(branches: tuple[Branch, ...]) -> str | None:
    """The column with another literal in each branch of a UNION ALL: texts, or numbers, for 1 and '1' may be equal."""
    for column in branches[0].constants:
        values = [branch.constants.get(column) or "" for branch in branches]
        alike = len({value.isdigit() for value in values}) == 1
        if all(values) and alike and len(set(values)) == len(values):
            return column
    return None
