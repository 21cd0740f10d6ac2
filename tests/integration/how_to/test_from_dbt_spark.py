"""docs/how-to/from-dbt-spark.md, step by step, from tables that dbt-spark writes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from functional.how_to.page import Page, run_alone
from integration.services.metastore import Metastore

# Slow, because each step starts a JVM, and the jars of two formats are fetched.
pytestmark = pytest.mark.full

MESSAGES = """
select order_id, status, cast(amount as decimal(10, 2)) as amount, timestamp_micros(at) as updated_at from values
  (1, 'new', 10.00, 100000001), (2, 'new', 20.50, 200000000)
  {% if var('day', 1) == 2 %}, (2, 'paid', 20.50, 900000000), (3, 'new', 30.00, 950000000){% endif %}
  as v (order_id, status, amount, at)
{% if var('day', 1) == 2 %}where at >= 900000000{% endif %}
"""
OLD = {
    "models/order_messages.sql": "{{ config(materialized='view') }}" + MESSAGES,
    "models/orders.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='order_id', file_format=target.name) }}
select * from {{ ref('order_messages') }}
""",
    "snapshots/order_history.sql": """
{% snapshot order_history %}
{{ config(target_schema=target.schema, file_format=target.name, unique_key='order_id', strategy='timestamp',
  updated_at='updated_at') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
""",
}
# The schema of the old project.
SCHEMA = {"iceberg": "shop_in_iceberg", "delta": "shop_in_delta"}
# The settings of Spark's own catalog in each format's documentation.
SPARK = {
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hive",
    },
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
}
PAID = [[1, "new", "10.00"], [2, "paid", "20.50"], [3, "new", "30.00"]]


def _rows(folder: Path, query: str) -> list[list[Any]]:
    """The rows that `dbt show` prints, sorted as text."""
    printed = run_alone(folder, f'dbt --quiet show --output json --limit 20 --inline "{query}"')
    rows = json.loads(printed[printed.index("{") :])["show"]
    return sorted([list(row.values()) for row in rows], key=str)


class TestFromDbtSpark:
    @pytest.fixture(params=["iceberg", "delta"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def page(self, kind: str, hive: Metastore, tmp_path: Path) -> Page:
        """The page, with its profile and its sources for this metastore."""
        page = Page("from-dbt-spark.md", tmp_path / "new", {})
        profile, delta = (yaml.safe_load(text) for text in page.blocks("yaml", "The profile"))
        target = profile["lake"]["outputs"]["dev"]
        if kind == "delta":
            target |= delta
        else:
            target["spark_config"]["spark.sql.catalog.old.uri"] = hive.uri
        target |= {"paimon_version": "0.9.0", "warehouse": str(tmp_path / "lake"), "threads": 1}
        page.target.update(target)
        page.write("The rows")
        (page.folder / "profiles.yml").write_text(yaml.safe_dump(profile))
        (page.folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "shop", "profile": "lake"}))
        (page.folder / "models" / "order_messages.sql").write_text(OLD["models/order_messages.sql"])
        described = yaml.safe_load((page.folder / "models" / "old.yml").read_text())
        (source,) = described["sources"]
        if kind == "delta":
            source |= {"database": "spark_catalog", "schema": "delta"}
            for table in source["tables"]:
                table["identifier"] = f"{hive.warehouse}/{SCHEMA[kind]}.db/{table['name']}"
        else:
            source["schema"] = SCHEMA[kind]
        (page.folder / "models" / "old.yml").write_text(yaml.safe_dump(described))
        return page

    @pytest.fixture
    def old(self, kind: str, hive: Metastore, page: Page, tmp_path: Path) -> Path:
        """The old project, run once."""
        folder = tmp_path / "old"
        settings = SPARK[kind] | {
            "spark.jars.packages": page.target["packages"][0],
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.uris": hive.uri,
            "spark.sql.warehouse.dir": str(hive.warehouse),
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
        }
        target = {"type": "spark", "method": "session", "host": "none", "schema": SCHEMA[kind]}
        profile = {"shop": {"target": kind, "outputs": {kind: target | {"server_side_parameters": settings}}}}
        project = yaml.safe_dump({"name": "shop", "profile": "shop"})
        for name, text in (OLD | {"profiles.yml": yaml.safe_dump(profile), "dbt_project.yml": project}).items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_text(text)
        run_alone(folder, "dbt build")
        return folder

    def test_the_page(self, kind: str, page: Page, old: Path) -> None:
        run_alone(page.folder, "dbt debug")
        (take_over,) = page.commands("The rows")
        run_alone(page.folder, take_over)
        assert _rows(page.folder, "select order_id, status, amount from {{ ref('orders') }}") == [
            [1, "new", 10.0],
            [2, "new", 20.5],
        ]

        # The old project runs again, and its rows are taken over again. A second run of dbt-spark 1.11 fails here on
        # its own Iceberg table ("in another format").
        if kind == "delta":
            run_alone(old, "dbt build --vars 'day: 2'")
        there, here = (shlex.split(compare)[-1] for compare in page.commands("Compare"))
        assert len(_rows(page.folder, there)) == (2 if kind == "delta" else 0)
        run_alone(page.folder, take_over)
        assert _rows(page.folder, there) == []
        assert _rows(page.folder, here) == []

        # After the switch, the new project reads the messages and continues the history.
        run_alone(page.folder, "dbt build --vars 'day: 2'")
        orders = "select order_id, status, cast(amount as string) from {{ ref('orders') }}"
        assert _rows(page.folder, orders) == PAID
        history = "select order_id, status, dbt_valid_to is null from {{ ref('order_history') }}"
        assert _rows(page.folder, history) == [
            [1, "new", True],
            [2, "new", False],
            [2, "paid", True],
            [3, "new", True],
        ]
        assert _rows(page.folder, "select count(distinct dbt_scd_id) from {{ ref('order_history') }}") == [[4]]
