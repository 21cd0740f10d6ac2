"""Analyzes a view's query: its driving table, its joined tables and its grouping.

Each subquery becomes an `_Output`. A query gets a full refresh unless this module can prove an incremental one correct.
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
from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.plain_values import INTEGERS

# The CTEs in scope, by lower-case name, each with the scope that it is defined in.
Scope = Mapping[str, tuple[exp.CTE, "Scope"]]

# sqlglot's names of the SELECT clauses that this module handles or can ignore; any other clause is refused.
_CLAUSES: Final = frozenset("kind hint distinct expressions from_ joins where group having order with_ limit".split())
# sqlglot's name -> SQL, where they differ.
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
_INEXACT: Final = ("float", "double", "array", "map", "struct")
# Prefix for columns without an alias, whose names only Spark knows.
_UNNAMED: Final = "__dbt_unnamed_"
_TABLE_PARTS: Final = frozenset("this db catalog alias".split())
_SUBQUERY_PARTS: Final = frozenset("this alias with_ limit offset order".split())
_JOIN_PARTS: Final = frozenset("this side kind on using".split())


@dataclass(frozen=True)
class _Copy:
    """A column copied from a table; `read` is the index of the `Read`."""

    read: int
    column: str


# The origin of an output column: the column that it copies, the SQL of its literal, or None.
_Column = _Copy | str | None


@dataclass(frozen=True)
class _ColumnRef:
    """A column of a table; `index` is None if the table has no such column, or several."""

    alias: str
    index: int | None


@dataclass(frozen=True)
class _BranchOutput:
    """One branch of a UNION ALL, or a whole query without one, and the origin of each output column."""

    branch: Branch
    columns: tuple[_Column, ...]


@dataclass(frozen=True)
class _Output:
    """The output of a query or subquery.

    Attributes:
        names: the column names, in lower case.
        groups: the indexes of the grouping columns; None without grouping.
        keeps_rows: whether every driving row yields exactly one output row.
    """

    names: tuple[str, ...]
    branches: tuple[_BranchOutput, ...]
    groups: tuple[int, ...] | None = None
    keeps_rows: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether there is one driving table and no grouping."""
        return self.groups is None and len(self.branches) == 1

    def index(self, name: str) -> int | None:
        """The index of the only column with a name, or None."""
        return self.names.index(name) if self.names.count(name) == 1 else None


def analyze(sql: str, lookup: Lookup) -> Query:
    """Analyze a materialized view's query; `refusal` is the reason if it always needs a full refresh."""
    sql = parsing.with_views(sql, lookup)
    parsing.refuse_unpinned(sql)
    try:
        return _Analyzer(sql, lookup).query()
    except NotIncremental as refusal:
        return Query(sql, parsing.all_reads(sql, lookup), refusal=refusal)


class _Analyzer:
    """Analyzes one query, after its views were expanded."""

    def __init__(self, sql: str, lookup: Lookup) -> None:
        self._sql = sql
        self._lookup = lookup
        self._reads: list[Read] = []
        self._having: list[tuple[int, int]] = []

    def query(self) -> Query:
        """Analyze the query; raises NotIncremental."""
        tree = parsing.parsed(self._sql)
        parsing.refuse_expressions(tree)
        output = self._output(tree, {})
        branches = tuple(self._with_keys(output, part) for part in output.branches)
        groups = None if output.groups is None else tuple(output.names[index] for index in output.groups)
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
            output.keeps_rows and groups is None,
            tuple(self._having),
        )

    def _with_keys(self, output: _Output, part: _BranchOutput) -> Branch:
        """Add the output's key columns and literals to a branch."""
        driver = self._reads[part.branch.driver]
        if sum(read.start == driver.start for read in self._reads) > 1:
            raise NotIncremental(Reason.READ_TWICE, driver.table.name.shown)
        keys: dict[str, str] = {}
        for key in driver.table.primary_key:
            copy = _Copy(part.branch.driver, key.lower())
            if copy in part.columns:
                keys[output.names[part.columns.index(copy)]] = key
        named = zip(output.names, part.columns, strict=True)
        constants = {name: column for name, column in named if isinstance(column, str)}
        return replace(part.branch, keys=keys, constants=constants)

    def _key(self, branches: tuple[Branch, ...]) -> tuple[str, ...]:
        """The key of a query without grouping; empty if rows can only be appended to its table."""
        for branch in branches:
            source = self._reads[branch.driver].table
            if not source.primary_key:
                return ()
            missing = [key for key in source.primary_key if key not in branch.keys.values()]
            if missing:
                raise NotIncremental(Reason.KEY_NOT_SELECTED, missing[0], source.name.shown)
        if len(branches) == 1:
            return tuple(branches[0].keys)
        key = _union_key(branches)
        for name in branches[0].keys:
            first, *others = (_types(self._reads[each.driver].table)[each.keys[name].lower()] for each in branches)
            if other := next((kind for kind in others if not _compares_exactly(first, kind)), None):
                raise NotIncremental(Reason.KEY_TYPE, name, f"{first} and {other}")
        return key

    # -- tables and subqueries -------------------------------------------------------------------------------------

    def _output(self, node: exp.Expr, scope: Scope) -> _Output:
        ctes = node.args.get("with_")
        if ctes is not None:
            if ctes.args.get("recursive"):
                raise NotIncremental(Reason.RECURSION)
            for cte in ctes.expressions:
                scope = {**scope, cte.alias.lower(): (cte, scope)}
        if isinstance(node, exp.Subquery):
            parsing.refuse_limit(node)
            _refuse_parts(node, _SUBQUERY_PARTS)
            output = _renamed(node, self._output(node.this, scope))
            return replace(output, keeps_rows=output.keeps_rows and node.args.get("limit") is None)
        if isinstance(node, exp.Union):
            return self._union(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope)
        if isinstance(node, exp.Table):
            return _renamed(node, self._table(node, scope))
        raise NotIncremental(Reason.SET_OPERATION, type(node).__name__.upper())

    def _table(self, node: exp.Table, scope: Scope) -> _Output:
        _refuse_parts(node, _TABLE_PARTS)
        if not isinstance(node.this, exp.Identifier):
            raise NotIncremental(Reason.CLAUSE, node.sql(dialect="spark"))
        if not node.db and node.name.lower() in scope:
            cte, outer = scope[node.name.lower()]
            return _renamed(cte, self._output(cte.this, outer))
        read, index = parsing.read(node, self._sql, self._lookup), len(self._reads)
        self._reads.append(read)
        names = tuple(column.lower() for column in read.table.columns)
        return _Output(names, (_BranchOutput(Branch(index), tuple(_Copy(index, name) for name in names)),))

    def _union(self, node: exp.Union, scope: Scope) -> _Output:
        if node.args.get("distinct") or node.args.get("by_name"):
            raise NotIncremental(Reason.SET_OPERATION, "UNION without ALL")
        parsing.refuse_limit(node)
        left, right = self._output(node.left, scope), self._output(node.right, scope)
        if left.groups is not None or right.groups is not None:
            raise NotIncremental(Reason.ABOVE_GROUPS)
        if len(left.names) != len(right.names):
            raise NotIncremental(Reason.SET_OPERATION, "UNION ALL of queries with different numbers of columns")
        keeps_rows = left.keeps_rows and right.keeps_rows and not _has(node, "limit")
        return _Output(left.names, (*left.branches, *right.branches), keeps_rows=keeps_rows)

    def _select(self, node: exp.Select, scope: Scope) -> _Output:
        _refuse_clauses(node)
        first = node.args["from_"].this
        tables = _Tables(first.alias_or_name, self._output(first, scope))
        for join in node.args.get("joins") or ():
            self._join(join, tables, scope)
        if tables.first.groups is not None and _has(node, *_GROUPING, *_FILTERS):
            raise NotIncremental(Reason.ABOVE_GROUPS)
        if not _has(node, "group") and (parsing.aggregates(node) or _has(node, "having")):
            raise NotIncremental(Reason.NO_GROUP_BY)
        output = _projected(node, tables)
        # window() drops the rows whose time is NULL.
        if _has(node, *_FILTERS) or parsing.calls(node, "window"):
            output = replace(output, keeps_rows=False)
        if _has(node, *_GROUPING):
            output = replace(output, groups=self._groups(node, tables, output))
        return output

    def _groups(self, node: exp.Select, tables: _Tables, output: _Output) -> tuple[int, ...]:
        """The indexes of the output columns in GROUP BY or DISTINCT."""
        group, having = node.args.get("group"), node.args.get("having")
        if having is not None:
            self._having.append(parsing.having_span(having, self._sql))
        if group is None:
            return tuple(range(len(output.names)))
        if _has(node, "distinct"):
            raise NotIncremental(Reason.CLAUSE, "DISTINCT with GROUP BY")
        parsing.refuse_grouping_sets(group)
        if len(output.names) != len(node.expressions):
            raise NotIncremental(Reason.CLAUSE, "SELECT * with GROUP BY")
        if group.args.get("all"):
            if unknown := parsing.unknown_function(node):
                raise NotIncremental(Reason.CLAUSE, f"GROUP BY ALL with {unknown}()")
            items = enumerate(node.expressions)
            groups = tuple(index for index, item in items if not parsing.aggregates(item))
            if not groups:
                raise NotIncremental(Reason.NO_GROUP_BY)
            return groups
        return tuple(dict.fromkeys(_output_of(expression, node, tables, output) for expression in group.expressions))

    # -- joins ------------------------------------------------------------------------------------------------------

    def _join(self, join: exp.Join, tables: _Tables, scope: Scope) -> None:
        """Add a joined table; raises NotIncremental unless the join compares its whole primary key."""
        side = _side(join)
        if not tables.first.is_plain:
            raise NotIncremental(Reason.JOIN_TO_QUERY)
        output = self._output(join.this, scope)
        if not output.is_plain or output.branches[0].branch.joins:
            raise NotIncremental(Reason.JOIN_TO_QUERY)
        read = output.branches[0].branch.driver
        source = self._reads[read].table
        driver = tables.first.branches[0].branch.driver
        keys = _equal_columns(tables.add(join, output), self._reads[driver].table, source, driver)
        if not source.primary_key or any(key.lower() not in keys for key in source.primary_key):
            raise NotIncremental(Reason.JOIN_NOT_ON_KEY, source.name.shown)
        tables.joins.append(Join(read, {key: keys[key.lower()] for key in source.primary_key}))
        tables.keeps_rows = tables.keeps_rows and side == "LEFT"


class _Tables:
    """The tables of a FROM clause; `keeps_rows`: whether no join drops a row."""

    def __init__(self, alias: str, output: _Output) -> None:
        self.first = output
        self.joins: list[Join] = []
        self.keeps_rows = True
        # By lower-case alias.
        self._named = {alias.lower(): output}
        self._using: set[str] = set()

    def add(self, join: exp.Join, output: _Output) -> list[tuple[_Copy, _Copy]]:
        """Add a joined table and return its join's (driving column, joined column) pairs."""
        alias = join.this.alias_or_name.lower()
        if not alias or alias in self._named:
            raise NotIncremental(Reason.NOT_READABLE, f"two tables are called {alias or '(nothing)'}")
        before = dict(self._named)
        self._named[alias] = output
        if using := join.args.get("using"):
            names = [name.name.lower() for name in using]
            self._using.update(names)
            pairs = [(self._only(name, before), _ColumnRef(alias, output.index(name))) for name in names]
            return self._copies(pairs, output)
        on = parsing.equalities(join.args["on"])
        return self._copies([(self.column(left), self.column(right)) for left, right in on], output)

    def _copies(
        self, pairs: Iterable[tuple[_ColumnRef | None, _ColumnRef | None]], output: _Output
    ) -> list[tuple[_Copy, _Copy]]:
        both = itertools.chain.from_iterable((pair, pair[::-1]) for pair in pairs)
        copies = [(self._copy(left, self.first), self._copy(right, output)) for left, right in both]
        return [(driving, joined) for driving, joined in copies if driving and joined]

    def _copy(self, column: _ColumnRef | None, output: _Output) -> _Copy | None:
        """The origin of a column if it belongs to `output` and is copied from a table; else None."""
        if column is None or column.index is None or self._named[column.alias] is not output:
            return None
        origin = output.branches[0].columns[column.index]
        return origin if isinstance(origin, _Copy) else None

    def _is_first(self, alias: str) -> bool:
        return self._named[alias] is self.first

    def column(self, node: exp.Expr) -> _ColumnRef | None:
        """The column that an expression refers to; None if the expression is not a column of a table."""
        node = node.unnest()
        # a.b.c may be a struct field or a column qualified by schema and table, so it is not resolved.
        if not isinstance(node, exp.Column) or node.args.get("db"):
            return None
        name, table = node.name.lower(), node.table.lower()
        if not table:
            return self._only(name, self._named)
        return _ColumnRef(table, self._named[table].index(name)) if table in self._named else None

    def has_column(self, name: str) -> bool:
        """Whether any table of the FROM clause has this column."""
        return any(name in output.names for output in self._named.values())

    def _only(self, name: str, named: Mapping[str, _Output]) -> _ColumnRef | None:
        """The table and index of an unqualified column. A column in USING belongs to the leftmost table."""
        found = [alias for alias, output in named.items() if name in output.names]
        if len(found) == 1 or (found and name in self._using):
            return _ColumnRef(found[0], named[found[0]].index(name))
        return None

    def driving(self, node: exp.Expr) -> int | None:
        """The index of the first table's column that an expression refers to, or None."""
        column = self.column(node)
        return column.index if column is not None and self._is_first(column.alias) else None

    def all_columns(self, table: str) -> Iterator[tuple[str, int | None]]:
        """The name of each column of `*` or `t.*`, and its index in the first table or None."""
        if (table and table not in self._named) or (not table and self._using):
            raise NotIncremental(Reason.CLAUSE, f"{table}.*" if table else "SELECT * after USING")
        for alias in [table] if table else list(self._named):
            for index, name in enumerate(self._named[alias].names):
                yield name, index if self._is_first(alias) else None


def _projected(node: exp.Select, tables: _Tables) -> _Output:
    first, items = tables.first, list(_items(node, tables))

    def columns(part: _BranchOutput) -> tuple[_Column, ...]:
        return tuple(literal if index is None else part.columns[index] for _, index, literal in items)

    groups = None if first.groups is None else _selected_groups(first, [index for _, index, _ in items])
    branches = tuple(
        _BranchOutput(replace(part.branch, joins=(*part.branch.joins, *tables.joins)), columns(part))
        for part in first.branches
    )
    return _Output(tuple(name for name, _, _ in items), branches, groups, first.keeps_rows and tables.keeps_rows)


def _selected_groups(output: _Output, selected: Sequence[int | None]) -> tuple[int, ...]:
    """Map the grouping columns of `output` to their indexes in the SELECT list; raises if one is not selected."""
    for group in output.groups or ():
        if group not in selected:
            raise NotIncremental(Reason.GROUP_NOT_SELECTED, output.names[group])
    return tuple(selected.index(group) for group in output.groups or ())


def _items(node: exp.Select, tables: _Tables) -> Iterator[tuple[str, int | None, str | None]]:
    """The name of each output column, the index of the driving column that it copies, and the SQL of its literal."""
    for position, expression in enumerate(node.expressions, 1):
        star = parsing.star_of(expression)
        if star is not None:
            yield from ((name, index, None) for name, index in tables.all_columns(star))
            continue
        inner = expression.unalias()
        name = parsing.output_name(expression).lower() or f"{_UNNAMED}{position}"
        yield name, tables.driving(inner), parsing.literal(inner)


def _renamed(node: exp.Expr, output: _Output) -> _Output:
    """Apply the column names of an alias such as `t(a, b)`."""
    alias = node.args.get("alias")
    names = tuple(column.name.lower() for column in alias.args.get("columns") or ()) if alias else ()
    if names and len(names) != len(output.names):
        raise NotIncremental(Reason.CLAUSE, "a table alias with the wrong number of columns")
    return replace(output, names=names) if names else output


def _has(node: exp.Expr, *clauses: str) -> bool:
    return any(node.args.get(clause) is not None for clause in clauses)


def _refuse_parts(node: exp.Expr, known: frozenset[str]) -> None:
    """Refuse a table, subquery or join with a part that is not in `known`, such as PIVOT."""
    unsupported = sorted(key for key, value in node.args.items() if value and key not in known)
    if unsupported:
        raise NotIncremental(Reason.CLAUSE, _sql_words(unsupported))


def _refuse_clauses(node: exp.Select) -> None:
    parsing.refuse_limit(node)
    unsupported = sorted(key for key, value in node.args.items() if value and key not in _CLAUSES)
    if "laterals" in unsupported:
        raise NotIncremental(Reason.GENERATOR)
    if unsupported or node.args.get("from_") is None:
        raise NotIncremental(Reason.CLAUSE, _sql_words(unsupported) or "a SELECT without FROM")


def _sql_words(clauses: Iterable[str]) -> str:
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
    """Map columns of the joined table to the driving table's columns that determine them."""
    driving_types, joined_types = _types(driving), _types(joined)
    return {
        column.column: copy.column
        for copy, column in pairs
        if copy.read == driver and _compares_exactly(driving_types[copy.column], joined_types[column.column])
    }


def _types(table: SourceColumns) -> dict[str, str]:
    """The Spark types of a table's columns, by lower-case name."""
    return {name.lower(): kind.lower() for name, kind in table.columns.items()}


def _compares_exactly(left: str, right: str) -> bool:
    """Whether a value of `left` equals at most one value of `right`: the strings '01' and '1' both equal 1."""
    same = left == right and not left.startswith(_INEXACT)
    return same or (is_text(left) and is_text(right)) or (left in INTEGERS and right in INTEGERS)


def _output_of(group: exp.Expr, node: exp.Select, tables: _Tables, output: _Output) -> int:
    """The index of the output column that a GROUP BY expression refers to."""
    is_position = isinstance(group, exp.Literal) and not group.is_string and group.name.isdecimal()
    if is_position and 0 < int(group.name) <= len(output.names):
        return int(group.name) - 1
    for index, expression in enumerate(node.expressions):
        inner = expression.unalias()
        if inner == group or _same_column(inner, group, tables):
            return index
    aliased = _alias_index(group, node, tables, output)
    if aliased is None:
        raise NotIncremental(Reason.GROUP_NOT_SELECTED, group.sql(dialect="spark"))
    return aliased


def _alias_index(group: exp.Expr, node: exp.Select, tables: _Tables, output: _Output) -> int | None:
    """The index of the output column with this alias, unless Spark finds an input column with that name first."""
    name = group.name.lower()
    if not isinstance(group, exp.Column) or group.table or tables.has_column(name):
        return None
    for index, expression in enumerate(node.expressions):
        if isinstance(expression, exp.Alias) and output.names[index] == name:
            return index
    return None


def _same_column(left: exp.Expr, right: exp.Expr, tables: _Tables) -> bool:
    """Whether two expressions refer to the same column, where one may lack the table name."""
    column = tables.column(left)
    return column is not None and column.index is not None and column == tables.column(right)


def _union_key(branches: tuple[Branch, ...]) -> tuple[str, ...]:
    """The key of a UNION ALL: the column that distinguishes its branches, and the key columns of every branch."""
    keys = tuple(branches[0].keys)
    discriminator = _discriminator(branches)
    if discriminator is None or any(set(branch.keys) != set(keys) for branch in branches):
        raise NotIncremental(Reason.UNION_BRANCHES)
    return (discriminator, *keys)


def _discriminator(branches: tuple[Branch, ...]) -> str | None:
    """The column with a different literal in each branch. No mix of strings and numbers: 1 and '1' may be equal."""
    for column in branches[0].constants:
        values = [branch.constants.get(column) or "" for branch in branches]
        same_kind = len({value.isdigit() for value in values}) == 1
        if all(values) and same_kind and len(set(values)) == len(values):
            return column
    return None
