"""The rows of the project of docs/tools/README.md after a build."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from integration.tools.environments import Environment

_QUERY: Final = """
select 'orders' as model, cast(order_id as string) as key, amount from {{ ref('orders') }}
union all select 'revenue', customer, amount from {{ ref('revenue') }}
union all select 'large_orders', cast(order_id as string), amount from {{ ref('large_orders') }}
"""
_BUILT: Final = {
    ("orders", "1", 10),
    ("orders", "2", 20),
    ("orders", "3", 30),
    ("revenue", "ada", 40),
    ("revenue", "bob", 20),
    ("large_orders", "2", 20),
    ("large_orders", "3", 30),
}


def assert_built(environment: Environment, project: Path) -> None:
    """Read the tables with a separate dbt, and compare their rows.

    Raises:
        AssertionError: rows are missing or wrong.
    """
    rows = environment.rows(_QUERY, project)
    assert sorted((row["model"], row["key"], row["amount"]) for row in rows) == sorted(_BUILT)
