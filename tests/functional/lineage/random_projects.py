"""Random small projects of SQL models with integer columns, and random edits of these projects."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Final

KINDS: Final = ("view", "view", "table")
SHAPES: Final = "plain star join group window union union_star distinct cte exists scalar explode nested self".split()
MACRO: Final = "{% macro scaled(x) %}(({{ x }}) * SCALE) % 101{% endmacro %}"


@dataclass
class Model:
    """A model. `items` maps column names to expressions, in which `p` and `q` are the aliases of the parents."""

    name: str
    shape: str
    kind: str
    parents: list[Model] = field(default_factory=list)
    items: dict[str, str] = field(default_factory=dict)
    # The expressions of a union's second SELECT.
    others: list[str] = field(default_factory=list)
    where: str = ""
    on: str = ""
    join: str = "left join"
    rows: list[tuple[int, ...]] = field(default_factory=list)
    is_distinct: bool = False
    comment: str = ""
    config: str = ""
    # An incremental model's condition under is_incremental().
    hidden: str = "p.a > 0 or true"
    # Whether this model is a snapshot of its parent.
    snapshot: bool = False

    @property
    def columns(self) -> list[str]:
        if self.shape == "base":
            return ["id", *self.items]
        if self.snapshot:
            return self.parents[0].columns
        if self.shape in ("star", "nested"):
            return [*self.parents[0].columns, *self.items]
        if self.shape == "union_star":
            return self.parents[0].columns
        return list(self.items)

    def sql(self) -> str:
        head = f"{{{{ config(materialized='{self.kind}'{self.config}) }}}}\n{self.comment}\n"
        return head + getattr(self, f"_{self.shape}")()

    def _ref(self, at: int = 0) -> str:
        return f"{{{{ ref('{self.parents[at].name}') }}}}"

    def _list(self) -> str:
        return ",\n    ".join(f"{expression} as {name}" for name, expression in self.items.items())

    def _filter(self) -> str:
        return f"\nwhere {self.where}" if self.where else ""

    def _base(self) -> str:
        rows = ", ".join(str(row) for row in self.rows)
        items = ", ".join(f"{expression} as {name}" for name, expression in self.items.items())
        return f"select t.id as id, {items} from values {rows} as t(id, g, a, b, c)"

    def _plain(self) -> str:
        text = f"select {self._list()}\nfrom {self._ref()} as p{self._filter()}"
        if self.kind == "incremental":
            text += f"\n{{% if is_incremental() %}}{'and' if self.where else 'where'} ({self.hidden}){{% endif %}}"
        return text

    def _star(self) -> str:
        more = f",\n    {self._list()}" if self.items else ""
        return f"select *{more}\nfrom {self._ref()} as p{self._filter()}"

    def _join(self) -> str:
        return f"select {self._list()}\nfrom {self._ref()} as p\n{self.join} {self._ref(1)} as q on {self.on}{self._filter()}"

    _self = _join

    def _group(self) -> str:
        keys = ", ".join(str(at + 1) for at, item in enumerate(self.items.values()) if "(" not in item)
        return f"select {self._list()}\nfrom {self._ref()} as p{self._filter()}\ngroup by {keys}"

    _window = _plain

    def _union(self) -> str:
        other = ", ".join(self.others)
        word = "union" if self.is_distinct else "union all"
        return f"select {self._list()}\nfrom {self._ref()} as p{self._filter()}\n{word}\nselect {other} from {self._ref(1)} as q"

    def _union_star(self) -> str:
        word = "union" if self.is_distinct else "union all"
        return f"select * from {self._ref()}\n{word}\nselect * from {self._ref(1)}"

    def _distinct(self) -> str:
        return f"select distinct {self._list()}\nfrom {self._ref()} as p{self._filter()}"

    def _cte(self) -> str:
        ctes = [f"x as (select * from {self._ref()})", f"y as (select q.* from {self._ref(1)} as q)"]
        if self.is_distinct:
            ctes.reverse()
        return (
            f"with {', '.join(ctes)}, z as (select x.* from x{self._filter().replace('p.', 'x.')})\n"
            f"select {self._list()}\nfrom z as p {self.join} y as q on {self.on}"
        )

    def _exists(self) -> str:
        return f"select {self._list()}\nfrom {self._ref()} as p\nwhere {self.where.replace('QREF', self._ref(1))}"

    def _scalar(self) -> str:
        return f"select {self._list().replace('QREF', self._ref(1))}\nfrom {self._ref()} as p"

    def _explode(self) -> str:
        return f"select {self._list()}\nfrom {self._ref()} as p\nlateral view explode(array({self.on})) v as w{self._filter()}"

    def _nested(self) -> str:
        more = f",\n    {self._list()}" if self.items else ""
        return f"select p.*{more}\nfrom (select * from {self._ref()}) as p{self._filter()}"


@dataclass
class Project:
    models: list[Model]
    scale: int = 1
    edit: str = ""

    def files(self, prefix: str) -> dict[str, str]:
        found = {f"{prefix}/{model.name}.sql": model.sql() for model in self.models if not model.snapshot}
        for model in self.models:
            if model.snapshot:
                found[f"{prefix}/{model.name}.yml"] = (
                    f"snapshots: [{{name: {model.name}, relation: \"ref('{model.parents[0].name}')\", "
                    "config: {unique_key: id, strategy: check, check_cols: all}}]"
                )
        return found


def project(random: Random, prefix: str, size: int) -> Project:
    """A project of two base models, which select constants, and at least `size` models that read them."""
    models: list[Model] = []
    for at in range(2):
        rows = [(row, random.randrange(3), *(random.randrange(-5, 20) for _ in range(3))) for row in range(5)]
        items = {name: name for name in "gabc"}
        models.append(Model(f"{prefix}_base{at}", "base", ("view", "table")[at], rows=rows, items=items))
    for at in range(size):
        models.append(_model(random, f"{prefix}_m{at}", models))
    if random.random() < 0.5:
        parent = random.choice(models[:2])
        items = {"id": "p.id"} | {f"u{at}": _expression(random, parent.columns, "p") for at in range(2)}
        config = ", primary_key='id', bucket=1"
        made = Model(f"{prefix}_inc", "plain", "incremental", [parent], items, config=config)
        made.where = _condition(random, parent.columns, "p") if random.random() < 0.5 else ""
        models.append(made)
        reader = Model(f"{prefix}_of_inc", "plain", "table", [made], {"u": f"p.{random.choice(made.columns)}"})
        models.append(reader)
        if random.random() < 0.5:
            models.append(Model(f"{prefix}_snap", "plain", "snapshot", [random.choice(models[:2])], snapshot=True))
    return Project(models)


def _model(random: Random, name: str, before: list[Model]) -> Model:
    shape = random.choice(SHAPES)
    parents = [random.choice(before[-4:]), random.choice(before)]
    if shape == "self":
        parents[1] = parents[0]
    if shape == "union_star":
        fit = [(one, two) for one in before for two in before if len(one.columns) == len(two.columns)]
        parents = list(random.choice(fit))
    model = Model(name, shape, random.choice(KINDS), parents, is_distinct=random.random() < 0.5)
    columns, others = parents[0].columns, parents[1].columns
    if random.random() < 0.4:
        model.where = _condition(random, columns, "p")
    count = random.randrange(1, 4)
    model.items = {f"{name[-2:]}{at}": _item(random, model, at) for at in range(count)}
    model.join = random.choice(("left join", "join", "full join"))
    if shape in ("join", "self", "cte"):
        model.on = f"p.{random.choice(columns)} = q.{random.choice(others)}"
    if shape == "explode":
        model.on = f"p.{random.choice(columns)}, p.{random.choice(columns)}"
    if shape == "union":
        model.others = [_expression(random, others, "q") for _ in model.items]
    if shape == "exists":
        inner = f"select 1 from QREF as q where q.{random.choice(others)} > p.{random.choice(columns)}"
        model.where = random.choice(
            (f"exists ({inner})", f"p.{random.choice(columns)} in (select q.{random.choice(others)} from QREF as q)")
        )
    if shape == "group":
        model.items = {f"{name[-2:]}k": f"p.{random.choice(columns)}"} | model.items
    return model


def _item(random: Random, model: Model, at: int) -> str:
    columns, others = model.parents[0].columns, model.parents[1].columns
    of = random.choice(columns)
    if model.shape == "group":
        return random.choice((f"cast(sum(p.{of}) as int)", "cast(count(*) as int)", f"max(p.{of})"))
    if model.shape == "window":
        over = f"over (partition by p.{random.choice(columns)}"
        order = ", ".join(f"p.{name}" for name in random.sample(columns, len(columns)))
        return random.choice((f"cast(sum(p.{of}) {over}) as int)", f"row_number() {over} order by {order})", f"p.{of}"))
    if model.shape == "scalar" and at == 0:
        return f"(select max(q.{random.choice(others)}) from QREF as q where q.{random.choice(others)} = p.{of})"
    if model.shape == "explode" and at == 0:
        return "w"
    if model.shape in ("join", "self", "cte") and random.random() < 0.5:
        return _expression(random, others, "q")
    return _expression(random, columns, "p")


def _expression(random: Random, columns: list[str], alias: str) -> str:
    one, two = (f"{alias}.{random.choice(columns)}" for _ in range(2))
    number = random.randrange(1, 6)
    return random.choice(
        (
            one,
            one,
            f"{one} + {number}",
            f"coalesce({one}, {two})",
            f"case when {one} > {number} then {two} end",
            f"greatest({one}, {number})",
            f"if({one} is null, {number}, {two})",
            f"{{{{ scaled('{one}') }}}}",
        )
    )


def _condition(random: Random, columns: list[str], alias: str) -> str:
    return f"coalesce({alias}.{random.choice(columns)}, 0) {random.choice(('>', '<', '<>'))} {random.randrange(0, 12)}"


# -- edits -----------------------------------------------------------------------------------------------------------


def edited(random: Random, before: Project) -> Project:
    """A copy of a project after one or two edits, which its attribute `edit` describes."""
    after = deepcopy(before)
    done: list[str] = []
    while len(done) < random.choice((1, 1, 2)):
        name = random.choice(list(EDITS))
        models = [model for model in after.models if not model.snapshot]
        # Mostly edit the first models, which other models read.
        models = models[:3] if random.random() < 0.7 else models
        if what := EDITS[name](random, after, random.choice(models)):
            done.append(f"{name} of {what}")
    after.edit = "; ".join(done)
    return after


def _change_expression(random: Random, _: Project, model: Model) -> str:
    names = [name for name in model.items if name != "id"]
    if not names or model.shape == "union_star":
        return ""
    name = random.choice(names)
    if model.shape == "base":
        model.items[name] = f"{model.items[name]} + 1"
    elif model.shape in ("group", "window", "scalar", "explode"):
        model.items[name] = f"coalesce({model.items[name]}, 7)" if "(" in model.items[name] else model.items[name]
    else:
        model.items[name] = _expression(random, model.parents[0].columns, "p")
    return f"{model.name}.{name}"


def _add_column(random: Random, project: Project, model: Model) -> str:
    if model.shape in ("union", "union_star", "group", "distinct"):
        return ""
    stars = [each for each in project.models if each.shape == "union_star"]
    if stars:
        return ""
    model.items[f"n{len(model.items)}"] = (
        "1" if model.shape == "base" else _expression(random, model.parents[0].columns, "p")
    )
    return model.name


def _change_filter(random: Random, _: Project, model: Model) -> str:
    if model.shape in ("base", "union_star", "exists", "scalar"):
        return ""
    model.where = _condition(random, model.parents[0].columns, "p")
    return model.name


def _reorder_columns(random: Random, _: Project, model: Model) -> str:
    if len(model.items) < 2 or model.shape in ("union", "group"):
        return ""
    names = list(model.items)
    random.shuffle(names)
    model.items = {name: model.items[name] for name in names}
    return model.name


def _change_row(random: Random, _: Project, model: Model) -> str:
    if model.shape != "base":
        return ""
    at = random.randrange(len(model.rows))
    model.rows[at] = (*model.rows[at][:-1], 17)
    return model.name


def _change_join(random: Random, _: Project, model: Model) -> str:
    if not model.on or model.shape == "explode":
        return ""
    model.join = random.choice(("left join", "join", "full join"))
    return model.name


def _change_union(random: Random, _: Project, model: Model) -> str:
    if not model.shape.startswith("union") and model.shape != "cte":
        return ""
    # For the shape `cte`, this swaps the order of the CTEs.
    model.is_distinct = not model.is_distinct
    return model.name


def _change_comment(_: Random, __: Project, model: Model) -> str:
    model.comment = "-- a new comment\n{# and a Jinja comment #}\n"
    return model.name


def _change_macro(_: Random, project: Project, __: Model) -> str:
    project.scale += 1
    return "the macro"


def _change_materialization(_: Random, __: Project, model: Model) -> str:
    if model.kind == "incremental" or model.shape == "base":
        return ""
    model.kind = {"table": "view", "view": "table"}[model.kind]
    return model.name


def _change_increment(_: Random, __: Project, model: Model) -> str:
    if model.kind != "incremental":
        return ""
    model.hidden = "p.b > 3 or true"
    return model.name


EDITS: Final[dict[str, Callable[[Random, Project, Model], str]]] = {
    # Three entries, because users make this edit most often.
    "changed expression": _change_expression,
    "changed expression 2": _change_expression,
    "changed expression 3": _change_expression,
    "new column": _add_column,
    "changed filter": _change_filter,
    "changed column order": _reorder_columns,
    "changed row": _change_row,
    "changed join": _change_join,
    "UNION for UNION ALL": _change_union,
    "changed comment": _change_comment,
    "changed macro": _change_macro,
    "changed materialization": _change_materialization,
    "changed condition under is_incremental()": _change_increment,
}
