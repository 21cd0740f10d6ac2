"""Dagster materializes a project, and stores row counts and column types: docs/tools/dagster.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tools import pages
from integration.tools.environments import Environment
from integration.tools.shop import assert_built

pytestmark = pytest.mark.full

# Prints the metadata that Dagster keeps for each asset.
KEPT = """
import json
from dagster import AssetKey, DagsterInstance
kept = {}
with DagsterInstance.get() as instance:
    for name in ("orders", "revenue", "large_orders"):
        metadata = instance.get_latest_materialization_event(AssetKey([name])).asset_materialization.metadata
        columns = {column.name: column.type for column in metadata["dagster/column_schema"].value.columns}
        kept[name] = [metadata["dagster/row_count"].value, columns]
print(json.dumps(kept))
"""


def test_assets(installed: Callable[[str, str], Environment], shop: Path, ran_with: Callable[..., None]) -> None:
    install, parse, materialize = pages.commands("dagster.md")
    environment = installed("dagster", install)
    pages.write(shop, "dagster.md")
    home = shop / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    environment.run(parse, shop)
    environment.run(materialize, shop, DAGSTER_HOME=str(home))
    (shop / "kept.py").write_text(KEPT)
    kept = json.loads(environment.run("python kept.py", shop, DAGSTER_HOME=str(home)))
    assert kept == {
        "orders": [3, {"order_id": "int", "customer": "string", "ordered_on": "date", "amount": "int"}],
        "revenue": [2, {"customer": "string", "amount": "bigint"}],
        "large_orders": [2, {"order_id": "int", "amount": "int"}],
    }
    assert_built(environment, shop)
    ran_with("dagster", environment, "dagster-dbt", "dagster", "dbt-core")
