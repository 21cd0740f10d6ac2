"""What each column and the rows of one query are computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import expressions as exp

from dbt_paimon.lineage.parsing import GENERATORS, KNOWN_FUNCTIONS, NodeOf, Unresolved, makes_rows, resolved

# A column of a relation: the relation's id and the column's name. ANY is every column of it, and its metadata.
Field = tuple[str, str]
ANY: Final = "*"

# Clauses of a SELECT that `_Reader` follows or that change no row.
_CLAUSES: Final = frozenset(
    """
    with_ hint distinct expressions limit from_ laterals where group having qualify order offset joins sort cluster
    distribute
    """.split()
)
# Functions that give the fields of their result the names of the columns in their arguments.
_NAMES_FIELDS: Final = frozenset(("arrays_zip", "struct"))
_TABLE_PARTS: Final = frozenset(("this", "alias", "version", "when"))


@dataclass(frozen=True)
class Output:
    """How a column is computed.

    Attributes:
        text: identifies the expression over the rows of the query: two queries with the same rows and the same text
            give the same values.
        values: the columns whose values the expression uses.
        rows: the columns that decide which rows it uses, in windows and subqueries.
    """

    text: str
    values: frozenset[Field] = frozenset()
    rows: frozenset[Field] = frozenset()

    @property
    def reads(self) -> frozenset[Field]:
        return self.values | self.rows

    @property
    def choosing(self) -> Output:
        """What the expression reads, as columns that decide which rows the query returns."""
        return Output(self.text, rows=self.reads)


@dataclass(frozen=True)
class Result:
    """The columns and rows of a query.

    Attributes:
        columns: the output columns by name, in lower case and in order.
        text: identifies the rows without their columns' values.
        rows: the columns that decide which rows there are.
        star: the id of the relation whose unknown columns are passed on as they are; '' if all columns are known.
        order: the ORDER BY of the query and its sources, which decides which rows a LIMIT around the query keeps.
        inner: by name, the columns of the query, its subqueries and CTEs; columns with the same name are combined.
    """

    columns: Mapping[str, Output]
    text: str
    rows: frozenset[Field] = frozenset()
    star: str = ""
    order: Output = Output("")
    inner: Mapping[str, Output] = field(default_factory=dict)

    @property
    def reads(self) -> frozenset[Field]:
        """Every column that the query reads."""
        star = frozenset({(self.star, ANY)}) if self.star else frozenset()
        return self.rows.union(star, *(output.reads for output in self.columns.values()))


def read(sql: str, node_of: NodeOf, columns: Mapping[str, Sequence[str]]) -> Result:
    """What the columns and rows of a query are computed from; raises Unresolved (see `parsing.resolved`)."""
    try:
        reader = _Reader()
        result = reader.query(resolved(sql, node_of, columns), _Scope())
        return replace(result, inner=reader.inner)
    except RecursionError as exc:
        raise Unresolved("it is nested too deep") from exc


@dataclass(frozen=True)
class _Source:
    """The source that an alias names.

    Attributes:
        label: identifies it in the texts of expressions, whatever its alias is.
        rows: which rows it has.
        result: the columns and rows of a subquery.
        relation: the id of a relation, with `$` and the rest for a system table or a branch; '' for others.
        star: the relation whose unknown columns `*` passes on; '' if there is none.
    """

    label: str
    rows: Output
    result: Result | None = None
    relation: str = ""
    star: str = ""

    def column(self, name: str) -> Output:
        text = f"{self.label}.{name}"
        if self.result is None:
            base, metadata, _ = self.relation.partition("$")
            return Output(text, frozenset({(base, ANY if metadata else name)} if base else ()))
        if name in self.result.columns:
            found = self.result.columns[name]
            return replace(found, text=f"{self.label}.{_digest(found.text)}")
        if not self.star:
            raise Unresolved(f"column {name} is not found in a subquery")
        return Output(text, frozenset({(self.star, name)}))


@dataclass(frozen=True)
class _Scope:
    """The names that a query can use: CTEs, and the sources of outer queries."""

    ctes: Mapping[str, Result] = field(default_factory=dict)
    sources: Mapping[str, _Source] = field(default_factory=dict)
    # Columns of the SELECT list, which ORDER BY and others may name.
    aliases: Mapping[str, Output] = field(default_factory=dict)
    depth: int = 0

    @property
    def own(self) -> Mapping[str, _Source]:
        """The sources of the innermost query, by alias."""
        return {alias: each for alias, each in self.sources.items() if each.label.startswith(f"{self.depth}:")}

    def column(self, node: exp.Column) -> Output:
        if node.is_star:
            raise Unresolved("it has a * in an expression")
        name, table = node.name.lower(), node.table.lower()
        if not table and name in self.aliases:
            return self.aliases[name]
        if not table or table not in self.sources:
            raise Unresolved(f"column {node.sql()} is not found")
        return self.sources[table].column(name)


class _Reader:
    """Follows the columns of a resolved query. Each method raises Unresolved for what it does not follow."""

    def __init__(self) -> None:
        self.inner: dict[str, Output] = {}

    def query(self, node: exp.Expr, scope: _Scope) -> Result:
        """The result of a SELECT, a set operation, or one of them in parentheses."""
        scope = self._with_ctes(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope)
        if isinstance(node, exp.SetOperation):
            return self._limited(node, self._set_operation(node, scope), scope)
        if isinstance(node, exp.Subquery):
            if any(node.args.get(part) for part in ("pivots", "sample", "joins", "laterals")):
                raise Unresolved("it has a PIVOT, TABLESAMPLE or a join in parentheses")
            return self._limited(node, self.query(node.this, scope), scope)
        raise Unresolved(f"it has a {type(node).__name__.upper()} instead of a SELECT")

    def _with_ctes(self, node: exp.Expr, scope: _Scope) -> _Scope:
        given = node.args.get("with_")
        if given is None:
            return scope
        if given.args.get("recursive"):
            raise Unresolved("it has a recursive CTE")
        for cte in given.expressions:
            result = _renamed(self.query(cte.this, scope), cte)
            scope = replace(scope, ctes={**scope.ctes, cte.alias.lower(): result})
        return scope

    def _select(self, node: exp.Select, scope: _Scope) -> Result:
        if others := _arguments(node).keys() - _CLAUSES:
            raise Unresolved(f"it has the clause {', '.join(sorted(others)).upper().rstrip('_')}")
        scope, parts = self._with_sources(node, scope)
        columns = self._columns(node, scope)
        star = self._open_star(node, scope) if node.is_star else ""
        for name, output in columns.items():
            self.inner[name] = _joined("or", (self.inner[name], output)) if name in self.inner else output
        parts += [columns[_name(item)] for item in node.expressions if _may_make_rows(item)]
        parts += [Output("one row")] if _makes_one_row(node) else []
        parts += self._clauses(node, ("where", "group", "having", "qualify"), replace(scope, aliases=columns))
        if _is_distinct(node):
            parts += columns.values()
            parts += [Output(star, rows=frozenset({(star, ANY)}))] if star else []
        rows = _joined("select", parts)
        order = _joined("order", [source.result.order for source in scope.own.values() if source.result])
        return self._limited(node, Result(columns, rows.text, rows.reads, star, order), scope)

    def _columns(self, node: exp.Select, scope: _Scope) -> dict[str, Output]:
        """The columns of the SELECT list, without those of `*`."""
        columns: dict[str, Output] = {}
        for item in node.expressions:
            if item.is_star:
                continue
            name = _name(item)
            if isinstance(item, exp.Aliases) or not name:
                raise Unresolved("a function returns several columns")
            if name in columns:
                raise Unresolved(f"it returns two columns {name}")
            columns[name] = self._expression(item.unalias(), scope)
        return columns

    @staticmethod
    def _open_star(node: exp.Select, scope: _Scope) -> str:
        """The relation whose unknown columns `*` passes on."""
        item = node.expressions[0]
        # If the name in `name.*` is not an alias, it is a struct, and `*` returns its fields.
        star = item.this if isinstance(item, exp.Column) and item.table.lower() in scope.own else item
        is_whole = isinstance(star, exp.Star) and not any(star.args.values())
        passed = [source.star for source in scope.own.values()]
        if not is_whole or len(node.expressions) > 1 or len(passed) != 1 or not passed[0]:
            raise Unresolved("it has a * over columns that are not known")
        return passed[0]

    def _set_operation(self, node: exp.SetOperation, scope: _Scope) -> Result:
        left, right = self.query(node.left, scope), self.query(node.right, scope)
        if left.star or right.star:
            raise Unresolved("a set operation has a * over columns that are not known")
        if node.args.get("by_name") or len(left.columns) != len(right.columns):
            raise Unresolved("the two sides of a set operation have different columns")
        pairs = zip(left.columns.values(), right.columns.values(), strict=True)
        columns = dict(zip(left.columns, (_joined("or", pair) for pair in pairs), strict=True))
        parts = [_rows_of(left), _rows_of(right)]
        if isinstance(node, exp.Except):
            # The right side only takes rows away.
            columns = dict(left.columns)
            parts += right.columns.values()
        distinct = bool(node.args.get("distinct"))
        if distinct or not isinstance(node, exp.Union):
            parts += columns.values()
        rows = _joined(f"{type(node).__name__} {distinct}", parts)
        return Result(columns, rows.text, rows.reads, order=_joined("order", [left.order, right.order]))

    def _limited(self, node: exp.Expr, result: Result, scope: _Scope) -> Result:
        """The result after LIMIT and OFFSET, for which ORDER BY decides which rows remain."""
        scope = replace(scope, aliases=result.columns)
        by_all = result.columns.values() if _is_ordered_by_all(node) else ()
        order = _joined("order", [result.order, *self._clauses(node, ("order", "sort"), scope), *by_all]).choosing
        limits = self._clauses(node, ("limit", "offset"), scope)
        if not limits:
            return replace(result, order=order)
        rows = _joined("limit", [_rows_of(result), order, *limits])
        return replace(result, text=rows.text, rows=rows.reads, order=order)

    def _clauses(self, node: exp.Expr, names: Iterable[str], scope: _Scope) -> list[Output]:
        """The given clauses of a query. Their columns decide which rows the query returns."""
        return [self._expression(node.args[name], scope).choosing for name in names if node.args.get(name)]

    # -- sources ------------------------------------------------------------------------------------------------------

    def _with_sources(self, node: exp.Select, outer: _Scope) -> tuple[_Scope, list[Output]]:
        """The scope with the sources of FROM, JOIN and LATERAL VIEW, and what decides their rows."""
        scope = replace(outer, depth=outer.depth + 1, aliases={})
        rows: list[Output] = []
        given = [node.args.get("from_"), *(node.args.get("joins") or ()), *(node.args.get("laterals") or ())]
        for number, item in enumerate(filter(None, given)):
            label = f"{scope.depth}:{number}"
            is_lateral = isinstance(item, exp.Lateral)
            source = self._lateral(item, label, scope) if is_lateral else self._source(item.this, label, outer)
            alias = item.alias if is_lateral else item.this.alias_or_name
            scope = replace(scope, sources={**scope.sources, alias.lower(): source})
            rows.append(source.rows)
            if isinstance(item, exp.Join):
                rows.append(self._join(item, scope))
        return scope, rows

    def _join(self, join: exp.Join, scope: _Scope) -> Output:
        kind = " ".join(str(join.args.get(part) or "") for part in ("method", "side", "kind")).upper()
        if join.args.get("using") or "NATURAL" in kind:
            raise Unresolved("it has a USING or NATURAL join on columns that are not known")
        return _joined(kind, self._clauses(join, ("on",), scope))

    def _source(self, node: exp.Expr, label: str, scope: _Scope) -> _Source:
        if isinstance(node, exp.Table):
            return self._table(node, label, scope)
        if isinstance(node, exp.Values):
            return _made(node, label, self._expression(node.expressions, scope))
        if isinstance(node, exp.Subquery):
            return _of_result(_renamed(self.query(node, scope), node), label)
        raise Unresolved(f"it reads from {type(node).__name__.upper()}")

    def _table(self, node: exp.Table, label: str, scope: _Scope) -> _Source:
        if others := _arguments(node).keys() - _TABLE_PARTS:
            raise Unresolved(f"it reads a relation with {', '.join(sorted(others)).upper()}")
        if makes_rows(node):
            return _Source(label, self._expression(node.this, scope).choosing)
        name = node.name.lower()
        if name in scope.ctes:
            return _of_result(_renamed(scope.ctes[name], node), label)
        if _alias_columns(node):
            raise Unresolved("the alias of a relation renames its columns")
        state = self._clauses(node, ("version", "when"), scope)
        base, metadata, _ = name.partition("$")
        if state or metadata:
            # Any change of the relation may change its other states and its metadata.
            state.append(Output("", rows=frozenset({(base, ANY)})))
        return _Source(label, _joined(name, state), relation=name, star="" if state else base)

    def _lateral(self, node: exp.Lateral, label: str, scope: _Scope) -> _Source:
        if not node.args.get("view") or isinstance(node.this, (exp.Subquery, exp.Query)):
            raise Unresolved("it has a LATERAL subquery")
        outer = "outer" if node.args.get("outer") else ""
        return _made(node, label, _joined(outer, [self._expression(node.this, scope)]))

    # -- expressions --------------------------------------------------------------------------------------------------

    def _expression(self, node: Any, scope: _Scope) -> Output:
        """What an expression, a clause or a list of them reads."""
        if isinstance(node, exp.Column):
            return scope.column(node)
        if isinstance(node, (exp.Subquery, exp.Query)):
            return self._subquery(node, scope)
        if isinstance(node, exp.Star) and not _is_count_of_rows(node.parent):
            raise Unresolved("it has a * in an expression")
        if isinstance(node, exp.Identifier):
            return Output(f"`{node.name}`")
        if isinstance(node, exp.Expr):
            return self._call(node, scope)
        if isinstance(node, list):
            return _joined("list", [self._expression(each, scope) for each in node])
        return Output(repr(node))

    def _call(self, node: exp.Expr, scope: _Scope) -> Output:
        """A function, an operator or a clause: windows and filters choose the rows that their function uses."""
        if isinstance(node, exp.Window) and node.args.get("alias"):
            raise Unresolved("it has a named window")
        given = _arguments(node)
        parts = {name: self._expression(value, scope) for name, value in given.items()}
        if isinstance(node, (exp.Window, exp.Filter)):
            parts = {name: part if name == "this" else part.choosing for name, part in parts.items()}
        return _joined(f"{type(node).__name__} {' '.join([*given, *_field_names(node)])}", parts.values())

    def _subquery(self, node: exp.Expr, scope: _Scope) -> Output:
        result = self.query(node, scope)
        if result.star:
            raise Unresolved("a subquery has a * over columns that are not known")
        return _joined("subquery", [_rows_of(result), *result.columns.values()])


def _field_names(node: exp.Expr) -> list[str]:
    """The names that a struct takes from the columns or fields in its arguments: `struct(a, t.b)`, `(a, b)`."""
    if isinstance(node, exp.Tuple) or (isinstance(node, exp.Anonymous) and node.name.lower() in _NAMES_FIELDS):
        return [each.name.lower() if isinstance(each, (exp.Column, exp.Dot)) else "_" for each in node.expressions]
    return []


def _joined(kind: str, parts: Iterable[Output]) -> Output:
    """Combine parts in this order, such as the operands of an operator; `kind` names the combination."""
    given = list(parts)
    values = frozenset[Field]().union(*(part.values for part in given))
    rows = frozenset[Field]().union(*(part.rows for part in given))
    return Output(_digest(kind, *(part.text for part in given)), values, rows)


def _rows_of(result: Result) -> Output:
    return Output(f"{result.text} {result.star}", rows=result.rows)


def _of_result(result: Result, label: str) -> _Source:
    return _Source(label, _rows_of(result), result, star=result.star)


def _made(node: exp.Expr, label: str, output: Output) -> _Source:
    """The source of VALUES or LATERAL VIEW: one expression makes its rows and all columns that its alias names."""
    columns = {name: replace(output, text=f"{output.text}:{at}") for at, name in enumerate(_alias_columns(node))}
    return _Source(label, output.choosing, Result(columns, output.text))


def _renamed(result: Result, node: exp.Expr) -> Result:
    """A result whose columns the alias of a node renames, as in `t(a, b)`."""
    names = _alias_columns(node)
    if not names:
        return result
    if result.star or len(names) != len(result.columns):
        raise Unresolved("an alias renames columns that are not known")
    return replace(result, columns=dict(zip(names, result.columns.values(), strict=True)))


def _alias_columns(node: exp.Expr) -> list[str]:
    """The columns that the alias of a node names."""
    return [name.lower() for name in node.alias_column_names]


def _name(item: exp.Expr) -> str:
    """The name of a column of the SELECT list; '' if only Spark knows it."""
    return item.alias_or_name.lower()


def _is_distinct(node: exp.Select) -> bool:
    """Whether equal rows become one: SELECT DISTINCT, or GROUP BY ALL."""
    group = node.args.get("group")
    return bool(node.args.get("distinct") or (group is not None and group.args.get("all")))


def _arguments(node: exp.Expr) -> dict[str, Any]:
    """The arguments that a node has, sorted by name."""
    return {
        name: value
        for name, value in sorted(node.args.items())
        if value is not None and value is not False and value != []
    }


def _may_make_rows(node: exp.Expr) -> bool:
    """Whether an expression of a SELECT list may return several rows: a generator, or a function that is not known."""
    if node.find(exp.UDTF):
        return True
    return any(call.name.lower() not in KNOWN_FUNCTIONS - GENERATORS for call in node.find_all(exp.Anonymous))


def _makes_one_row(node: exp.Select) -> bool:
    """Whether a query aggregates all its rows into one: it has an aggregate or HAVING, and no GROUP BY."""
    if node.args.get("group"):
        return False
    calls = (each for item in node.expressions for each in item.walk(prune=lambda each: isinstance(each, exp.Query)))
    return bool(node.args.get("having")) or any(_is_aggregate(each) and not _has_window(each) for each in calls)


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether a node calls an aggregate that sqlglot knows; other functions count as making rows."""
    if not isinstance(node, exp.Anonymous):
        return isinstance(node, exp.AggFunc)
    try:
        call = exp.func(node.name, *(each.copy() for each in node.expressions), dialect="spark")
    except (ValueError, IndexError):  # The wrong number of arguments.
        return True
    return isinstance(call, exp.AggFunc)


def _has_window(node: exp.Expr) -> bool:
    """Whether a call is computed over a window: `sum(x) over (…)`, also with FILTER or IGNORE NULLS."""
    around = node.parent
    while isinstance(around, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)) and around.this is node:
        node, around = around, around.parent
    return isinstance(around, exp.Window) and around.this is node


def _is_ordered_by_all(node: exp.Expr) -> bool:
    """Whether a query has ORDER BY ALL, which sorts by each column of the SELECT list."""
    order = node.args.get("order")
    return order is not None and any(isinstance(each.this, exp.Var) for each in order.expressions)


def _is_count_of_rows(node: exp.Expr | None) -> bool:
    """Whether a node is `count(*)`."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "count" and len(node.expressions) == 1


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
