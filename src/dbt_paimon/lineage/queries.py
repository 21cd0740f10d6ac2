"""What each column and the rows of one query are computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import expressions as exp

from dbt_paimon.lineage.parsing import KNOWN_FUNCTIONS, NodeOf, Unresolved, resolved

# A column of a relation: the relation's id and the column's name. ANY is every column of it, and its metadata.
Field = tuple[str, str]
ANY: Final = "*"

# Functions that turn one row into several, or none.
_GENERATORS: Final = frozenset(
    "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode".split()
)
_GENERATOR_NODES: Final = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack, exp.Unnest)
# Clauses of a SELECT that `_Reader.select` follows or that change no row.
_CLAUSES: Final = frozenset(
    """
    with_ hint distinct expressions limit from_ laterals where group having qualify order offset joins sort cluster
    distribute
    """.split()
)
_TABLE_PARTS: Final = frozenset(("this", "alias", "version", "when"))


@dataclass(frozen=True)
class Output:
    """How a column is computed.

    Attributes:
        text: identifies the expression over the rows of the query: two queries with the same rows and the same text
            give the same values.
        values: the columns whose values the expression uses.
        rows: the columns that decide which rows it uses: of windows and subqueries.
        certain: whether `values` and `rows` are exact; otherwise they may have columns too many.
    """

    text: str
    values: frozenset[Field] = frozenset()
    rows: frozenset[Field] = frozenset()
    certain: bool = True

    @property
    def reads(self) -> frozenset[Field]:
        return self.values | self.rows


@dataclass(frozen=True)
class Result:
    """The columns and rows of a query.

    Attributes:
        columns: the output columns by name, in lower case and in order.
        text: identifies the rows without their columns' values.
        rows: the columns that decide which rows there are.
        star: the id of the relation whose columns, which are not known, are passed on as they are; '' if all columns
            are known.
        inner: the columns of this name in any subquery or CTE, or here.
    """

    columns: Mapping[str, Output]
    text: str
    rows: frozenset[Field] = frozenset()
    star: str = ""
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
    """What stands behind an alias: a subquery, or a relation with this id."""

    label: str
    result: Result | None = None
    relation: str = ""
    # Whether a system table or a branch of the relation is read.
    is_metadata: bool = False
    # Whether that, or another state than the newest.
    other_state: bool = False

    def column(self, name: str) -> Output:
        if self.result is None:
            fields = {(self.relation, ANY if self.is_metadata else name)} if self.relation else set()
            return Output(f"{self.label}.{name}", frozenset(fields))
        found = self.result.columns.get(name)
        if found is None and not self.result.star:
            raise Unresolved(f"column {name} is not found in a subquery")
        if found is None:
            found = Output(name, frozenset({(self.result.star, name)}))
        return replace(found, text=f"{self.label}.{_digest(found.text)}")


@dataclass(frozen=True)
class _Scope:
    """The names that a query can use: CTEs, and the sources of the queries around it."""

    ctes: Mapping[str, Result] = field(default_factory=dict)
    sources: Mapping[str, _Source] = field(default_factory=dict)
    # Columns of the SELECT list, which ORDER BY and others may name.
    aliases: Mapping[str, Output] = field(default_factory=dict)
    depth: int = 0

    def column(self, node: exp.Column) -> Output:
        name = node.name.lower()
        if not node.table:
            if name in self.aliases:
                return self.aliases[name]
            raise Unresolved(f"column {name} is not found")
        source = self.sources.get(node.table.lower())
        if source is None:
            raise Unresolved(f"{node.table}.{name} is not a column of a relation")
        return source.column(name)


class _Reads:
    """Collects the columns that expressions read."""

    def __init__(self) -> None:
        self.values: set[Field] = set()
        self.rows: set[Field] = set()
        self.certain = True

    def add(self, output: Output, decides_rows: bool) -> None:
        (self.rows if decides_rows else self.values).update(output.values)
        self.rows |= output.rows
        self.certain = self.certain and output.certain

    def output(self, text: str) -> Output:
        return Output(text, frozenset(self.values), frozenset(self.rows), self.certain)


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
        raise Unresolved(f"it has a {type(node).__name__.upper()}")

    def _with_ctes(self, node: exp.Expr, scope: _Scope) -> _Scope:
        given = node.args.get("with_")
        if given is None:
            return scope
        if given.args.get("recursive"):
            raise Unresolved("it has a recursive CTE")
        for cte in given.expressions:
            result = _renamed(self.query(cte.this, scope), cte.args.get("alias"))
            scope = replace(scope, ctes={**scope.ctes, cte.alias.lower(): result})
        return scope

    def _select(self, node: exp.Select, scope: _Scope) -> Result:
        if others := {name for name, value in node.args.items() if value} - _CLAUSES:
            raise Unresolved(f"it has the clause {', '.join(sorted(others)).upper().rstrip('_')}")
        reads, texts = _Reads(), ["select"]
        scope = self._with_sources(node, scope, reads, texts)
        columns, star = self._columns(node, scope, reads, texts)
        for name, output in columns.items():
            self.inner[name] = _both(self.inner[name], output) if name in self.inner else output
        scope = replace(scope, aliases=columns)
        texts += self._clauses(node, ("where", "group", "having", "qualify"), scope, reads)
        group = node.args.get("group")
        if node.args.get("distinct") or (group is not None and group.args.get("all")):
            _all_columns(columns, reads, texts)
            if star:
                reads.rows.add((star, ANY))
                texts.append(star)
        result = Result(columns, _digest(texts), frozenset(reads.rows | reads.values), star)
        return self._limited(node, result, scope)

    def _columns(
        self, node: exp.Select, scope: _Scope, reads: _Reads, texts: list[str]
    ) -> tuple[dict[str, Output], str]:
        """The SELECT list; its generators are added to `reads`, because they decide how many rows there are."""
        columns: dict[str, Output] = {}
        star = ""
        for item in node.expressions:
            inner = item.unalias() if isinstance(item, exp.Alias) else item
            if item.is_star:
                star = self._open_star(node, inner, scope)
                continue
            if isinstance(item, exp.Aliases) or not item.alias_or_name:
                raise Unresolved("a function returns several columns")
            own = _Reads()
            output = own.output(self._text(inner, scope, own))
            output = replace(output, values=frozenset(own.values), rows=frozenset(own.rows))
            if item.alias_or_name.lower() in columns:
                raise Unresolved(f"it returns two columns {item.alias_or_name}")
            columns[item.alias_or_name.lower()] = output
            if _may_make_rows(inner):
                reads.add(output, decides_rows=True)
                texts.append(output.text)
        return columns, star

    @staticmethod
    def _open_star(node: exp.Select, item: exp.Expr, scope: _Scope) -> str:
        """The relation that `*` passes on, whose columns are not known."""
        names = [name for name in scope.sources if scope.sources[name].label.startswith(f"{scope.depth}:")]
        source = scope.sources[names[0]] if len(names) == 1 else None
        plain = (item.this if isinstance(item, exp.Column) else item).args
        if source is None or len(node.expressions) > 1 or any(plain.values()):
            raise Unresolved("it has a * over columns that are not known")
        star = source.relation if source.result is None else source.result.star
        if not star or source.other_state or (source.result and source.result.columns):
            raise Unresolved("it has a * over columns that are not known")
        return star

    def _set_operation(self, node: exp.SetOperation, scope: _Scope) -> Result:
        left, right = self.query(node.left, scope), self.query(node.right, scope)
        if left.star or right.star:
            raise Unresolved("a set operation has a * over columns that are not known")
        if node.args.get("by_name") or len(left.columns) != len(right.columns):
            raise Unresolved("the sides of a set operation have other columns")
        columns = {
            name: _both(mine, other)
            for (name, mine), other in zip(left.columns.items(), right.columns.values(), strict=True)
        }
        reads, texts = _Reads(), [type(node).__name__, str(bool(node.args.get("distinct"))), left.text, right.text]
        if isinstance(node, exp.Except):
            # The right side only takes rows away.
            _all_columns(right.columns, reads, texts)
            columns = dict(left.columns)
        if not isinstance(node, exp.Union) or node.args.get("distinct"):
            _all_columns(columns, reads, texts)
        return Result(columns, _digest(texts), left.rows | right.rows | reads.rows | reads.values)

    def _limited(self, node: exp.Expr, result: Result, scope: _Scope) -> Result:
        """The result after LIMIT and OFFSET, whose rows ORDER BY chooses."""
        if not node.args.get("limit") and not node.args.get("offset"):
            return result
        reads = _Reads()
        scope = replace(scope, aliases=result.columns)
        texts = [result.text, *self._clauses(node, ("order", "sort", "limit", "offset"), scope, reads)]
        return replace(result, text=_digest(texts), rows=result.rows | reads.rows | reads.values)

    def _clauses(self, node: exp.Expr, names: Iterable[str], scope: _Scope, reads: _Reads) -> list[str]:
        """The texts of clauses that decide which rows there are."""
        given = [node.args[name] for name in names if node.args.get(name)]
        return [self._text(each, scope, reads, decides_rows=True) for each in given]

    # -- sources ------------------------------------------------------------------------------------------------------

    def _with_sources(self, node: exp.Select, scope: _Scope, reads: _Reads, texts: list[str]) -> _Scope:
        """The scope with the sources of FROM, JOIN and LATERAL VIEW; adds what decides their rows."""
        outer = scope
        scope = replace(scope, depth=scope.depth + 1, aliases={})
        given = node.args.get("from_")
        joins: Sequence[exp.Join] = node.args.get("joins") or ()
        for number, item in enumerate((*([given] if given else []), *joins)):
            source = self._source(item.this, f"{scope.depth}:{number}", outer, reads, texts)
            scope = replace(scope, sources={**scope.sources, item.this.alias_or_name.lower(): source})
            if isinstance(item, exp.Join):
                self._join(item, scope, reads, texts)
        for number, lateral in enumerate(node.args.get("laterals") or ()):
            source = self._lateral(lateral, f"{scope.depth}:lateral{number}", scope, reads, texts)
            scope = replace(scope, sources={**scope.sources, lateral.alias.lower(): source})
        return scope

    def _join(self, join: exp.Join, scope: _Scope, reads: _Reads, texts: list[str]) -> None:
        if join.args.get("using") or str(join.args.get("method") or "").upper() == "NATURAL":
            raise Unresolved("it has a join by the names of columns that are not known")
        texts.append(" ".join(str(join.args.get(part) or "") for part in ("method", "side", "kind")).upper())
        if condition := join.args.get("on"):
            texts.append(self._text(condition, scope, reads, decides_rows=True))

    def _source(self, node: exp.Expr, label: str, scope: _Scope, reads: _Reads, texts: list[str]) -> _Source:
        if isinstance(node, exp.Table):
            return self._table(node, label, scope, reads, texts)
        if isinstance(node, exp.Values):
            return self._values(node, label, scope, reads, texts)
        if not isinstance(node, exp.Subquery):
            raise Unresolved(f"it reads from {type(node).__name__.upper()}")
        result = _renamed(self.query(node, scope), node.args.get("alias"))
        return _of_result(result, label, reads, texts)

    def _table(self, node: exp.Table, label: str, scope: _Scope, reads: _Reads, texts: list[str]) -> _Source:
        if others := {name for name, value in node.args.items() if value} - _TABLE_PARTS:
            raise Unresolved(f"it reads a relation with {', '.join(sorted(others)).upper()}")
        if not isinstance(node.this, exp.Identifier):
            if _may_read(node.this):
                raise Unresolved(f"it reads from {node.this.name or type(node.this).__name__}()")
            texts.append(self._text(node.this, scope, reads, decides_rows=True))
            return _Source(label)
        name = node.name.lower()
        if name in scope.ctes:
            return _of_result(_renamed(scope.ctes[name], node.args.get("alias")), label, reads, texts)
        if isinstance(alias := node.args.get("alias"), exp.TableAlias) and alias.columns:
            raise Unresolved("the alias of a relation renames its columns")
        state = [self._text(node.args[part], scope, reads) for part in ("version", "when") if node.args.get(part)]
        texts += [name, *state]
        base = name.partition("$")[0]
        other_state = bool(state) or base != name
        if other_state:
            reads.rows.add((base, ANY))
        return _Source(label, relation=base, is_metadata=base != name, other_state=other_state)

    def _values(self, node: exp.Values, label: str, scope: _Scope, reads: _Reads, texts: list[str]) -> _Source:
        text = self._text(node.expressions, scope, reads, decides_rows=True)
        texts.append(text)
        alias = node.args.get("alias")
        names = [name.name.lower() for name in alias.columns] if isinstance(alias, exp.TableAlias) else []
        return _Source(label, Result({name: Output(f"{text}:{at}") for at, name in enumerate(names)}, text))

    def _lateral(self, node: exp.Lateral, label: str, scope: _Scope, reads: _Reads, texts: list[str]) -> _Source:
        if not node.args.get("view") or isinstance(node.this, (exp.Subquery, exp.Query)):
            raise Unresolved("it has a LATERAL subquery")
        own = _Reads()
        text = self._text(node.this, scope, own) + str(bool(node.args.get("outer")))
        texts.append(text)
        output = own.output(text)
        reads.add(output, decides_rows=True)
        alias = node.args.get("alias")
        names = [name.name.lower() for name in alias.columns] if isinstance(alias, exp.TableAlias) else []
        columns = {name: replace(output, text=f"{text}:{at}") for at, name in enumerate(names)}
        return _Source(label, Result(columns, text))

    # -- expressions --------------------------------------------------------------------------------------------------

    def _text(self, node: Any, scope: _Scope, reads: _Reads, *, decides_rows: bool = False) -> str:
        """A text that identifies an expression; adds the columns that it reads."""
        if isinstance(node, exp.Column):
            if node.is_star:
                raise Unresolved("it has a * in an expression")
            output = scope.column(node)
            reads.add(output, decides_rows)
            return output.text
        if isinstance(node, (exp.Subquery, exp.Query)):
            return self._subquery(node, scope, reads, decides_rows)
        if isinstance(node, exp.Identifier):
            return f"`{node.name}`"
        if isinstance(node, exp.Literal):
            return repr((node.this, node.is_string))
        if isinstance(node, exp.Expr):
            if isinstance(node, exp.Window) and node.args.get("alias"):
                raise Unresolved("it has a named window")
            parts = [type(node).__name__]
            for name, value in sorted(node.args.items()):
                if value is not None and value is not False and value != []:
                    chooses = isinstance(node, (exp.Window, exp.Filter)) and name != "this"
                    inner = self._text(value, scope, reads, decides_rows=decides_rows or chooses)
                    # Of strings, only the names of functions have no case.
                    parts.append(
                        f"{name}={inner.lower() if isinstance(node, exp.Anonymous) and name == 'this' else inner}"
                    )
            return f"({' '.join(parts)})"
        if isinstance(node, list):
            return f"[{', '.join(self._text(each, scope, reads, decides_rows=decides_rows) for each in node)}]"
        return repr(node)

    def _subquery(self, node: exp.Expr, scope: _Scope, reads: _Reads, decides_rows: bool) -> str:
        result = self.query(node, scope)
        if result.star:
            raise Unresolved("a subquery has a * over columns that are not known")
        reads.rows |= result.rows
        for output in result.columns.values():
            reads.add(output, decides_rows)
        return _digest((result.text, *(output.text for output in result.columns.values())))


def _of_result(result: Result, label: str, reads: _Reads, texts: list[str]) -> _Source:
    reads.rows |= result.rows
    texts += [result.text, result.star]
    return _Source(label, result)


def _both(one: Output, other: Output) -> Output:
    text = _digest((one.text, other.text))
    return Output(text, one.values | other.values, one.rows | other.rows, one.certain and other.certain)


def _renamed(result: Result, alias: Any) -> Result:
    """A result whose columns an alias renames, as in `t(a, b)`."""
    names = [name.name.lower() for name in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if not names:
        return result
    if result.star or len(names) != len(result.columns):
        raise Unresolved("an alias renames columns that are not known")
    return replace(result, columns=dict(zip(names, result.columns.values(), strict=True)))


def _all_columns(columns: Mapping[str, Output], reads: _Reads, texts: list[str]) -> None:
    """Let every column decide which rows there are."""
    for output in columns.values():
        reads.add(output, decides_rows=True)
        texts.append(output.text)


def _may_make_rows(node: exp.Expr) -> bool:
    """Whether an expression of a SELECT list may return several rows: a generator, or a function that is not known."""
    for call in node.find_all(exp.Anonymous, *_GENERATOR_NODES):
        if not isinstance(call, exp.Anonymous):
            return True
        name = call.name.lower()
        if name in _GENERATORS or name not in KNOWN_FUNCTIONS:
            return True
    return False


def _may_read(node: exp.Expr) -> bool:
    """Whether a function in FROM may read tables: any but those that make rows from their arguments."""
    return not isinstance(node, _GENERATOR_NODES) and node.name.lower() not in {*_GENERATORS, "range"}


def _digest(texts: str | Iterable[str]) -> str:
    joined = texts if isinstance(texts, str) else "\0".join(texts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:20]
