"""The cost of refreshing a materialized view after changes, compared with a full refresh and a model by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.contestants import Worker, named
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, means
from benchmarks.options import Options
from benchmarks.report import Report

_SOURCE = """{%- set paimon = target.type == 'paimon' -%}
{%- set own = {'primary_key': 'id', 'incremental_strategy': 'upsert', 'bucket': 2} if paimon else var('config') -%}
{{ config(materialized='incremental', **own) }}
"""
# A change rewrites `rows` rows: every `step`-th one, starting at `first`.
_FACTS = (
    _SOURCE
    + """{%- set base, version = var('base', 1), var('version', 0) -%}
{%- if is_incremental() -%}
{%- set id = '(id * ' ~ var('step', 1) ~ ' + ' ~ var('first', 0) ~ ') % ' ~ base -%}
{%- set rows = var('rows', 0) -%}
{%- else -%}
{%- set id, rows = 'id', base -%}
{%- endif -%}
select
    id,
    cast(id % 2400 as int) as route,
    cast(id % 1000 as int) as carrier,
    cast(pmod(hash(id), 100000) as int) as customer,
    cast(pmod(hash(id), 1200000) as int) as plane,
    date_add(date'2023-01-01', cast(id % 730 as int)) as day,
    cast(id % 997 + {{ version }} as int) as amount,
    {{ version }} as version
from (select {{ id }} as id from range({{ rows }}))
"""
)
_STAR_COLUMNS = "f.id, f.route, f.day, f.amount, f.version, c.name as carrier, u.name as customer, u.part as city"
_STAR = f"""select {_STAR_COLUMNS}
from {{{{ ref('facts') }}}} as f
inner join {{{{ ref('carriers') }}}} as c on c.id = f.carrier
left join {{{{ ref('customers') }}}} as u on u.id = f.customer
"""
_SUMS = "count(*) as flights, sum(amount) as amount, max(version) as version"
_GROUPS: Final = {
    "groups": f"select route, {_SUMS} from {{{{ ref('facts') }}}} group by route",
    "planes": f"select plane, {_SUMS} from {{{{ ref('facts') }}}} group by plane",
    "cities": f"""select u.part as city, {_SUMS.replace("version", "f.version", 1)}
from {{{{ ref('facts') }}}} as f left join {{{{ ref('customers') }}}} as u on u.id = f.customer group by u.part""",
}
_KEYS: Final = {"planes": "plane"}
# The same star by hand: the facts that have changed, and those whose dimension rows have changed.
_FACT_COLUMNS = "id, route, carrier, customer, day, amount, version"
_BY_HAND = f"""{{{{ config(materialized='incremental', primary_key='id', incremental_strategy='upsert') }}}}
with changed_facts as (
    select {_FACT_COLUMNS} from {{{{ paimon_changes(ref('facts')) }}}}
),
changed_carriers as (
    select id from {{{{ paimon_changes(ref('carriers')) }}}}
),
changed_customers as (
    select id from {{{{ paimon_changes(ref('customers')) }}}}
),
facts as (
    select * from changed_facts
{{%- if is_incremental() %}}
    union
    select {_FACT_COLUMNS} from {{{{ ref('facts') }}}}
    where carrier in (select id from changed_carriers) or customer in (select id from changed_customers)
{{%- endif %}}
)
{_STAR.replace("{{ ref('facts') }}", "facts")}"""
# As users of dbt-spark write it: the rows with a later version than any in the table.
_SPARK = (
    "{{ config(materialized='incremental', **var('config')) }}\n"
    + _STAR
    + "{% if is_incremental() %}where f.version > (select max(version) from {{ this }}){% endif %}\n"
)


@dataclass(frozen=True)
class Change:
    """A change before a refresh: the variables of the source models, and the models that run."""

    name: str
    variables: Mapping[str, int]
    models: tuple[str, ...] = ("facts",)


def _dimension(name: str, parts: int, rows: int) -> str:
    """A table with a key; an increment changes its first ten rows."""
    return f"""{_SOURCE}select cast(id as int) as id, concat('{name} ', id, ' ', {{{{ var('dimension', 0) }}}}) as name,
    cast(id % {parts} as int) as part, {{{{ var('version', 0) }}}} as version
from range({{{{ 10 if is_incremental() else {rows} }}}})
"""


def _view(sql: str, **config: Any) -> str:
    shown = ", ".join(f"{key}={value!r}" for key, value in {"materialized": "materialized_view", **config}.items())
    return f"{{{{ config({shown}) }}}}\n{sql}\n"


def _models() -> dict[str, str]:
    models = {
        "facts": _FACTS,
        "carriers": _dimension("carrier", 50, 1_000),
        "customers": _dimension("customer", 5_000, 100_000),
        "star": _view(_STAR),
        "star_full": _view(_STAR, refresh_mode="full"),
        "star_by_hand": _BY_HAND,
    }
    for name, sql in _GROUPS.items():
        key = {"primary_key": _KEYS[name]} if name in _KEYS else {}
        models[name] = _view(sql, **key)
        models[f"{name}_full"] = _view(sql, refresh_mode="full", **key)
    return {f"models/{name}.sql": text for name, text in models.items()}


def _changes(base: int) -> Iterator[Change]:
    for share in (0.05, 0.5, 5, 25):
        rows = int(base * share / 100)
        yield Change(f"{share} % of the rows", {"rows": rows, "step": 7 * (base // rows // 7) + 1, "first": 3})
    yield Change("ten rows of the small dimension", {"dimension": 1}, ("carriers",))
    yield Change("ten rows of the large dimension", {"dimension": 1}, ("customers",))
    for groups in (10, 200):
        # One row of each of the first routes.
        yield Change(f"a row of each of {groups} routes", {"rows": groups, "step": 1, "first": 2400 * 5})


def run(options: Options) -> list[Report]:
    """One report: each view after each change."""
    base = 200_000 if options.quick else 4_000_000
    project = write_project(options.scratch / "views", _models())
    spark = write_project(
        options.scratch / "views-spark",
        {
            "models/facts.sql": _FACTS,
            "models/carriers.sql": _models()["models/carriers.sql"],
            "models/customers.sql": _models()["models/customers.sql"],
            "models/star.sql": _SPARK,
            "models/star_full.sql": "{{ config(materialized='table', file_format='iceberg') }}\n" + _STAR,
        },
    )
    rows: list[list[Any]] = []
    with started(named("Paimon, upsert"), project, options.scratch / "views-run") as workers:
        rows += _course(options, next(iter(workers.values())), base, "")
    with started(named("Iceberg, copy-on-write"), spark, options.scratch / "views-spark-run") as workers:
        rows += _course(options, next(iter(workers.values())), base, "Iceberg, ")
    return [
        Report(
            "views",
            f"Refreshes over {base:,} rows, joined with tables of 1,000 and 100,000",
            ["view", "change", "wall s", "CPU s", "full: CPU s", "CPU: share of full", "refresh"],
            rows,
            ["CPU: share of full"],
            [
                "`star` joins both tables; `groups` has 2,400 groups, `planes` 1.2 M with a stated key.",
                "`cities` groups by a joined column.",
                "`star_by_hand` is an incremental model with `paimon_changes`; it has no deletes.",
                "`ten in a row`: the mean of ten refreshes after 0.05 % of the rows each, with their compactions.",
                "Each view is compared with a view of the same query and refresh_mode='full' after each change.",
            ],
            {"base": base},
        )
    ]


def _course(options: Options, worker: Worker, base: int, prefix: str) -> list[list[Any]]:
    """The rows of the report for one contestant."""
    ours = not prefix
    views = ("star", "star_by_hand", *_GROUPS) if ours else ("star",)
    options.say(f"{worker.contestant.name}: {base:,} rows")
    # Smaller runs of the same models warm the JVM. Otherwise its compiler would take most of the time.
    worker.dbt("run", variables={"base": base // 50})
    for number in range(10):
        small = {"base": base // 50, "rows": 100, "step": 7, "first": number, "version": number + 1}
        worker.dbt("run", "--select", "facts", *views, variables=small)
    worker.dbt("run", "--full-refresh", variables={"base": base})
    rows, version = [], 0

    def change(one: Change) -> None:
        nonlocal version
        version += 1
        worker.dbt("run", "--select", *one.models, variables={"base": base, "version": version, **one.variables})

    def refreshed(name: str) -> Spent:
        return Spent(**worker.dbt("run", "--select", name, variables={"base": base})["nodes"][name])

    for one in _changes(base):
        if not ours and "facts" not in one.models:
            continue
        change(one)
        full: dict[str, Spent] = {}
        for name in views:
            whole = f"{name}_full" if name in ("star", *_GROUPS) else "star_full"
            spent = refreshed(name)
            if whole not in full:
                full[whole] = refreshed(whole)
            rows.append([prefix + name, one.name, spent.wall, spent.cpu, full[whole].cpu, spent.cpu / full[whole].cpu])
            options.say(" ".join(str(part) for part in rows[-1]))
        for name in ("star", *_GROUPS) if ours else ():
            _require_equal(worker, name)
    small = next(_changes(base))
    spent: dict[str, list[Spent]] = {name: [] for name in views}
    for number in range(10):
        change(Change("", {**small.variables, "first": 11 * number}))
        for name in views:
            spent[name].append(refreshed(name))
    for name, found in spent.items():
        whole = next(row[4] for row in rows if row[0] == prefix + name)
        rows.append(
            [
                prefix + name,
                "ten in a row, mean",
                means(found).wall,
                means(found).cpu,
                whole,
                means(found).cpu / whole,
            ]
        )
    return rows


def _require_equal(worker: Worker, name: str) -> None:
    """Fail if the rows of a view and of its fully refreshed twin differ."""
    for one, other in ((name, f"{name}_full"), (f"{name}_full", name)):
        found, _ = worker.sql(
            f"select count(*) from (select * from bench.{one} except all select * from bench.{other})"
        )
        if found != [["0"]]:
            raise RuntimeError(f"{one} has {found[0][0]} rows that {other} lacks")
