"""The search orders that projects have by default."""

from __future__ import annotations

from types import SimpleNamespace

from dbt.adapters.paimon.dispatch import PACKAGES, add_search_orders


def test_a_projects_own_search_order_stays():
    own = {"macro_namespace": "dbt_utils", "search_order": ["spark_utils", "dbt_utils"]}
    config = SimpleNamespace(project_name="shop", dispatch=[own])
    add_search_orders(config)
    orders = {entry["macro_namespace"]: entry["search_order"] for entry in config.dispatch}
    assert orders.pop("dbt_utils") == ["spark_utils", "dbt_utils"]
    assert orders["elementary"] == ["shop", "dbt", "elementary"]
    assert set(orders) == set(PACKAGES) - {"dbt_utils"}


def test_search_orders_are_added_once():
    config = SimpleNamespace(project_name="shop", dispatch=[])
    add_search_orders(config)
    before = list(config.dispatch)
    add_search_orders(config)
    assert config.dispatch == before
