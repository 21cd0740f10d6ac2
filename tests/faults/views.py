"""The third project whose runs are killed: materialized views over changing tables, and views over those views.

Each view is refreshed incrementally or in full; Python functions compute the rows that its query should return. See
lakehouse.py for the first project.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from faults import house
from faults.house import Command, Point, Row, State, at

SCHEMA = "views"
IDS = 120
CUSTOMERS = 9

MODELS = {
    # Every third change of a row is a delete; its next change, three steps later, inserts it again.
    "orders": """{{ config(materialized='incremental', primary_key='id', bucket=2, rowkind_field='kind') }}
select id, cast(id % <customers> as int) as customer, {{ var('step') }} as amount,
    {% if is_incremental() %} if((id + {{ var('step') }}) % 9 = 0, '-D', '+I') {% else %} '+I' {% endif %} as kind
from range(<ids>)
{% if is_incremental() %} where (id + {{ var('step') }}) % 3 = 0 {% endif %}""",
    "customers": """{{ config(materialized='incremental', primary_key='customer', bucket=1) }}
select cast(id as int) as customer, concat('n', (id + {{ var('step') }}) % 4) as name from range(<customers>)
{% if is_incremental() %} where (id + {{ var('step') }}) % 3 = 0 {% endif %}""",
    "star": """{{ config(materialized='materialized_view', refresh_mode='incremental') }}
select o.id, o.amount, c.name from {{ ref('orders') }} o left join {{ ref('customers') }} c on o.customer = c.customer""",
    "totals": """{{ config(materialized='materialized_view', refresh_mode='incremental', primary_key='customer') }}
select customer, sum(amount) as total, count(*) as n from {{ ref('orders') }} where amount > 1 or id % 2 = 0
group by customer having count(*) > 3""",
    # This view has no key, so one overwrite replaces the changed groups.
    "by_name": """{{ config(materialized='materialized_view', refresh_mode='incremental') }}
select name, sum(amount) as total from {{ ref('star') }} group by name""",
    "branches": """{{ config(materialized='materialized_view', refresh_mode='incremental') }}
select id, 'low' as kind from {{ ref('orders') }} where customer < 4
union all
select id, 'high' as kind from {{ ref('orders') }} where customer >= 4""",
    "whole": """{{ config(materialized='materialized_view', refresh_mode='full') }}
select distinct name from {{ ref('star') }}""",
}


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write the project, its profile and an empty warehouse to a folder."""
    models = {
        f"{name}.sql": sql.replace("<ids>", str(IDS)).replace("<customers>", str(CUSTOMERS))
        for name, sql in MODELS.items()
    }
    house.write_project(folder, SCHEMA, {"here": target}, models)


def write_step(folder: Path, step: int) -> None:
    """Nothing to write: the models get the step only as a variable."""


def variables(step: int, times: Mapping[str, int]) -> dict[str, Any]:
    """The variables of a run."""
    return {"step": step}


COMMANDS = {"build": Command(lambda step, times: ("build",))}


def _orders(step: int) -> dict[int, int]:
    rows = dict.fromkeys(range(IDS), 1)
    for past in range(2, step + 1):
        for number in range(IDS):
            if (number + past) % 9 == 0:
                rows.pop(number, None)
            elif (number + past) % 3 == 0:
                rows[number] = past
    return rows


def _names(step: int) -> dict[int, str]:
    names = {}
    for number in range(CUSTOMERS):
        changed = max(past for past in range(1, step + 1) if past == 1 or (number + past) % 3 == 0)
        names[number] = f"n{(number + changed) % 4}"
    return names


def _star(step: int) -> list[tuple[int, int, str]]:
    names = _names(step)
    return [(number, amount, names[number % CUSTOMERS]) for number, amount in _orders(step).items()]


def _totals(step: int) -> Iterable[Row]:
    amounts = defaultdict(list)
    for number, amount in _orders(step).items():
        if amount > 1 or number % 2 == 0:
            amounts[number % CUSTOMERS].append(amount)
    return ((customer, sum(found), len(found)) for customer, found in amounts.items() if len(found) > 3)


def _by_name(step: int) -> Iterable[Row]:
    totals: dict[str, int] = defaultdict(int)
    for _, amount, name in _star(step):
        totals[name] += amount
    return totals.items()


STATES = {
    "orders": State("select id, amount from {s}.orders", lambda step: _orders(step).items()),
    "customers": State("select customer, name from {s}.customers", lambda step: _names(step).items()),
    "star": State("select id, amount, name from {s}.star", _star),
    "totals": State("select customer, total, n from {s}.totals", _totals),
    "by_name": State("select name, total from {s}.by_name", _by_name),
    "branches": State(
        "select id, kind from {s}.branches",
        lambda step: ((number, "low" if number % CUSTOMERS < 4 else "high") for number in _orders(step)),
    ),
    "whole": State("select name from {s}.whole", lambda step: {(name,) for _, _, name in _star(step)}),
}
OTHERS: frozenset[str] = frozenset()
WITHOUT_BRANCHES: frozenset[str] = frozenset()


def _rows_written(view: str) -> list[Point]:
    found: list[Point] = [{"table": view, "rows": True, "when": when} for when in ("after", "before")]
    return [*found, *({"table": view, "rows": True, "when": "during", "delay": delay} for delay in (0.05, 0.3))]


POINTS: list[Point] = [
    *_rows_written("star"),
    *_rows_written("totals"),
    *at("by_name", "insert overwrite"),
    *at("whole", "insert overwrite"),
    *_rows_written("branches"),
    *at("orders", "insert into"),
    *at("customers", "insert into"),
]
