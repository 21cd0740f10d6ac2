"""Draws queries of materialized views: most can be refreshed incrementally, some only in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from differential.views_plan import Source, View

_AGGREGATES: Final = (
    "count(*)",
    "count({any})",
    "count(distinct {any})",
    "sum({int})",
    "sum({decimal})",
    "min({any})",
    "max({any})",
    "avg({decimal})",
    "count(*) filter (where {condition})",
    "sum({int}) filter (where {condition})",
    "sum(case when {condition} then 1 else 0 end)",
)


@dataclass
class _From:
    """A FROM clause, and the columns that WHERE and SELECT may use (expression -> type)."""

    sql: str
    key: Mapping[str, str]
    driving: dict[str, str]
    joined: dict[str, str] = field(default_factory=dict)
    ctes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, str]:
        return {**self.driving, **self.joined}

    @property
    def head(self) -> str:
        return f"with {', '.join(self.ctes)} " if self.ctes else ""


@dataclass(frozen=True)
class Drawn:
    """A query, its columns and its key. With `only_stated`, the table has the key only if the config states it."""

    sql: str
    columns: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    only_stated: bool = False


class Queries:
    """Draws views over some sources.

    Args:
        chance: makes the choices.
        sources: the tables.
    """

    def __init__(self, chance: Random, sources: tuple[Source, ...]) -> None:
        self._chance = chance
        # Queries do not name the column that may be renamed.
        self._sources = {
            source.name: replace(
                source, columns={name: kind for name, kind in source.columns.items() if name != "extra"}
            )
            for source in sources
        }
        self._views: list[View] = []
        self._aliases = 0

    def views(self, count: int) -> tuple[View, ...]:
        """Two dbt views, and some materialized views, which may read those and earlier ones."""
        for name, read in (("plain_0", "f0"), ("plain_1", self._chance.choice(("f1", "a", "log")))):
            source = self._sources[read]
            where = self._chance.choice(
                ("", f" where {self._condition({f'{read}.{c}': k for c, k in source.columns.items()})}")
            )
            self._views.append(View(name, f"select {', '.join(source.columns)} from <{read}>{where}".replace(f"{read}.", "") , None, source.columns, source.key))  # fmt: skip
        for number in range(count):
            self._aliases = 0
            self._views.append(self._view(f"view_{number}"))
        return tuple(self._views)

    def _view(self, name: str) -> View:
        draw = self._chance.choices(
            (self._star, self._grouped, self._union, self._distinct, self._grouped_union, self._whole),
            (30, 32, 16, 8, 8, 6),
        )[0]
        drawn = draw()
        sql, key = drawn.sql, drawn.key
        config: dict[str, Any] = {}
        if key and self._chance.random() < 0.3:
            config["primary_key"] = list(key)
        elif key and len(key) > 1 and self._chance.random() < 0.2:
            config["partition_by"] = key[0]
        if self._chance.random() < 0.2:
            config["refresh_mode"] = "incremental"
        if key:
            # With the default bucket, -1, each write needs a shuffle.
            config["bucket"] = self._chance.choice((1, 1, 1, 2, -1))
        if self._chance.random() < 0.1:
            sql = f"-- a view\n{sql}\n-- its end"
        has_key = "primary_key" in config or not drawn.only_stated
        return View(name, sql, config, drawn.columns, key if has_key else ())

    # -- FROM clauses ----------------------------------------------------------------------------------------------

    def _alias(self, prefix: str) -> str:
        self._aliases += 1
        return f"{prefix}{self._aliases}"

    def _driver(self, *, keyed: bool) -> _From:
        """The driving table: plain, in a CTE, in a subquery, a dbt view, or another materialized view."""
        names = ["f0", "f0", "f0", "f1", "u", "a", "b"] + ([] if keyed else ["log"])
        views = [view for view in self._views if view.columns and (view.key or not keyed)]
        read: Source | View = self._sources[self._chance.choice(names)]
        if views and self._chance.random() < 0.3:
            read = self._chance.choice(views)
        alias = self._alias("t")
        columns, ctes = dict(read.columns), []
        how = self._chance.random()
        if how < 0.5:
            sql = f"<{read.name}> {self._chance.choice(('as ', ''))}{alias}"
        else:
            inner = self._chance.choice(("*", ", ".join(columns), ", ".join(reversed(columns))))
            where = self._where(columns, 0.5)
            query = f"select {inner} from <{read.name}>{where}"
            if how < 0.75:
                sql = f"({query}) as {alias}"
            else:
                cte = self._alias("cte_")
                ctes, sql = [f"{cte} as ({query})"], f"{cte} as {alias}"
        at = {f"{alias}.{name}": kind for name, kind in columns.items()}
        if self._chance.random() < 0.1:
            at = {name.upper(): kind for name, kind in at.items()}
        key = {each: f"{alias}.{each}" for each in read.key}
        return _From(sql, key, at, {}, ctes)

    def _joins(self, read: _From) -> None:
        """Join some tables on their whole keys."""
        for _ in range(self._chance.choices((0, 1, 2, 3), (20, 45, 25, 10))[0]):
            source = self._sources[self._chance.choice(("a", "a", "a", "b", "u", "f0", "f1"))]
            pairs = []
            for column in source.key:
                kind = source.columns[column]
                fits = [name for name, other in read.driving.items() if other == kind]
                same = [name for name in fits if name.lower().endswith(f".{column}")]
                foreign = [name for name in fits if name.lower().rpartition(".")[2] in ("k", "parent", "j", "p")]
                choices = (same * 2 + foreign * 3) or fits
                if choices:
                    pairs.append((self._chance.choice(choices), column))
            if len(pairs) < len(source.key):
                continue
            self._join(read, source, pairs)

    def _join(self, read: _From, source: Source, pairs: list[tuple[str, str]]) -> None:
        alias = self._alias("j")
        kind = self._chance.choice(("left join", "left join", "left outer join", "join", "inner join"))
        sql = f"<{source.name}>"
        if self._chance.random() < 0.25:
            where = self._where(dict(source.columns), 0.7)
            sql = f"(select {', '.join(source.columns)} from {sql}{where})"
            if self._chance.random() < 0.4:
                cte = self._alias("cte_")
                read.ctes.append(f"{cte} as {sql}")
                sql = cte
        first = not read.joined and all(one.lower().rpartition(".")[2] == other and "." in one for one, other in pairs)
        if first and self._chance.random() < 0.6:
            read.sql += f" {kind} {sql} as {alias} using ({', '.join(other for _, other in pairs)})"
        else:
            on = [
                f"{one} = {alias}.{other}" if self._chance.random() < 0.5 else f"{alias}.{other} = {one}"
                for one, other in pairs
            ]
            if self._chance.random() < 0.15:
                on.append(self._condition({f"{alias}.{name}": each for name, each in source.columns.items()}))
            read.sql += f" {kind} {sql} as {alias} on {' and '.join(on)}"
        read.joined |= {f"{alias}.{name}": each for name, each in source.columns.items() if name != "seq"}

    # -- expressions ------------------------------------------------------------------------------------------------

    def _column(self, columns: Mapping[str, str], kind: str = "") -> str:
        found = [name for name, each in columns.items() if each.startswith(kind) and not name.lower().endswith("seq")]
        if found:
            return self._chance.choice(found)
        return {"int": "1", "decimal": "cast(1.5 as decimal(10,2))", "string": "'z'", "": "1"}.get(kind, "1")

    def _condition(self, columns: Mapping[str, str]) -> str:
        number = self._column(columns, "int")
        return self._chance.choice(
            (
                f"{number} > {self._chance.randint(0, 4)}",
                f"{number} <= {self._chance.randint(0, 4)}",
                f"{number} in (1, 2, 3)",
                f"{self._column(columns, 'string')} is null",
                f"{self._column(columns)} is not null",
                f"({number} = 1 or {self._column(columns, 'string')} > 'n')",
                f"coalesce({number}, 0) <> {self._chance.randint(0, 2)}",
                f"not ({number} = 2 and {self._column(columns, 'int')} is null)",
            )
        )

    def _where(self, columns: Mapping[str, str], share: float) -> str:
        if self._chance.random() > share:
            return ""
        conditions = [self._condition(columns) for _ in range(self._chance.choice((1, 1, 2)))]
        return f" where {self._chance.choice((' and ', ' or ')).join(conditions)}"

    def _expression(self, columns: Mapping[str, str]) -> tuple[str, str]:
        """An expression with its type."""
        name = self._column(columns)
        kind = columns.get(name, "int")
        number, text = self._column(columns, "int"), self._column(columns, "string")
        return self._chance.choice(
            (
                (name, kind),
                (name, kind),
                (name, kind),
                (f"coalesce({text}, 'none')", "string"),
                (f"upper({text})", "string"),
                (f"{number} * 2 + 1", "int"),
                (f"case when {self._condition(columns)} then 'yes' else 'no' end", "string"),
                (f"concat({text}, '-', {number})", "string"),
                ("'fixed'", "string"),
                (f"if({number} > 2, {text}, null)", "string"),
            )
        )

    # -- queries ----------------------------------------------------------------------------------------------------

    def _select(self, read: _From, more: int, names: list[str] | None = None) -> tuple[list[str], dict[str, str]]:
        items, columns = [], {}
        for key, at in read.key.items():
            items.append(at if self._chance.random() < 0.7 and not names else f"{at} as {key}")
            columns[key] = {name.lower(): kind for name, kind in read.driving.items()}.get(at, "int")
        foreign = [name for name in read.driving if name.lower().rpartition(".")[2] in ("k", "parent")]
        for name in [] if "k" in columns else foreign[:1]:
            items.append(f"{name} as k")
            columns["k"] = "int"
        for number in range(more):
            sql, kind = self._expression(read.columns)
            items.append(f"{sql} as c{number}")
            columns[f"c{number}"] = kind
        return items, columns

    def _star(self) -> Drawn:
        read = self._driver(keyed=self._chance.random() < 0.85)
        if read.key:
            self._joins(read)
        items, columns = self._select(read, self._chance.randint(1, 4))
        where = self._where(read.columns, 0.5)
        if read.key and self._chance.random() < 0.15:
            alias = next(iter(read.key.values())).partition(".")[0]
            more = [f"{self._expression(read.columns)[0]} as e{number}" for number in range(2)]
            sql = f"{read.head}select {alias}.*, {', '.join(more)} from {read.sql}{where}"
            return Drawn(sql, {}, tuple(read.key))
        sql = f"{read.head}select {', '.join(items)} from {read.sql}{where}"
        if self._chance.random() < 0.15:
            names = ", ".join(columns)
            sql = f"select {names} from ({sql}) as outermost{self._where(columns, 0.5)}"
        if self._chance.random() < 0.1:
            sql += " order by 1"
        return Drawn(sql, columns, tuple(read.key))

    def _union(self) -> Drawn:
        reads = [self._driver(keyed=True)]
        width = len(reads[0].key)
        others = (self._driver(keyed=True) for _ in range(self._chance.choice((3, 5))))
        reads += [read for read in others if len(read.key) == width][:2]
        branches, literals = [], []
        for number, read in enumerate(reads):
            if self._chance.random() < 0.5:
                self._joins(read)
            literal = self._chance.choice((f"'{'xyz'[number]}'", str(number), f"'{number}'", "0"))
            literals.append(literal)
            items = [
                f"{literal} as kind",
                *(f"{at} as key_{place}" for place, at in enumerate(read.key.values())),
            ]
            items += [
                f"{self._column(read.columns, 'string')} as c0",
                f"{self._column(read.columns, 'int')} as c1",
            ]
            sql = f"{read.head}select {', '.join(items)} from {read.sql}{self._where(read.columns, 0.4)}"
            branches.append(f"({sql})" if read.ctes else sql)
        keys = [f"key_{place}" for place in range(width)]
        kinds = {name.lower(): kind for name, kind in reads[0].driving.items()}
        of_keys = {name: kinds[at] for name, at in zip(keys, reads[0].key.values(), strict=True)}
        columns = {"kind": "string", **of_keys, "c0": "string", "c1": "int"}
        sql = " union all ".join(branches)
        if self._chance.random() < 0.3:
            sql = f"select * from ({sql}) as both{self._where({'c0': 'string', 'c1': 'int'}, 0.5)}"
        # UNION may cast 1 and '1' to the same value.
        alike = len({literal.isdigit() for literal in literals}) == 1
        apart = len(reads) > 1 and alike and len(set(literals)) == len(literals)
        return Drawn(sql, columns, ("kind", *keys) if apart else () if len(reads) > 1 else tuple(keys))

    def _grouped(self) -> Drawn:
        read = self._driver(keyed=self._chance.random() < 0.75)
        if read.key:
            self._joins(read)
        where = self._where(read.columns, 0.4)
        source, columns, keys = f"{read.sql}{where}", read.columns, list(read.key.values())
        if self._chance.random() < 0.2:
            items, named = self._select(read, 4)
            source = f"(select {', '.join(items)} from {source}) as inner_rows"
            columns, keys = {f"inner_rows.{name}": kind for name, kind in named.items()}, []
        return self._over(read.head, source, columns, keys)

    def _over(self, head: str, source: str, columns: Mapping[str, str], keys: list[str]) -> Drawn:
        """GROUP BY over some rows; `keys` are the columns of the driving table's key."""
        drawn, key = self._group_columns(columns, keys)
        names = [f"g{at}" for at in range(len(drawn))]
        how = self._chance.choice(("expression", "expression", "ordinal", "alias", "all"))
        if how == "alias" and self._chance.random() < 0.2:
            # If the source has a column with the name of the alias, Spark groups by the column.
            names[0] = "s"
        items = [f"{sql} as {name}" for sql, name in zip(drawn, names, strict=True)]
        groups = {
            "ordinal": [str(at + 1) for at in range(len(drawn))],
            "alias": names,
            "all": ["all"],
        }.get(how, drawn)
        named = dict.fromkeys(names, "?")
        for at in range(self._chance.choice((0 if how != "all" else 1, 1, 1, 2, 3))):
            items.append(f"{self._aggregate(columns)} as n{at}")
            named[f"n{at}"] = "?"
        if self._chance.random() < 0.3 and how in ("expression", "alias"):
            items.reverse()
            named = dict(reversed(named.items()))
        sql = f"{head}select {', '.join(items)} from {source} group by {', '.join(groups)}{self._having(columns)}"
        if self._chance.random() < 0.15:
            sql += " order by 1"
        elif self._chance.random() < 0.15:
            sql = f"select {', '.join(f'{name} as r_{name}' for name in named)} from ({sql}) as grouped"
            named = {f"r_{name}": kind for name, kind in named.items()}
            names = [f"r_{name}" for name in names]
        return Drawn(sql, named, tuple(names) if key else (), only_stated=drawn != keys)

    def _group_columns(self, columns: Mapping[str, str], keys: list[str]) -> tuple[list[str], bool]:
        """The expressions that a query groups by, and whether they are never NULL."""
        how = self._chance.random()
        if keys and how < 0.15:
            return keys, True
        if how < 0.25:
            return [f"coalesce({self._column(columns, 'string')}, 'none')"], True
        drawn = [self._expression(columns)[0] for _ in range(self._chance.choice((1, 1, 2, 3)))]
        # Spark reads a literal in GROUP BY as an ordinal, or refuses it.
        return [sql for sql in drawn if "." in sql] or [self._chance.choice(list(columns))], False

    def _having(self, columns: Mapping[str, str]) -> str:
        if self._chance.random() > 0.5:
            return ""
        number, other = self._column(columns, "int"), self._column(columns)
        return " having " + self._chance.choice(
            (
                "count(*) > 1",
                "count(*) between 2 and 3",
                f"sum({number}) > 5",
                f"max({other}) is not null",
                f"count(distinct {other}) between 1 and 2",
            )
        )

    def _aggregate(self, columns: Mapping[str, str]) -> str:
        return self._chance.choice(_AGGREGATES).format(
            any=self._column(columns),
            int=self._column(columns, "int"),
            decimal=self._column(columns, "decimal"),
            condition=self._condition(columns),
        )

    def _distinct(self) -> Drawn:
        read = self._driver(keyed=self._chance.random() < 0.75)
        if read.key:
            self._joins(read)
        drawn = [self._expression(read.columns) for _ in range(self._chance.choice((1, 2, 3)))]
        items = [f"{sql} as c{at}" for at, (sql, _) in enumerate(drawn)]
        named = {f"c{at}": kind for at, (_, kind) in enumerate(drawn)}
        where = self._where(read.columns, 0.4)
        return Drawn(f"{read.head}select distinct {', '.join(items)} from {read.sql}{where}", named)

    def _grouped_union(self) -> Drawn:
        branches = []
        for number in range(2):
            read = self._driver(keyed=self._chance.random() < 0.6)
            while read.ctes:
                read = self._driver(keyed=self._chance.random() < 0.6)
            if read.key and self._chance.random() < 0.5:
                joined = len(read.ctes)
                self._joins(read)
                if len(read.ctes) > joined:
                    read = self._driver(keyed=True)
            if read.ctes:
                continue
            items = [
                f"{self._column(read.columns, kind)} as {name}"
                for name, kind in (("text_", "string"), ("number_", "int"))
            ]
            branches.append(
                f"select {', '.join(items)}, {number} as branch from {read.sql}{self._where(read.columns, 0.3)}"
            )
        source = f"({' union all '.join(branches)}) as both"
        columns = {"both.text_": "string", "both.number_": "int", "both.branch": "int"}
        return self._over("", source, columns, [])

    def _whole(self) -> Drawn:
        """A query that can only be refreshed in full."""
        name = self._chance.choice(("f0", "f1"))
        key = ", ".join(self._sources[name].key)
        sql = self._chance.choice(
            (
                f"select {key}, v, row_number() over (partition by k order by {key}) as place from <{name}>",
                f"select {key}, v from <{name}> order by {key} limit 4",
                f"select {key}, (select max(w) from <a>) as most from <{name}>",
                f"select {key}, v from <{name}> where k in (select k from <a> where w > 2)",
                f"select {key}, v from <{name}> as f where exists (select 1 from <u> as u where u.id = f.id)",
                f"select count(*) as n, sum(v) as total from <{name}>",
                f"select k from <{name}> union select k from <a>",
                f"select k from <{name}> except select k from <a>",
                "select l.id, f.v from <log> as l join <f0> as f on f.k = l.k",
                "select a.k, f.v from <f0> as f right join <a> as a on a.k = f.k",
                f"select k, p, count(*) as n from <{name}> group by rollup (k, p)",
                f"select s, count(*) as n from (select s, k, count(*) as m from <{name}> group by s, k) as g group by s",
            )
        )
        return Drawn(sql)
